import { useQuery } from '@tanstack/react-query'
import type { RecordingKind, RecordingRule } from '../../../contract/entities/recording.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { formatTime } from '../../lib/times.ts'
import { HintTag } from '../view/status-tag.tsx'
import { tagTexts } from './tag-texts.ts'

const everyMs = 60_000

/** The rule that records the calls of a user or channel; for admins. */
export function useRecordingRule(kind: RecordingKind, target: number): RecordingRule | undefined {
  const rules = useQuery({ ...read('GET /api/recording/rules'), staleTime: everyMs })
  return rules.data?.find((rule) => rule.kind === kind && rule.target === target)
}

/** When the recording of the calls of an own token ends; 0 where they are not recorded. */
export function useRecordedUntil(tokenId: number): number {
  const own = useQuery({ ...read('GET /api/recording/self'), staleTime: everyMs })
  return own.data?.tokens.find(({ id }) => id === tokenId)?.until ?? 0
}

/** Shows that calls of a row are recorded. */
function RecordedTag({ until, share = 1000 }: { until: number; share?: number }) {
  const say = useText(tagTexts)
  const time = formatTime(until)
  return (
    <HintTag color="red" dot hint={share < 1000 ? say('recordedShare', { share, time }) : say('recordedUntil', { time })}>
      {say('recorded')}
    </HintTag>
  )
}

export function RuleTag({ kind, target }: { kind: RecordingKind; target: number }) {
  const rule = useRecordingRule(kind, target)
  return rule ? <RecordedTag until={rule.until} share={rule.per_mille} /> : null
}

export function OwnTokenTag({ id }: { id: number }) {
  const until = useRecordedUntil(id)
  return until > 0 ? <RecordedTag until={until} /> : null
}
