import type { SumsBy } from '../../../contract/entities/usage-sum.ts'
import type { Queries } from '../../base/db/open.ts'
import { matchingHours, type ResolvedFilter } from '../filter.ts'
import { hourSeconds, type Span } from './hours.ts'

/**
 * Sums of charges by one dimension (model, user, channel, group), hour by hour. `quota_data` has an hour bucket for each user,
 * model, channel and group; the rollup in `usage_hours` has one row for each dimension of a past hour, so that a month of the whole
 * site is some hundred rows. Hours after the end of the rollup, and filters on more than one dimension, are read from the hour
 * buckets.
 */

export interface Sum {
  quota: number
  count: number
  token_used: number
}

/** A name, or the id of a user or channel. */
export type Key = string | number

/**
 * The columns of a row of `usage_hours`: key, quota, count and tokens, and so on for each key. Flat, because a month has many keys.
 */
export type Sums = readonly Key[]

interface HourSums {
  readonly hour: number
  readonly sums: Sums
}

export const dimensionColumns = { model: 'model_name', user: 'user_id', channel: 'channel_id', group: 'group' } as const

const rowsAtOnce = 48
const pieceSeconds = 4 * hourSeconds

/** The end of the rollup: the first hour, in unix seconds, that is not rolled up yet; 0 before the first roll-up. */
export async function rollupEnd(db: Queries): Promise<number> {
  const last = await db
    .selectFrom('usage_hours')
    .select('hour')
    .where('side', '=', 'group')
    .orderBy('hour', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last ? last.hour + hourSeconds : 0
}

/** The only dimension that a filter names, the smallest if it names none; undefined when the rollup cannot answer the filter. */
function dimensionOf(filter: ResolvedFilter): SumsBy | undefined {
  const named = dimensionsNamed(filter)
  return named.length > 1 ? undefined : (named[0] ?? 'group')
}

/**
 * Charges of whole hours by one dimension, in pieces, oldest first; other work can run between two pieces. `start_timestamp` is the
 * beginning of an hour, and hours that begin up to `end_timestamp` are included; 0 means no bound.
 */
export async function* hourSums(db: Queries, filter: ResolvedFilter, by: SumsBy): AsyncGenerator<HourSums[]> {
  const from = filter.start_timestamp ?? 0
  const to = filter.end_timestamp || Number.MAX_SAFE_INTEGER
  const isRolledUp = dimensionsNamed(filter).every((side) => side === by)
  const mark = isRolledUp ? await rollupEnd(db) : 0
  if (mark > from) yield* rollupSums(db, filter, { by, span: { from, to: Math.min(to, mark - 1) } })
  if (mark <= to) yield* bucketSums(db, filter, { by, span: { from: Math.max(from, mark), to } })
}

/** The sum over whole hours; `filter` is as for `hourSums`. */
export async function sumHours(db: Queries, filter: ResolvedFilter): Promise<Sum> {
  const side = dimensionOf(filter)
  if (!side || side === 'user') return sumBuckets(db, filter)

  const sum = { quota: 0, count: 0, token_used: 0 }
  const mark = await rollupEnd(db)
  const from = filter.start_timestamp ?? 0
  const to = filter.end_timestamp || Number.MAX_SAFE_INTEGER
  const span = { from, to: Math.min(to, mark - 1) }
  if (mark > from) {
    for await (const piece of rollupSums(db, filter, { by: side, span })) {
      for (const { sums } of piece) eachSum(sums, (_key, one) => add(sum, one))
    }
  }
  if (mark <= to) add(sum, await sumBuckets(db, { ...filter, start_timestamp: Math.max(from, mark) }))
  return sum
}

/** The number of charges in each hour; `filter` is as for `hourSums`. */
export async function countHours(db: Queries, filter: ResolvedFilter): Promise<Map<number, number>> {
  const side = dimensionOf(filter)
  if (!side || side === 'user') {
    const rows = await db
      .selectFrom('quota_data')
      .select('quota_data.created_at as hour')
      .select(({ fn }) => fn.sum<number>('count').as('count'))
      .where(matchingHours(filter))
      .groupBy('quota_data.created_at')
      .execute()
    return new Map(rows.map(({ hour, count }) => [hour, count]))
  }
  const counts = new Map<number, number>()
  for await (const piece of hourSums(db, filter, side)) {
    for (const { hour, sums } of piece) eachSum(sums, (_key, { count }) => counts.set(hour, (counts.get(hour) ?? 0) + count))
  }
  return counts
}

/** Passes each key with its sum, which is the same object every time: a month has hundreds of thousands of keys. */
export function eachSum(sums: Sums, take: (key: Key, sum: Readonly<Sum>) => void): void {
  const sum = { quota: 0, count: 0, token_used: 0 }
  for (let index = 0; index + 3 < sums.length; index += 4) {
    sum.quota = Number(sums[index + 1])
    sum.count = Number(sums[index + 2])
    sum.token_used = Number(sums[index + 3])
    take(sums[index] ?? '', sum)
  }
}

/** Sums of an hour in the form in which they are stored. */
export function flatten(sums: Iterable<readonly [Key, Readonly<Sum>]>): Sums {
  return [...sums].flatMap(([key, { quota, count, token_used }]) => [key, quota, count, token_used])
}

export function add(sum: Sum, { quota, count, token_used }: Readonly<Sum>): void {
  sum.quota += quota
  sum.count += count
  sum.token_used += token_used
}

function dimensionsNamed({ models, userId, channel, group }: ResolvedFilter): SumsBy[] {
  const named = { model: models, user: userId, channel, group }
  // The keys are those written one line above.
  return (Object.keys(named) as SumsBy[]).filter((side) => named[side])
}

interface Part {
  readonly by: SumsBy
  readonly span: Span
}

async function* rollupSums(db: Queries, filter: ResolvedFilter, { by, span }: Part): AsyncGenerator<HourSums[]> {
  const wanted = keysOf(filter, by)
  for (let from = span.from; from <= span.to; ) {
    const rows = await db
      .selectFrom('usage_hours')
      .select(['hour', 'sums'])
      .where('side', '=', by)
      .where('hour', '>=', from)
      .where('hour', '<=', span.to)
      .orderBy('hour')
      .limit(rowsAtOnce)
      .execute()
    yield rows.map(({ hour, sums }) => ({ hour, sums: parseSums(sums, wanted) }))
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return
    from = last.hour + 1
  }
}

function parseSums(text: string, wanted: ReadonlySet<Key> | undefined): Sums {
  // Written by `roll-up.ts`.
  const sums = JSON.parse(text) as Sums
  return wanted ? sums.filter((_, index) => wanted.has(sums[index - (index % 4)] ?? '')) : sums
}

function keysOf(filter: ResolvedFilter, by: SumsBy): ReadonlySet<Key> | undefined {
  const { models, userId, channel, group } = filter
  if (by === 'model') return models && new Set(models)
  const key = { user: userId, channel, group }[by]
  return key ? new Set([key]) : undefined
}

/**
 * Reads some hours at a time, so that neither a connection nor the event loop is blocked for long, however many users an hour has.
 */
async function* bucketSums(db: Queries, filter: ResolvedFilter, { by, span }: Part): AsyncGenerator<HourSums[]> {
  const ends = await endsOf(db, filter, span)
  if (!ends) return
  for (let from = ends.from; from <= ends.to; from += pieceSeconds) {
    const rows = await db
      .selectFrom('quota_data')
      .select(['quota_data.created_at as hour', `quota_data.${dimensionColumns[by]} as key`])
      .select(({ fn }) => [
        fn.sum<number>('quota').as('quota'),
        fn.sum<number>('count').as('count'),
        fn.sum<number>('token_used').as('token_used'),
      ])
      .where(matchingHours({ ...filter, start_timestamp: from, end_timestamp: Math.min(ends.to, from + pieceSeconds - 1) }))
      .groupBy(['quota_data.created_at', `quota_data.${dimensionColumns[by]}`])
      .orderBy('quota_data.created_at')
      .orderBy('key')
      .execute()
    yield byHour(rows)
  }
}

/** Groups rows that are ordered by hour. */
function byHour(rows: readonly (Sum & { readonly hour: number; readonly key: Key })[]): HourSums[] {
  const hours: { readonly hour: number; readonly sums: Key[] }[] = []
  for (const { hour, key, quota, count, token_used } of rows) {
    let last = hours.at(-1)
    if (last?.hour !== hour) {
      last = { hour, sums: [] }
      hours.push(last)
    }
    last.sums.push(key, quota, count, token_used)
  }
  return hours
}

/** The span from the first to the last hour bucket that matches. */
async function endsOf(db: Queries, filter: ResolvedFilter, span: Span): Promise<Span | undefined> {
  const query = db
    .selectFrom('quota_data')
    .select('quota_data.created_at as hour')
    .where(matchingHours({ ...filter, start_timestamp: span.from, end_timestamp: span.to }))
    .limit(1)
  const oldest = await query.orderBy('quota_data.created_at').executeTakeFirst()
  if (!oldest) return undefined
  const newest = await query.orderBy('quota_data.created_at', 'desc').executeTakeFirst()
  return { from: oldest.hour, to: newest?.hour ?? oldest.hour }
}

async function sumBuckets(db: Queries, filter: ResolvedFilter): Promise<Sum> {
  return db
    .selectFrom('quota_data')
    .select(({ fn, lit }) => [
      fn.coalesce(fn.sum<number>('quota'), lit(0)).as('quota'),
      fn.coalesce(fn.sum<number>('count'), lit(0)).as('count'),
      fn.coalesce(fn.sum<number>('token_used'), lit(0)).as('token_used'),
    ])
    .where(matchingHours(filter))
    .executeTakeFirstOrThrow()
}
