import type { AliasedSelectQueryBuilder } from 'kysely'
import type { Queries } from '../db/open.ts'
import { matchingHours, type ResolvedFilter } from './filter.ts'
import { foldedUntil, sumHours } from './folded.ts'
import { hourSeconds, type Span, splitByHour } from './hours.ts'

/**
 * Where in the log there is something to find: the roll-up tells which hours of which users have a model, a channel or a group, and what
 * was folded tells the same of tokens. An index of their own would cost every charge more than they save.
 */

/** An hour in which something matches, and how many rows at most. */
export interface Cell {
  readonly hour: number
  readonly count: number
}

type Payers = AliasedSelectQueryBuilder<{ hour: number; payer: number }, 'cells'>

interface From {
  readonly hour: number
  /** Where the hours begin in which tokens are not noted yet. */
  readonly mark: number
}

/** The first cells in this order, so many at most. Of hours in which tokens are not noted yet, all those of the user. */
export async function cellsInOrder(
  db: Queries,
  filter: ResolvedFilter,
  { order, limit }: { order: 'newest' | 'oldest'; limit: number },
): Promise<Cell[]> {
  const since = firstHour(filter)
  const direction = order === 'newest' ? 'desc' : 'asc'
  if (!filter.token_name) {
    return rolledHours(db, { ...filter, start_timestamp: since })
      .select('quota_data.count')
      .orderBy('quota_data.created_at', direction)
      .limit(limit)
      .execute()
  }
  const unfolded = await rolledHours(db, { ...filter, start_timestamp: Math.max(since, await foldedUntil(db)) })
    .select(({ fn }) => fn.sum<number>('quota_data.count').as('count'))
    .groupBy('quota_data.created_at')
    .orderBy('quota_data.created_at', direction)
    .execute()
  const folded = await tokenHours(db, { ...filter, start_timestamp: since })
    .select(['hour', 'count'])
    .orderBy('hour', direction)
    .limit(limit)
    .execute()
  return order === 'newest' ? [...unfolded, ...folded] : [...folded, ...unfolded]
}

/** Every hour in which something matches, the newest first. */
export async function matchingHoursOf(db: Queries, filter: ResolvedFilter): Promise<number[]> {
  const cells = await cellsInOrder(db, filter, { order: 'newest', limit: Number.MAX_SAFE_INTEGER })
  return [...new Set(cells.map(({ hour }) => hour))]
}

/** Each hour and user of the cells since an hour, once. */
export function payersSince(db: Queries, filter: ResolvedFilter, { hour, mark }: From): Payers {
  const rolled = (start: number) =>
    db
      .selectFrom('quota_data')
      .select(['quota_data.created_at as hour', 'quota_data.user_id as payer'])
      .distinct()
      .where(matchingHours({ ...filter, start_timestamp: start }))
  if (!filter.token_name) return rolled(hour).as('cells')
  return tokenHours(db, { ...filter, start_timestamp: hour })
    .select(['hour', 'user_id as payer'])
    .unionAll(rolled(Math.max(hour, mark)))
    .as('cells')
}

/** The first hour that a filter reaches into. */
export function firstHour({ start_timestamp: start = 0 }: ResolvedFilter): number {
  return start - (start % hourSeconds)
}

/**
 * What is known of the charges that match without reading their rows, and the spans of which it is not. Undefined when only rows can
 * tell: of tokens, nobody has noted with which models they were used.
 */
export async function knownSums(
  db: Queries,
  filter: ResolvedFilter,
): Promise<{ sum: { quota: number; count: number }; left: readonly Span[] } | undefined> {
  if (filter.request_id || filter.site_cost) return undefined
  const { start_timestamp: start = 0, end_timestamp: end = 0 } = filter
  const { whole, edges } = splitByHour(start, end)
  if (!whole) return { sum: { quota: 0, count: 0 }, left: edges }
  if (!filter.token_name) return { sum: await sumHours(db, { ...filter, ...limits(whole) }), left: edges }

  if (filter.models || filter.channel || filter.group) return undefined
  const mark = await foldedUntil(db)
  const unfolded = mark <= whole.to ? [{ from: Math.max(mark, whole.from), to: whole.to }] : []
  const sum = await tokenHours(db, { ...filter, ...limits(whole) })
    .select(({ fn, lit }) => [
      fn.coalesce(fn.sum<number>('quota'), lit(0)).as('quota'),
      fn.coalesce(fn.sum<number>('count'), lit(0)).as('count'),
    ])
    .executeTakeFirstOrThrow()
  return { sum, left: [...edges, ...unfolded] }
}

function limits({ from, to }: Span): Pick<ResolvedFilter, 'start_timestamp' | 'end_timestamp'> {
  return { start_timestamp: from, end_timestamp: to }
}

function rolledHours(db: Queries, filter: ResolvedFilter) {
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
