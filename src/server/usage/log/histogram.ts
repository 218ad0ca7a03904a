import { sql } from 'kysely'
import { type LogHistogram, logType } from '../../../contract/entities/log.ts'
import type { Queries } from '../../base/db/open.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { type LogFilter, type ResolvedFilter, resolveFilter } from '../filter.ts'
import { countsByHour } from '../sums/hour-buckets.ts'
import { hourSeconds, type Span } from '../sums/hours.ts'
import { weekShiftSeconds } from '../sums/sums.ts'
import { matchingRows, pieces, searchMs } from './rows.ts'

/**
 * Answered and failed calls over the time of a filter. Buckets of less than an hour are counted over the rows, newest first, until the
 * time for a search is over; buckets of hours are read from the hour buckets, and so are shorter ones whose rows are too many.
 */

const daySeconds = 24 * hourSeconds
const weekSeconds = 7 * daySeconds
const bucketsMax = 100
const stepLengths = [1, 5, 15, 60, 300, 900, hourSeconds, 3 * hourSeconds, 6 * hourSeconds, 12 * hourSeconds, daySeconds]

interface Asked {
  readonly filter: LogFilter
  /** Minutes east of Greenwich, which determine the start of buckets. */
  readonly offsetMinutes: number
  readonly searchMs?: number
}

export async function logHistogram(core: Core, { filter, offsetMinutes, searchMs: ms = searchMs }: Asked): Promise<LogHistogram> {
  const { db } = core
  const now = seconds(core.now())
  const found = await resolveFilter(db, filter)
  const span = found && (await spanOf(db, found, now))
  if (!span) return { step_seconds: 1, from: now, to: now, counted_from: 0, points: [] }

  const within = { ...found, start_timestamp: span.from, end_timestamp: span.to }
  const step = stepOf(span)
  const over = (length: number): Counting => ({ buckets: new Buckets(length, offsetMinutes), latest: performance.now() + ms })
  const present = ({ buckets }: Counting, countedFrom: number): LogHistogram => ({
    step_seconds: buckets.step,
    from: buckets.of(span.from),
    to: span.to,
    counted_from: countedFrom,
    points: buckets.points(),
  })
  if (step < hourSeconds) {
    const counting = over(step)
    const countedFrom = await countRows(db, within, counting)
    if (countedFrom === 0) return present(counting, 0)
  }
  const counting = over(Math.max(step, hourSeconds))
  return present(counting, await countHours(db, within, counting))
}

interface Counting {
  readonly buckets: Buckets
  /** When the time for the search is over. */
  readonly latest: number
}

/** Charges of whole hours, and the rows that these do not tell of. Returns the time from which on all is counted; 0 for the begin. */
async function countHours(db: Queries, filter: ResolvedFilter, counting: Counting): Promise<number> {
  const charged = filter.type === logType.error ? undefined : await countsByHour(db, filter)
  if (!charged) return countRows(db, filter, counting)
  for (const [hour, count] of charged.counts) counting.buckets.add(hour, 'answered', count)
  const left = Math.max(charged.rowsFrom, filter.start_timestamp ?? 0)
  const recent = await countRows(db, { ...filter, type: logType.consume, start_timestamp: left }, counting)
  if (recent > 0 || filter.type === logType.consume) return recent
  return countRows(db, { ...filter, type: logType.error }, counting)
}

/** Counts rows piece by piece, newest first. Returns the time from which on they are counted; 0 for the begin. */
async function countRows(db: Queries, filter: ResolvedFilter, { buckets, latest }: Counting): Promise<number> {
  const { start_timestamp: from = 0, end_timestamp: to = 0 } = filter
  for (const piece of pieces({ from, to }, 'newest')) {
    const rows = await matchingRows(db, { ...filter, start_timestamp: piece.from, end_timestamp: piece.to })
      .$if(!filter.type, (query) => query.where('logs.type', 'in', [logType.consume, logType.error]))
      .select(['logs.type', buckets.ofRow.as('at')])
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .groupBy(['logs.type', buckets.ofRow])
      .execute()
    for (const { type, at, count } of rows) buckets.add(at, type === logType.error ? 'failed' : 'answered', count)
    if (piece.from > from && performance.now() > latest) return piece.from
  }
  return 0
}

/** The counts of each bucket with calls. */
class Buckets {
  readonly step: number
  readonly #shift: number
  readonly #counts = new Map<number, { answered: number; failed: number }>()

  constructor(step: number, offsetMinutes: number) {
    this.step = step
    this.#shift = offsetMinutes * 60 + (step % weekSeconds === 0 ? weekShiftSeconds : 0)
  }

  /** The begin of the bucket of a time. */
  of(at: number): number {
    return at - ((at + this.#shift) % this.step)
  }

  get ofRow() {
    return sql<number>`logs.created_at - (logs.created_at + ${sql.lit(this.#shift)}) % ${sql.lit(this.step)}`
  }

  add(at: number, side: 'answered' | 'failed', count: number): void {
    const bucket = this.of(at)
    const counts = this.#counts.get(bucket) ?? { answered: 0, failed: 0 }
    counts[side] += count
    this.#counts.set(bucket, counts)
  }

  points(): LogHistogram['points'] {
    return [...this.#counts].map(([at, counts]) => ({ at, ...counts })).sort((one, other) => one.at - other.at)
  }
}

/** The shortest step of which a span has few enough. */
function stepOf({ from, to }: Span): number {
  const least = (to - from + 1) / bucketsMax
  return stepLengths.find((length) => length >= least) ?? Math.ceil(least / weekSeconds) * weekSeconds
}

/** From the begin that is filtered by, or the first row, to the end or now; undefined when there is nothing to count. */
async function spanOf(db: Queries, filter: ResolvedFilter, now: number): Promise<Span | undefined> {
  const { userId, type = 0, start_timestamp: start = 0, end_timestamp: end = 0 } = filter
  if (type !== 0 && type !== logType.consume && type !== logType.error) return undefined
  const to = Math.min(end || now, now)
  if (start > 0) return start <= to ? { from: start, to } : undefined
  const first = await db
    .selectFrom('logs')
    .select('created_at')
    .$if(Boolean(userId), (query) => query.where('user_id', '=', userId ?? 0))
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return first && first.created_at <= to ? { from: first.created_at, to } : undefined
}
