import { seconds } from '../../base/lib/time/clock.ts'
import { type CallSums, fiveMinutes, readPoints, readSumsByKey, successShare } from '../../usage/calls/call-sums.ts'
import { hourSeconds } from '../../usage/sums/hours.ts'
import type { App } from '../parts.ts'
import type { Measured, PastMeasured } from './measures.ts'
import type { Asked, RuleSource } from './rule-source.ts'

type Side = 'channel' | 'model' | 'site'

/** Reads a measure from sums; undefined when there are fewer calls than `least`. */
type Read = (sums: CallSums, least: number) => number | undefined

const minuteSeconds = 60

/**
 * The percentage of answered calls among the answered ones and those that failed by a fault of the site, its channels or their
 * upstreams.
 */
export const successOf: Read = (sums, least) => {
  const share = sums.answered + sums.failed < least ? undefined : successShare(sums)
  return share === undefined ? undefined : share * 100
}

/** The 95th percentile of the durations of answered calls, in seconds. */
export const p95Of: Read = ({ durations }, least) => {
  const ms = durations.count < least ? undefined : durations.percentile(0.95)
  return ms === undefined ? undefined : ms / 1000
}

/** A measure of the statistics of calls: over the last minutes, and by the hour for the preview. */
export function callRule(side: Side, read: Read): RuleSource {
  return {
    async measure(app, { params }) {
      const now = seconds(app.now())
      const { window = 15, least = 20 } = params
      const span = Math.ceil((window * minuteSeconds) / fiveMinutes) * fiveMinutes
      const end = Math.ceil((now + 1) / fiveMinutes) * fiveMinutes
      const sums = await readSumsByKey(app.db, { side, from: end - span, to: end })
      const names = await namesOf(app, side)
      return [...sums].flatMap(([key, one]) => measuredOf(side, { key, value: read(one, least), names }))
    },
    async past(app, { params, from, to }: Asked & { from: number; to: number }): Promise<PastMeasured[]> {
      const points = await readPoints(app.db, { seconds: hourSeconds, side, from: from - (from % hourSeconds), to: to + 1 })
      const names = await namesOf(app, side)
      return points.flatMap(({ key, at, sums }) =>
        measuredOf(side, { key, value: read(sums, params.least ?? 20), names }).map((one) => ({
          ...one,
          from: at,
          to: at + hourSeconds,
        })),
      )
    },
  }
}

function measuredOf(
  side: Side,
  { key, value, names }: { key: string; value: number | undefined; names: ReadonlyMap<string, string> },
): Measured[] {
  if (value === undefined) return []
  const subject = side === 'site' ? 'site' : `${side}:${key}`
  return [{ subject, name: names.get(key) ?? (side === 'model' ? key : side === 'site' ? '' : `#${key}`), value }]
}

async function namesOf({ db }: App, side: Side): Promise<Map<string, string>> {
  if (side !== 'channel') return new Map()
  const rows = await db.selectFrom('channels').select(['id', 'name']).execute()
  return new Map(rows.map(({ id, name }) => [String(id), `${name} (#${id})`]))
}
