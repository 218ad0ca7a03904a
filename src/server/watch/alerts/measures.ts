import { sql } from 'kysely'
import { type AlertRuleId, alertRuleText } from '../../../contract/entities/alert.ts'
import type { Text } from '../../../contract/text.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { hourSeconds } from '../../usage/sums/hours.ts'

/** A measured value of a subject: a channel, a node or the site. */
export interface Measured {
  /** For example `channel:5`, `node:…`, `site`. */
  readonly subject: string
  readonly name: string
  readonly value: number
  /** More about it. */
  readonly note?: Text
}

/** A value that was measured for a period, in unix seconds. */
export interface PastMeasured extends Measured {
  readonly from: number
  readonly to: number
}

const keptSeconds = 8 * 86_400

/**
 * Stores values for rules whose history is stored nowhere else: the newest value, and the value of each hour that came closest to
 * firing.
 */
export async function noteMeasures(
  { db, now: nowMs }: Core,
  rule: AlertRuleId,
  measured: readonly Measured[],
  node = '',
): Promise<void> {
  if (measured.length === 0) return
  const now = seconds(nowMs())
  const rows = measured.map(({ subject, name, value }) => ({
    rule,
    subject,
    node,
    hour: now - (now % hourSeconds),
    name,
    worst: value,
    last: value,
    measured_at: now,
  }))
  const isWorse = alertRuleText(rule).fires === 'above' ? sql.raw('>') : sql.raw('<')
  await db
    .insertInto('alert_measures')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['rule', 'subject', 'node', 'hour']).doUpdateSet((row) => ({
        name: row.ref('excluded.name'),
        last: row.ref('excluded.last'),
        measured_at: row.ref('excluded.measured_at'),
        worst: sql<number>`case when excluded.worst ${isWorse} alert_measures.worst then excluded.worst else alert_measures.worst end`,
      })),
    )
    .execute()
}

/** The newest value of each subject that is not older than this; of several nodes the value that is closest to firing. */
export async function latestMeasures({ db, now }: Core, rule: AlertRuleId, withinSeconds: number): Promise<Measured[]> {
  const since = seconds(now()) - withinSeconds
  const rows = await db
    .selectFrom('alert_measures')
    .select(['subject', 'name', 'last as value'])
    .where('rule', '=', rule)
    .where('hour', '>=', since - hourSeconds)
    .where('measured_at', '>=', since)
    // An older hour of the same subject is overwritten by a newer one below.
    .orderBy('measured_at')
    .select('node')
    .execute()
  const newest = new Map(rows.map((row) => [`${row.subject} ${row.node}`, row]))
  return [...worstOf([...newest.values()], rule).values()].map(({ subject, name, value }) => ({ subject, name, value }))
}

/** The hours of a span with their worst values. */
export async function pastMeasures(
  { db }: Core,
  rule: AlertRuleId,
  { from, to }: { from: number; to: number },
): Promise<PastMeasured[]> {
  const rows = await db
    .selectFrom('alert_measures')
    .select(['subject', 'name', 'worst as value', 'hour'])
    .where('rule', '=', rule)
    .where('hour', '>=', from - hourSeconds)
    .where('hour', '<=', to)
    .orderBy('hour')
    .execute()
  const byHour = worstOf(
    rows.map((row) => ({ ...row, key: `${row.subject} ${row.hour}` })),
    rule,
  )
  return [...byHour.values()].map(({ subject, name, value, hour }) => ({
    subject,
    name,
    value,
    from: hour,
    to: hour + hourSeconds,
  }))
}

export async function purgeMeasures({ db, now }: Core): Promise<void> {
  await db
    .deleteFrom('alert_measures')
    .where('hour', '<', seconds(now()) - keptSeconds)
    .execute()
}

function worstOf<Row extends Measured & { readonly key?: string }>(rows: readonly Row[], rule: AlertRuleId): Map<string, Row> {
  const sign = alertRuleText(rule).fires === 'above' ? 1 : -1
  const worst = new Map<string, Row>()
  for (const row of rows) {
    const key = row.key ?? row.subject
    const before = worst.get(key)
    if (!before || (row.value - before.value) * sign > 0) worst.set(key, row)
  }
  return worst
}
