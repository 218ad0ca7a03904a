import { type SelectQueryBuilder, sql } from 'kysely'
import { logsCountedAhead, logType } from '../../../contract/entities/log.ts'
import type { Queries } from '../../base/db/open.ts'
import type { Row, Tables } from '../../base/db/schema.ts'
import { matching, type ResolvedFilter } from '../filter.ts'
import { firstHour, type HourBucket, hourBuckets, sumWithoutRows, userHoursSince } from '../sums/hour-buckets.ts'
import { hourSeconds, type Span } from '../sums/hours.ts'
import { rollupEnd } from '../sums/rollup.ts'

/**
 * Finding rows of a log of any length: along an index from the newest row. Filters without an index of `logs` are looked up in the
 * hour buckets first. Hours of tokens are known once they are rolled up; hours after these are read piece by piece, until the time for a search
 * is over.
 */

/** `channel_name` is null for a deleted channel. */
export type LogRow = Row<'logs'> & { channel_name: string | null }

/** The end from which a log is read. */
export type Order = 'newest' | 'oldest'

/** The start of a page: `skip` rows after the first row that is not before `at` in the order; 0 starts at the first row of all. */
export interface Cursor {
  readonly at: number
  readonly skip: number
}

type LogQuery = SelectQueryBuilder<Tables, 'logs', LogRow>

const bucketsMax = 2000
const daySeconds = 86_400
/** The time for which hours that are not rolled up are searched, and about the time that a piece of them takes. */
export const searchMs = 800
const pieceMs = 100

/** Matching rows with the names of their channels, newest first. Every order and range is covered by an index of `logs`. */
export function newestLogs(db: Queries, filter: ResolvedFilter): LogQuery {
  return logsInOrder(db, filter, 'newest')
}

export function logsInOrder(db: Queries, filter: ResolvedFilter, order: Order): LogQuery {
  return inOrder(matchingRows(db, filter), order)
}

interface PageRequest extends Cursor {
  readonly order: Order
  readonly limit: number
  /** The time after which a search through hours that are not rolled up ends; less than a second if absent. */
  readonly searchMs?: number
}

interface PageRows {
  readonly rows: LogRow[]
  /** Where a search goes on whose time was over before the page was full. */
  readonly rest?: Rest | undefined
}

interface Rest extends Cursor {
  /** The last time, in unix seconds, whose rows were searched. */
  readonly searchedTo: number
}

/** Matching rows in no order. Those with a site cost are found by way of the few rows of `site_costs`, not by a search through the log. */
export function matchingRows(db: Queries, filter: ResolvedFilter): SelectQueryBuilder<Tables, 'logs', object> {
  const { site_cost: reason, start_timestamp: from = 0, end_timestamp: to = 0 } = filter
  if (!reason) return db.selectFrom('logs').where(matching(filter))
  const borne = db
    .selectFrom('site_costs')
    .select(['site_costs.request_id as borne_id', 'site_costs.user_id as borne_for', 'site_costs.created_at as borne_at'])
    .where('site_costs.reason', '=', reason)
    .where('site_costs.created_at', '>=', from)
    .where('site_costs.created_at', '<=', to || Number.MAX_SAFE_INTEGER)
    .as('borne')
  const joined = db
    .selectFrom(borne)
    .crossJoin('logs')
    .whereRef('logs.user_id', '=', 'borne_for')
    .whereRef('logs.created_at', '=', 'borne_at')
    .whereRef('logs.request_id', '=', 'borne_id')
    .where(matching(filter))
  // From here on only columns of `logs` are selected.
  return joined as unknown as SelectQueryBuilder<Tables, 'logs', object>
}

/** A page of matching rows in the order of their times. */
export async function readRows(db: Queries, filter: ResolvedFilter, page: PageRequest): Promise<PageRows> {
  const { at, order } = page
  const rest = at === 0 ? filter : beginningAt(filter, at, order)
  if (!isLocated(filter)) return { rows: await readAlong(db, rest, page) }

  const kept = await sinceFirstRow(db, rest)
  if (!kept) return { rows: [] }
  return filter.token_name ? readOfToken(db, kept, page) : { rows: await readLocated(db, kept, page) }
}

/** Rows of a token: of the hours that are not rolled up, and of those that are. */
async function readOfToken(db: Queries, filter: ResolvedFilter, page: PageRequest): Promise<PageRows> {
  const { recent, rolled } = await splitByRollup(db, filter)
  const { order, skip, limit } = page
  if (order === 'oldest') {
    const rows = await readLocated(db, rolled, page)
    if (rows.length === limit) return { rows }
    const skipped = rows.length > 0 || skip === 0 ? 0 : await countOf(db, await locatedRows(db, rolled), skip)
    const { rows: more, rest } = await readPieces(db, recent, { ...page, skip: skip - skipped, limit: limit - rows.length })
    return { rows: [...rows, ...more], rest }
  }
  const { rows, rest, toSkip } = await readPieces(db, recent, page)
  if (rows.length === limit || rest) return { rows, rest }
  const more = await readLocated(db, rolled, { ...page, skip: toSkip, limit: limit - rows.length })
  return { rows: [...rows, ...more] }
}

/** The rest of a filter after and before the end of the rollup. */
async function splitByRollup(db: Queries, filter: ResolvedFilter) {
  const mark = await rollupEnd(db)
  const end = filter.end_timestamp || Number.MAX_SAFE_INTEGER
  return {
    recent: { ...filter, start_timestamp: Math.max(mark, filter.start_timestamp ?? 0) },
    // An end of 0 would mean none.
    rolled: { ...filter, end_timestamp: Math.max(1, Math.min(end, mark - 1)) },
  }
}

/** Reads a time span piece by piece. `toSkip` is what is left to be skipped behind it. */
async function readPieces(
  db: Queries,
  filter: ResolvedFilter,
  { order, skip, limit, searchMs: ms = searchMs }: Omit<PageRequest, 'at'>,
): Promise<PageRows & { readonly toSkip: number }> {
  const rows: LogRow[] = []
  let toSkip = skip
  const latest = performance.now() + ms
  for (const { from, to } of pieces(await spanOf(db, filter), order)) {
    const piece = { ...filter, start_timestamp: from, end_timestamp: to }
    const skipped = toSkip > 0 ? await countAlong(db, piece, toSkip) : 0
    if (skipped === toSkip) {
      rows.push(...(await readAlong(db, piece, { order, skip: toSkip, limit: limit - rows.length })))
    }
    toSkip -= skipped
    if (rows.length === limit) break
    if (performance.now() <= latest) continue
    const place = order === 'newest' ? { searchedTo: from, at: from - 1 } : { searchedTo: to, at: to + 1 }
    return { rows, toSkip, rest: { ...place, skip: toSkip } }
  }
  return { rows, toSkip }
}

/** The time span of the rows that a filter allows; undefined when there are none. */
async function spanOf(
  db: Queries,
  { start_timestamp: from = 0, end_timestamp: to = 0 }: ResolvedFilter,
): Promise<Span | undefined> {
  const newest = await db.selectFrom('logs').select('created_at').orderBy('created_at', 'desc').limit(1).executeTakeFirst()
  const last = Math.min(newest?.created_at ?? 0, to || Number.MAX_SAFE_INTEGER)
  return last < from ? undefined : { from, to: last }
}

/** The pieces of a time span, each as long as can be read in about `pieceMs`, by the time that the one before took. */
export function* pieces(span: Span | undefined, order: Order): Generator<Span> {
  if (!span) return
  let { from, to } = span
  for (let length = hourSeconds; from <= to; ) {
    const piece =
      order === 'newest' ? { from: Math.max(from, to - length + 1), to } : { from, to: Math.min(to, from + length - 1) }
    const startedAt = performance.now()
    yield piece
    const tookMs = performance.now() - startedAt
    length = tookMs < pieceMs ? length * 2 : Math.max(1, Math.floor(length / 2))
    if (order === 'newest') to = piece.from - 1
    else from = piece.to + 1
  }
}

async function readLocated(db: Queries, kept: ResolvedFilter, page: PageRequest): Promise<LogRow[]> {
  const { order } = page
  const buckets = await hourBuckets(db, kept, { order, limit: bucketsMax + 1 })
  const first = buckets[0]?.hour
  if (first === undefined) return []
  // With so many matches, a scan from the first row finds a page quickly.
  if (buckets.length > bucketsMax) {
    const begin = order === 'newest' ? first + hourSeconds - 1 : first
    return readAlong(db, beginningAt(kept, begin, order), page)
  }
  return readBuckets(db, kept, { ...page, buckets })
}

/**
 * The filter without the hours before the first row: they have hour buckets, but their rows were purged. Undefined when there are
 * no rows.
 */
async function sinceFirstRow(db: Queries, filter: ResolvedFilter): Promise<ResolvedFilter | undefined> {
  const first = await db.selectFrom('logs').select('created_at').orderBy('created_at').limit(1).executeTakeFirst()
  if (!first) return undefined
  const hour = first.created_at - (first.created_at % hourSeconds)
  return { ...filter, start_timestamp: Math.max(filter.start_timestamp ?? 0, hour) }
}

/** The remaining filter when the rows begin at a time. */
function beginningAt(filter: ResolvedFilter, at: number, order: Order): ResolvedFilter {
  return order === 'newest'
    ? { ...filter, end_timestamp: Math.min(at, filter.end_timestamp || at) }
    : { ...filter, start_timestamp: Math.max(at, filter.start_timestamp ?? 0) }
}

/** The remaining filter when the rows end with an hour. */
function endingWith(filter: ResolvedFilter, hour: number, order: Order): ResolvedFilter {
  return order === 'newest'
    ? { ...filter, start_timestamp: Math.max(hour, filter.start_timestamp ?? 0) }
    : beginningAt(filter, hour + hourSeconds - 1, 'newest')
}

/**
 * The number of matching rows: exact up to some bound beyond `offset`, otherwise that bound. If hour buckets cover the filter, it
 * counts charges, including those without a log row. Undefined when it would take too long to count a token's rows of hours that are not rolled up.
 */
export async function countRows(db: Queries, filter: ResolvedFilter, offset: number): Promise<number | undefined> {
  const limit = offset + logsCountedAhead
  if (!isLocated(filter)) return countAlong(db, filter, limit)

  const kept = await sinceFirstRow(db, filter)
  if (!kept) return 0
  const known = await sumWithoutRows(db, kept)
  const latest = performance.now() + searchMs
  if (!known) {
    const { recent, rolled } = await splitByRollup(db, kept)
    const counted = await countOf(db, await locatedRows(db, rolled), limit)
    const more = await countPieces(db, recent, { limit: limit - counted, latest })
    return more === undefined ? undefined : counted + more
  }
  let { count } = known.sum
  const charges = { ...kept, type: logType.consume }
  for (const { from, to } of known.left) {
    const part = { ...charges, start_timestamp: from, end_timestamp: to }
    const more = await countPieces(db, part, { limit: limit - count, latest })
    if (more === undefined) return undefined
    count += more
  }
  if (!filter.type && count < limit) count += await countAlong(db, { ...filter, type: logType.error }, limit - count)
  return Math.min(count, limit)
}

/** The quota of all rows that match, found by way of the hour buckets. */
export async function sumLocated(db: Queries, filter: ResolvedFilter): Promise<number> {
  const rows = await locatedRows(db, filter)
  const { quota } = await rows
    .select(({ fn, lit }) => fn.coalesce(fn.sum<number>('logs.quota'), lit(0)).as('quota'))
    .executeTakeFirstOrThrow()
  return quota
}

/** The days that have rows, newest first, so that no single query has to scan the entire log. */
export async function* daysOf(db: Queries, filter: ResolvedFilter): AsyncGenerator<Span> {
  const ends = { start_timestamp: filter.start_timestamp ?? 0, end_timestamp: filter.end_timestamp ?? 0 }
  const mine = filter.userId ? { ...ends, userId: filter.userId } : ends
  for (let end = ends.end_timestamp; ; ) {
    const newest = await newestLogs(db, { ...mine, end_timestamp: end })
      .limit(1)
      .executeTakeFirst()
    if (!newest) return
    const from = newest.created_at - daySeconds + 1
    yield { from, to: newest.created_at }
    end = from - 1
    if (end < ends.start_timestamp || end <= 0) return
  }
}

/**
 * Only charges and failed calls have a model, a channel, a group and a token. Each charge is counted in an hour bucket; failed
 * calls have a separate index.
 */
export function isLocated({ models, channel, group, token_name, type, request_id, site_cost }: ResolvedFilter): boolean {
  return Boolean(models || channel || group || token_name) && (!type || type === logType.consume) && !request_id && !site_cost
}

function inOrder<Joined extends Tables & { logs: Tables['logs'] }, From extends keyof Joined>(
  query: SelectQueryBuilder<Joined, From, object>,
  order: Order,
): LogQuery {
  const direction = directions[order]
  // Only columns of `logs` are selected from here on, whatever table it was joined with.
  return (query as unknown as SelectQueryBuilder<Tables, 'logs', object>)
    .selectAll('logs')
    .select((eb) => eb.selectFrom('channels').select('name').whereRef('channels.id', '=', 'logs.channel_id').as('channel_name'))
    .orderBy('logs.created_at', direction)
    .orderBy('logs.id', direction)
}

/** Skipped rows are not read, only their index entries. */
async function readAlong(
  db: Queries,
  filter: ResolvedFilter,
  { order, skip, limit }: Pick<PageRequest, 'order' | 'skip' | 'limit'>,
): Promise<LogRow[]> {
  if (skip === 0) return logsInOrder(db, filter, order).limit(limit).execute()
  const direction = directions[order]
  const first = await matchingRows(db, filter)
    .select(['logs.created_at', 'logs.id'])
    .orderBy('logs.created_at', direction)
    .orderBy('logs.id', direction)
    .offset(skip)
    .limit(1)
    .executeTakeFirst()
  if (!first) return []
  const [after, from] = order === 'newest' ? (['<', '<='] as const) : (['>', '>='] as const)
  return logsInOrder(db, beginningAt(filter, first.created_at, order), order)
    .where((eb) => eb.or([eb('logs.created_at', after, first.created_at), eb('logs.id', from, first.id)]))
    .limit(limit)
    .execute()
}

const directions = { newest: 'desc', oldest: 'asc' } as const

/** Reads as many hours as should fill the page, and more when the rows of some were purged. */
async function readBuckets(
  db: Queries,
  filter: ResolvedFilter,
  { buckets, order, skip, limit }: Omit<PageRequest, 'at'> & { readonly buckets: readonly HourBucket[] },
): Promise<LogRow[]> {
  let visited = 0
  let promised = 0
  for (let wanted = skip + limit; ; wanted *= 4) {
    for (; visited < buckets.length && promised < wanted; visited++) promised += buckets[visited]?.count ?? 0
    const seen = endingWith(filter, buckets[visited - 1]?.hour ?? 0, order)
    const rows = await inOrder(await locatedRows(db, seen), order)
      .offset(skip)
      .limit(limit)
      .execute()
    if (rows.length === limit || visited === buckets.length) return rows
  }
}

/** The rows of all matching buckets; the join is executed in the order in which it is written. */
async function locatedRows(db: Queries, filter: ResolvedFilter) {
  const mark = filter.token_name ? await rollupEnd(db) : 0
  return db
    .selectFrom(userHoursSince(db, filter, { hour: firstHour(filter), mark }))
    .crossJoin('logs')
    .whereRef('logs.user_id', '=', 'user_hours.charged_user')
    .whereRef('logs.created_at', '>=', 'user_hours.hour')
    .where((eb) => eb('logs.created_at', '<', eb('user_hours.hour', '+', hourSeconds)))
    .where('logs.type', 'in', filter.type ? [filter.type] : [logType.consume, logType.error])
    .where(matching(filter))
}

async function countPieces(
  db: Queries,
  filter: ResolvedFilter,
  { limit, latest }: { readonly limit: number; readonly latest: number },
): Promise<number | undefined> {
  let count = 0
  for (const { from, to } of pieces(await spanOf(db, filter), 'newest')) {
    if (count >= limit) break
    if (performance.now() > latest) return undefined
    count += await countAlong(db, { ...filter, start_timestamp: from, end_timestamp: to }, limit - count)
  }
  return count
}

async function countAlong(db: Queries, filter: ResolvedFilter, limit: number): Promise<number> {
  return countOf(db, matchingRows(db, filter), limit)
}

async function countOf<Joined extends Tables, From extends keyof Joined>(
  db: Queries,
  rows: SelectQueryBuilder<Joined, From, object>,
  limit: number,
): Promise<number> {
  const { count } = await db
    .selectFrom(rows.select(sql`1`.as('one')).limit(limit).as('counted'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
