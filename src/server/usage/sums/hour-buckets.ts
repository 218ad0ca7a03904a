import { type AliasedSelectQueryBuilder, sql } from 'kysely'
import { logType } from '../../../contract/entities/log.ts'
import type { Queries } from '../../base/db/open.ts'
import { matching, matchingHours, type ResolvedFilter } from '../filter.ts'
import { hourSeconds, type Span, splitByHour } from './hours.ts'
import { countHours, rollupEnd, sumHours } from './rollup.ts'

/**
 * Locates matching rows of the log: the hour buckets of `quota_data` list the hours in which a user has a model, a channel or a
 * group, and `token_hours` the hours of tokens. Indexes of `logs` for them would cost every charge more than they save.
 */

/** An hour with matching rows, and their greatest number. */
export interface HourBucket {
  readonly hour: number
  readonly count: number
}

type UserHours = AliasedSelectQueryBuilder<{ hour: number; charged_user: number }, 'user_hours'>

interface From {
  readonly hour: number
  /** The end of the rollup: hours from here on are not in `token_hours` yet. */
  readonly mark: number
}

/**
 * The first matching hour buckets in this order, at most `limit`. With a token in the filter, hours after the end of the rollup are
 * returned without a check of the token.
 */
export async function hourBuckets(
  db: Queries,
  filter: ResolvedFilter,
  { order, limit }: { order: 'newest' | 'oldest'; limit: number },
): Promise<HourBucket[]> {
  const since = firstHour(filter)
  const direction = order === 'newest' ? 'desc' : 'asc'
  const failed = filter.type
    ? []
    : await failedCalls(db, { ...filter, start_timestamp: since })
        .select([hourOfLog.as('hour'), ({ fn }) => fn.countAll<number>().as('count')])
        .groupBy(hourOfLog)
        .orderBy(hourOfLog, direction)
        .limit(limit)
        .execute()
  const merged = (charged: readonly HourBucket[]) => {
    if (failed.length === 0) return [...charged]
    const sorted = [...charged, ...failed].sort((one, other) => one.hour - other.hour)
    return (order === 'newest' ? sorted.reverse() : sorted).slice(0, limit)
  }
  if (!filter.token_name) {
    const charged = bucketHours(db, { ...filter, start_timestamp: since })
      .select('quota_data.count')
      .orderBy('quota_data.created_at', direction)
      .limit(limit)
    return merged(await charged.execute())
  }
  const behindRollup = await bucketHours(db, { ...filter, start_timestamp: Math.max(since, await rollupEnd(db)) })
    .select(({ fn }) => fn.sum<number>('quota_data.count').as('count'))
    .groupBy('quota_data.created_at')
    .orderBy('quota_data.created_at', direction)
    .execute()
  const rolledUp = await tokenHours(db, { ...filter, start_timestamp: since })
    .select(['hour', 'count'])
    .orderBy('hour', direction)
    .limit(limit)
    .execute()
  return merged(order === 'newest' ? [...behindRollup, ...rolledUp] : [...rolledUp, ...behindRollup])
}

/** An hour is represented by its first second. */
const hourOfLog = sql<number>`logs.created_at - logs.created_at % ${sql.lit(hourSeconds)}`

/** Rows of failed calls: their index holds every column that they are filtered by. */
function failedCalls(db: Queries, filter: ResolvedFilter) {
  return db.selectFrom('logs').where(matching({ ...filter, type: logType.error }))
}

/** Every hour with matching rows, newest first. */
export async function hoursWithMatches(db: Queries, filter: ResolvedFilter): Promise<number[]> {
  const since = { ...filter, start_timestamp: firstHour(filter) }
  const { token_name, type } = filter
  const mark = token_name ? await rollupEnd(db) : 0
  const charged = bucketHours(db, { ...since, start_timestamp: Math.max(since.start_timestamp, mark) })
  const rolledUp = token_name ? [tokenHours(db, since).select('hour')] : []
  const failed = type ? [] : [failedCalls(db, since).select(hourOfLog.as('hour'))]
  const hours = new Set<number>()
  for (const found of [charged, ...rolledUp, ...failed]) for (const { hour } of await found.distinct().execute()) hours.add(hour)
  return [...hours].sort((one, other) => other - one)
}

/** Each pair of hour and user with matching rows from an hour on, once. */
export function userHoursSince(db: Queries, filter: ResolvedFilter, { hour, mark }: From): UserHours {
  const rolled = (start: number) =>
    db
      .selectFrom('quota_data')
      .select(['quota_data.created_at as hour', 'quota_data.user_id as charged_user'])
      .distinct()
      .where(matchingHours({ ...filter, start_timestamp: start }))
  const charged = filter.token_name
    ? tokenHours(db, { ...filter, start_timestamp: hour })
        .select(['hour', 'user_id as charged_user'])
        .unionAll(rolled(Math.max(hour, mark)))
    : rolled(hour)
  if (filter.type) return charged.as('user_hours')
  const failed = failedCalls(db, { ...filter, start_timestamp: hour }).select([
    hourOfLog.as('hour'),
    'logs.user_id as charged_user',
  ])
  // Each hour once, even when both exist.
  return db.selectFrom(charged.as('charged')).selectAll().union(failed).as('user_hours')
}

/** The first hour of a filter's time range. */
export function firstHour({ start_timestamp: start = 0 }: ResolvedFilter): number {
  return start - (start % hourSeconds)
}

/**
 * The sum of the matching charges in hour buckets, and the spans whose rows must be read. Undefined when the rows are needed:
 * tokens are not rolled up by model.
 */
export async function sumWithoutRows(
  db: Queries,
  filter: ResolvedFilter,
): Promise<{ sum: { quota: number; count: number }; left: readonly Span[] } | undefined> {
  if (filter.request_id || filter.site_cost) return undefined
  const { start_timestamp: start = 0, end_timestamp: end = 0 } = filter
  const { whole, edges } = splitByHour(start, end)
  if (!whole) return { sum: { quota: 0, count: 0 }, left: edges }
  if (!filter.token_name) return { sum: await sumHours(db, { ...filter, ...limits(whole) }), left: edges }

  if (filter.models || filter.channel || filter.group) return undefined
  const mark = await rollupEnd(db)
  const behindRollup = mark <= whole.to ? [{ from: Math.max(mark, whole.from), to: whole.to }] : []
  const sum = await tokenHours(db, { ...filter, ...limits(whole) })
    .select(({ fn, lit }) => [
      fn.coalesce(fn.sum<number>('quota'), lit(0)).as('quota'),
      fn.coalesce(fn.sum<number>('count'), lit(0)).as('count'),
    ])
    .executeTakeFirstOrThrow()
  return { sum, left: [...edges, ...behindRollup] }
}

/**
 * The number of matching charges of each hour, and the time from which on they must be counted over rows. Undefined when all must be.
 * Hours that are partly in the span are counted completely.
 */
export async function countsByHour(
  db: Queries,
  filter: ResolvedFilter,
): Promise<{ counts: Map<number, number>; rowsFrom: number } | undefined> {
  if (filter.request_id || filter.site_cost || filter.tokenId || filter.tokenIds) return undefined
  const whole = { ...filter, start_timestamp: firstHour(filter) }
  if (!filter.token_name) return { counts: await countHours(db, whole), rowsFrom: Number.MAX_SAFE_INTEGER }

  if (filter.models || filter.channel || filter.group) return undefined
  const rows = await tokenHours(db, whole)
    .select('hour')
    .select(({ fn }) => fn.sum<number>('count').as('count'))
    .groupBy('hour')
    .execute()
  return { counts: new Map(rows.map(({ hour, count }) => [hour, count])), rowsFrom: await rollupEnd(db) }
}

function limits({ from, to }: Span): Pick<ResolvedFilter, 'start_timestamp' | 'end_timestamp'> {
  return { start_timestamp: from, end_timestamp: to }
}

function bucketHours(db: Queries, filter: ResolvedFilter) {
  return db.selectFrom('quota_data').select('quota_data.created_at as hour').where(matchingHours(filter))
}

function tokenHours(
  db: Queries,
  { token_name: name = '', userId, start_timestamp: start = 0, end_timestamp: end = 0 }: ResolvedFilter,
) {
  return db
    .selectFrom('token_hours')
    .where('token_name', '=', name)
    .where('hour', '>=', start)
    .$if(end > 0, (query) => query.where('hour', '<=', end))
    .$if(Boolean(userId), (query) => query.where('user_id', '=', userId ?? 0))
}
