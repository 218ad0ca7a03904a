import { Button, Group, NumberInput, SegmentedControl, Stack } from '@mantine/core'
import { useState } from 'react'
import type { RecordingKind } from '../../../contract/entities/recording.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { formatTime, nowSeconds } from '../../lib/times.ts'
import { Dialog } from '../dialog/dialog.tsx'
import { Notice } from '../page/notice.tsx'
import { useRecordedUntil, useRecordingRule } from './recorded-tag.tsx'
import { texts } from './texts.ts'

const durations = { hour: 3600, day: 86_400, week: 7 * 86_400, month: 30 * 86_400 - 60 } as const
type Duration = keyof typeof durations
const names = Object.keys(durations) as readonly Duration[]

/** Starts or ends the recording of the calls of an own token. */
export function RecordOwnToken({ id, name, onClose }: { id: number; name: string; onClose: () => void }) {
  const say = useText(texts)
  const until = useRecordedUntil(id)
  const write = useWrite('PUT /api/token/:id/recording', {
    invalidates: ['GET /api/recording/self'],
    success: (after) => say(after.tokens.some((token) => token.id === id) ? 'started' : 'stopped'),
    onSuccess: onClose,
  })
  return (
    <Dialog title={say('title', { name })} onClose={onClose}>
      <Terms
        who={say('whoOwn')}
        running={until > 0 ? { until, per_mille: 1000 } : undefined}
        isBusy={write.isPending}
        onSet={(next) => write.mutate({ params: { id }, body: { until: next } })}
      />
    </Dialog>
  )
}

/** The same for a user, a channel or a share of all calls; for super admins. */
export function RecordDialog({
  kind,
  target,
  name,
  onClose,
}: {
  kind: RecordingKind
  target: number
  name: string
  onClose: () => void
}) {
  const say = useText(texts)
  return (
    <Dialog title={say('title', { name })} onClose={onClose}>
      <RuleForm kind={kind} target={target} onDone={onClose} />
    </Dialog>
  )
}

export function RuleForm({ kind, target, onDone }: { kind: RecordingKind; target: number; onDone?: () => void }) {
  const say = useText(texts)
  const rule = useRecordingRule(kind, target)
  const write = useWrite('PUT /api/recording/rules', {
    invalidates: ['GET /api/recording/rules', 'GET /api/recording/self'],
    success: (rules) => say(rules.some((one) => one.kind === kind && one.target === target) ? 'started' : 'stopped'),
    onSuccess: () => onDone?.(),
  })
  return (
    <Terms
      who={say('whoRoot')}
      running={rule}
      share={kind === 'share' ? 10 : 1000}
      isBusy={write.isPending}
      onSet={(until, per_mille) => write.mutate({ body: { kind, target, per_mille, until } })}
    />
  )
}

interface TermsProps {
  readonly who: string
  readonly running: { readonly until: number; readonly per_mille: number } | undefined
  /** Proposed calls per thousand; absent where all are recorded. */
  readonly share?: number
  readonly isBusy: boolean
  /** `until` is 0 to end it. */
  readonly onSet: (until: number, perMille: number) => void
}

function Terms({ who, running, share: proposed, isBusy, onSet }: TermsProps) {
  const say = useText(texts)
  const [duration, setDuration] = useState<Duration>('day')
  const [chosen, setChosen] = useState<number>()
  const perMille = chosen ?? running?.per_mille ?? proposed ?? 1000
  return (
    <Stack gap="md">
      <Notice {...(running ? { kind: 'warn', title: say('running', { time: formatTime(running.until) }) } : {})}>
        {say('what')} {who} {say('kept')}
      </Notice>
      <SegmentedControl
        fullWidth
        aria-label={say('for')}
        value={duration}
        onChange={setDuration}
        data={names.map((value) => ({ value, label: say(value) }))}
      />
      {proposed !== undefined && (
        <NumberInput
          label={say('share')}
          description={say('shareHint')}
          min={1}
          max={1000}
          allowDecimal={false}
          clampBehavior="strict"
          value={perMille}
          onChange={(value) => setChosen(typeof value === 'number' ? value : undefined)}
        />
      )}
      <Group justify="flex-end" gap="sm">
        {running && (
          <Button variant="default" color="red" disabled={isBusy} onClick={() => onSet(0, perMille)}>
            {say('stop')}
          </Button>
        )}
        <Button loading={isBusy} onClick={() => onSet(nowSeconds() + durations[duration], perMille)}>
          {say(running ? 'change' : 'start')}
        </Button>
      </Group>
    </Stack>
  )
}
