import { useQuery } from '@tanstack/react-query'
import type { Alert } from '../../contract/entities/alert.ts'
import { read } from './query.ts'
import { useMay } from './session.ts'

const everyMs = 30_000

/** What fires now, the newest first; nothing for those who may not see alerts. */
export function useFiring(): readonly Alert[] {
  const isAdmin = useMay('admin')
  const { data = [] } = useQuery({ ...read('GET /api/alert/rule/'), enabled: isAdmin, refetchInterval: everyMs })
  return data.flatMap(({ firing }) => firing).sort((one, other) => other.fired_at - one.fired_at)
}

/** Seconds before an alert fires in which calls may have led to it. */
const leadSeconds = 900

/** The filters of the log that show the calls behind an alert: those of its channel or model, from shortly before. */
export function logSearchOf({
  subject,
  fired_at: firedAt,
  resolved_at: resolvedAt,
}: Pick<Alert, 'subject' | 'fired_at' | 'resolved_at'>) {
  const [, kind, name = ''] = /^(channel|model):([^/]+)/.exec(subject) ?? []
  return {
    ...(kind === 'channel' && { channel: name }),
    ...(kind === 'model' && { model_name: name }),
    from: firedAt - leadSeconds,
    ...(resolvedAt !== 0 && { to: resolvedAt + leadSeconds }),
  }
}
