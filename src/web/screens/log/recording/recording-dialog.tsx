import { Button, Group, Skeleton, Stack } from '@mantine/core'
import { IconPlayerPlay, IconTerminal2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { CallerSide, OwnRecordedCall, RecordedPieces, UpstreamExchange } from '../../../../contract/entities/recording.ts'
import { formatCount, formatDuration } from '../../../lib/format.ts'
import { handConversation } from '../../../lib/handed-conversation.ts'
import { useText } from '../../../lib/i18n.ts'
import { read } from '../../../lib/query.ts'
import { useServerAddress } from '../../../lib/server-address.ts'
import { useMay } from '../../../lib/session.ts'
import { formatTime } from '../../../lib/times.ts'
import { toast } from '../../../lib/toast.ts'
import { Dialog } from '../../../ui/dialog/dialog.tsx'
import { ErrorView } from '../../../ui/page/error-view.tsx'
import { Notice } from '../../../ui/page/notice.tsx'
import { PageTabs } from '../../../ui/page/page-tabs.tsx'
import { copyText } from '../../../ui/view/copy-text.tsx'
import { againOf } from './again.ts'
import { curlOfRecording } from './curl.ts'
import { ReplyView, RequestView } from './message-view.tsx'
import styles from './recording.module.css'
import { texts } from './texts.ts'
import { CallTiming, ExchangeTiming } from './timing-bar.tsx'

/** The recording of a call: the caller's side, and for super admins every exchange with a channel. */
export function RecordingDialog({ requestId, onClose }: { requestId: string; onClose: () => void }) {
  const say = useText(texts)
  const isRoot = useMay('root')
  const params = { request_id: requestId }
  // Each view by a super admin is a row in the audit log, so the query is not repeated in the background.
  const once = { staleTime: Number.POSITIVE_INFINITY, retry: false, refetchOnWindowFocus: false }
  const whole = useQuery({ ...read('GET /api/recording/call/:request_id', { params }), ...once, enabled: isRoot })
  const own = useQuery({ ...read('GET /api/recording/self/:request_id', { params }), ...once, enabled: !isRoot })
  const shown = isRoot ? whole : own
  return (
    <Dialog title={`${say('title')} ${requestId}`} size={1040} onClose={onClose}>
      {shown.data ? (
        <Recording call={shown.data} upstream={whole.data?.upstream} onClose={onClose} />
      ) : shown.error ? (
        <ErrorView error={shown.error} onRetry={() => void shown.refetch()} />
      ) : (
        <Skeleton height={320} />
      )}
    </Dialog>
  )
}

interface RecordingProps {
  readonly call: OwnRecordedCall
  readonly upstream: readonly UpstreamExchange[] | undefined
  readonly onClose: () => void
}

function Recording({ call, upstream, onClose }: RecordingProps) {
  const say = useText(texts)
  const [tab, setTab] = useState('caller')
  const exchange = upstream?.[Number(tab)]
  return (
    <Stack gap="md">
      <Actions caller={call.caller} onClose={onClose} />
      <CallTiming timing={call.caller.timing} />
      {upstream ? (
        <PageTabs
          value={tab}
          onChange={setTab}
          tabs={[
            { value: 'caller', label: say('caller') },
            ...upstream.map(({ channel }, place) => ({
              value: String(place),
              label: upstream.length > 1 ? say('channelTry', { place: place + 1, channel }) : say('channel', { channel }),
            })),
          ]}
        >
          {exchange ? <ExchangeView exchange={exchange} /> : <CallerView side={call.caller} />}
        </PageTabs>
      ) : (
        <CallerView side={call.caller} />
      )}
      <span className={styles.quiet}>
        {upstream?.length === 0 && `${say('noUpstream')} · `}
        {say('deleted', { time: formatTime(call.expires_at) })}
      </span>
    </Stack>
  )
}

function CallerView({ side: { request, reply, pieces } }: { side: CallerSide }) {
  return (
    <div className={styles.sides}>
      <RequestView request={request} />
      <div>
        <ReplyView reply={reply} />
        <Pieces pieces={pieces} />
      </div>
    </div>
  )
}

function ExchangeView({ exchange }: { exchange: UpstreamExchange }) {
  const say = useText(texts)
  const { request, reply, pieces, failure } = exchange
  return (
    <Stack gap="sm" mt="sm">
      {failure !== '' && <Notice kind="danger">{say('failed', { reason: failure })}</Notice>}
      <ExchangeTiming exchange={exchange} />
      <div className={styles.sides}>
        <RequestView request={request} />
        <div>
          <ReplyView reply={reply} />
          <Pieces pieces={pieces} />
        </div>
      </div>
    </Stack>
  )
}

function Pieces({ pieces }: { pieces: RecordedPieces }) {
  const say = useText(texts)
  if (pieces.count < 2) return null
  const { count, longest_gap_ms: longest, mean_gap_ms: mean } = pieces
  const figures = { count: formatCount(count), longest: formatDuration(longest), mean: formatDuration(mean) }
  return <p className={styles.quiet}>{say('pieces', figures)}</p>
}

function Actions({ caller: { request }, onClose }: { caller: CallerSide; onClose: () => void }) {
  const say = useText(texts)
  const navigate = useNavigate()
  const address = useServerAddress()
  const isWhole = request.body.encoding === 'text' && !request.body.is_cut
  const again = isWhole ? againOf(request.url, request.body.text) : undefined

  function runAgain(): void {
    if (!again) return
    handConversation(again.conversation)
    if (again.leftOut > 0) toast.warn(say('leftOut', { count: again.leftOut }))
    onClose()
    void navigate({ to: '/playground' })
  }

  return (
    <Group gap="sm">
      <Button
        leftSection={<IconPlayerPlay size={16} />}
        disabled={!again}
        title={again ? undefined : say('againNone')}
        onClick={runAgain}
      >
        {say('again')}
      </Button>
      <Button
        variant="default"
        leftSection={<IconTerminal2 size={16} />}
        disabled={!isWhole}
        title={isWhole ? undefined : say('curlNone')}
        onClick={() => void copyText(curlOfRecording(request, address), say('curlCopied'))}
      >
        {say('curl')}
      </Button>
    </Group>
  )
}
