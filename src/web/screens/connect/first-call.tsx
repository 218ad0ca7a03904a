import { Button } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ClientDialect } from '../../../contract/clients/index.ts'
import { logType } from '../../../contract/entities/log.ts'
import { readFactors } from '../../../contract/log-factors.ts'
import { formatCount, formatDuration } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { invalidate, read } from '../../lib/query.ts'
import { rowsOf } from '../../ui/list/listing.ts'
import { Facts } from '../../ui/page/facts.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import styles from './connect.module.css'
import { type FirstReply, sendFirstRequest } from './first-request.ts'
import { texts } from './texts.ts'

/** Sends one request as the client would, and shows its answer and the row that it left in the log. */
export function FirstCall({ dialect, apiKey, model }: { dialect: ClientDialect; apiKey: string; model: string }) {
  const say = useText(texts)
  const client = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const [reply, setReply] = useState<FirstReply>()

  async function send(): Promise<void> {
    setBusy(true)
    setReply(await sendFirstRequest(dialect, { key: apiKey, model, question: say('question') }))
    setBusy(false)
    await invalidate(client, ['GET /api/user/self', 'GET /api/system/first_run'])
  }

  return (
    <Panel
      title={say('call')}
      description={say('callHint')}
      aside={
        <Button leftSection={<IconPlayerPlay size={16} />} loading={isBusy} onClick={() => void send()}>
          {say('send')}
        </Button>
      }
    >
      <div className={styles.result} aria-live="polite">
        {reply?.kind === 'answer' && (
          <>
            <Notice title={say('answered')}>
              <span lang="">{reply.text || say('answerEmpty')}</span>
            </Notice>
            <CallRow requestId={reply.requestId} />
          </>
        )}
        {reply?.kind === 'refused' && (
          <Notice kind="warn" title={say('refused', { status: reply.status })}>
            <span lang="">{reply.message}</span>
          </Notice>
        )}
        {reply?.kind === 'lost' && <Notice kind="warn">{say('lost')}</Notice>}
      </div>
    </Panel>
  )
}

/** The row of the log that a call left. */
function CallRow({ requestId }: { requestId: string }) {
  const say = useText(texts)
  const query = { ...unfiltered, type: logType.consume, p: 1, page_size: 1, request_id: requestId }
  const { data } = useQuery(read('GET /api/log/self', { query }))
  const [row] = rowsOf(data)
  if (!row) return null
  return (
    <div className={styles.row}>
      <Facts
        facts={[
          { label: say('model'), value: row.model_name },
          { label: say('rowTokens'), value: `${formatCount(row.prompt_tokens)} / ${formatCount(row.completion_tokens)}` },
          { label: say('rowCost'), value: <QuotaText units={row.quota} /> },
          { label: say('rowTime'), value: formatDuration(readFactors(row.other).use_time_ms ?? row.use_time * 1000) },
        ]}
      />
      <Link to="/log" search={{ request_id: requestId }}>
        {say('rowLog')}
      </Link>
    </div>
  )
}

const unfiltered = { status: undefined, start_timestamp: undefined, end_timestamp: undefined }
