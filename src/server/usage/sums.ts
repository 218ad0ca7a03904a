import { setImmediate } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { type Grain, grainSeconds, type SumsBy, type UsageSums } from '../../contract/entities/usage-sum.ts'
import type { Queries } from '../db/open.ts'
import type { Core } from '../options/core.ts'
import { spanMaxDays, wholeHours } from './data.ts'
import { type LogFilter, matchingHours, type ResolvedFilter, resolveFilter } from './filter.ts'

export interface SumsAsked {
  readonly filter: LogFilter
  readonly by: SumsBy
  readonly grain: Grain
  /** Minutes east of Greenwich: where days and weeks begin. */
  readonly offsetMinutes: number
}

const columns = { model: 'model_name', user: 'user_id', channel: 'channel_id', group: 'group' } as const
const keysMax = 15
const hoursMaxDays = 31
const daySeconds = 86_400
const others = '*'
/** The first day of 1970 was a Thursday; weeks begin on Mondays. */
const weekShiftSeconds = 3 * 86_400

type Sum = { quota: number; count: number; token_used: number }
type Point = Sum & { at: number; key: string }

/** Charges by time and by one side; the largest keys by themselves, all others together. Throws `data_span_too_long`. */
export async function readSums(core: Core, asked: SumsAsked): Promise<UsageSums> {
  const { filter, by, grain } = asked
  const maxDays = grain === 'hour' ? hoursMaxDays : spanMaxDays.all
  const found = await resolveFilter(core.db, wholeHours(core, filter, maxDays))
  if (!found) return { keys: [], points: [], total: nothing() }

  const rows: Point[] = []
  // Day by day: a long span must not keep others from the one connection that SQLite has.
  for (let from = found.start_timestamp ?? 0; from <= (found.end_timestamp ?? 0); from += daySeconds) {
    const to = Math.min(found.end_timestamp ?? 0, from + daySeconds - 1)
    rows.push(...(await sumsOf(core.db, { ...asked, filter: { ...found, start_timestamp: from, end_timestamp: to } })))
    await setImmediate()
  }
  return fold(rows, (keys) => namesOf(core.db, by, keys))
}

async function sumsOf(db: Queries, asked: Omit<SumsAsked, 'filter'> & { filter: ResolvedFilter }): Promise<Point[]> {
  const column = sql.ref<string | number>(`quota_data.${columns[asked.by]}`)
  const rows = await db
    .selectFrom('quota_data')
    .select([bucketOf(asked).as('at'), column.as('key')])
    .select(({ fn }) => [
      fn.sum<number>('quota').as('quota'),
      fn.sum<number>('count').as('count'),
      fn.sum<number>('token_used').as('token_used'),
    ])
    .where(matchingHours(asked.filter))
    .groupBy([sql`1`, sql`2`])
    .orderBy(sql`1`)
    .execute()
  return rows.map(({ key, ...row }) => ({ ...row, key: String(key) }))
}

/** The beginning of the hour, day or week that an hour lies in, where the asker lives. Written out: PostgreSQL groups by it. */
function bucketOf({ grain, offsetMinutes }: Omit<SumsAsked, 'filter'>): RawBuilder<number> {
  const size = sql.lit(grainSeconds[grain])
  const shift = sql.lit((grain === 'hour' ? 0 : offsetMinutes * 60) + (grain === 'week' ? weekShiftSeconds : 0))
  return sql<number>`(quota_data.created_at + ${shift}) / ${size} * ${size} - ${shift}`
}

async function fold(rows: readonly Point[], readNames: (keys: string[]) => Promise<Map<string, string>>): Promise<UsageSums> {
  const sums = new Map<string, Sum>()
  const total = nothing()
  for (const row of rows) {
    add(total, row)
    add(sums.get(row.key) ?? kept(sums, row.key), row)
  }
  const ordered = [...sums].sort(([, one], [, other]) => other.quota - one.quota || other.count - one.count)
  const shown = ordered.slice(0, ordered.length > keysMax ? keysMax - 1 : keysMax)
  const own = new Set(shown.map(([key]) => key))
  const names = await readNames([...own])
  const keys = shown.map(([key, sum]) => ({ key, name: names.get(key) ?? '', ...sum }))
  if (ordered.length > shown.length) {
    const rest = nothing()
    for (const [, sum] of ordered.slice(shown.length)) add(rest, sum)
    keys.push({ key: others, name: '', ...rest })
  }
  return { keys, points: pointsOf(rows, own), total }
}

/** One point for each key and time; a week or a day comes in slices. */
function pointsOf(rows: readonly Point[], own: ReadonlySet<string>): Point[] {
  const points = new Map<string, Point>()
  for (const row of rows) {
    const key = own.has(row.key) ? row.key : others
    const name = `${row.at}:${key}`
    const point = points.get(name)
    if (point) add(point, row)
    else points.set(name, { ...row, key })
  }
  return [...points.values()]
}

async function namesOf(db: Queries, by: SumsBy, keys: readonly string[]): Promise<Map<string, string>> {
  if (by === 'model' || by === 'group' || keys.length === 0) return new Map(keys.map((key) => [key, key]))
  const ids = keys.map(Number)
  const rows =
    by === 'user'
      ? await db.selectFrom('users').select(['id', 'username as name']).where('id', 'in', ids).execute()
      : await db.selectFrom('channels').select(['id', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, name }) => [String(id), name]))
}

function nothing(): Sum {
  return { quota: 0, count: 0, token_used: 0 }
}

function kept(sums: Map<string, Sum>, key: string): Sum {
  const sum = nothing()
  sums.set(key, sum)
  return sum
}

function add(sum: Sum, { quota, count, token_used }: Sum): void {
  sum.quota += quota
  sum.count += count
  sum.token_used += token_used
}
