import { sql, type Transaction } from 'kysely'
import type { Queries } from '../../base/db/open.ts'
import type { NewRow, Row, Tables } from '../../base/db/schema.ts'
import { Histogram } from '../../base/lib/process/histogram.ts'

/**
 * Statistics of calls and of attempts on channels: sums with histograms of durations, in rows of 5 minutes, of an hour and of a day
 * (UTC), for the site, each model, user and token (calls), and each channel and key (attempts). They come from `call-statistics.ts`
 * and may lack some seconds of a process that was killed: money is accounted only in the ledger.
 */

/**
 * The subject of a row. `site` has the key '', `model` the name in requests; `offer`, a model in a group, and `probe`, the probes of one,
 * have the key of `offerKey`; all others have their id.
 */
export type CallSide = 'site' | 'model' | 'offer' | 'probe' | 'user' | 'token' | 'channel' | 'key'

export const fiveMinutes = 300
export const oneHour = 3600
export const oneDay = 86_400
/** The lengths of rows in seconds, and the retention of each. */
const spans = [
  { seconds: fiveMinutes, keptSeconds: 50 * oneHour },
  { seconds: oneHour, keptSeconds: 62 * oneDay },
  { seconds: oneDay, keptSeconds: 400 * oneDay },
] as const

/**
 * Sums over any time. `count` includes all calls; those neither answered nor failed were refused for a fault of the caller, or
 * aborted by the caller.
 */
export interface CallSums {
  count: number
  answered: number
  /** Calls that failed by a fault of the site, its channels or their upstreams. */
  failed: number
  tokens_in: number
  tokens_out: number
  /** Charged when the calls ended, in quota units. */
  quota: number
  /** Milliseconds in which the output tokens were generated. */
  output_ms: number
  /** Of answered calls: milliseconds from beginning to end, and to the first byte of streams. */
  durations: Histogram
  first_bytes: Histogram
}

/** An error that occurred `count` times: its code, the last message without secrets, and when that was (unix seconds). */
export interface CallError {
  code: string
  count: number
  message: string
  last_at: number
}

/** Sums to be added to the rows of one moment (unix seconds, the beginning of 5 minutes). */
export interface AddedSums {
  readonly side: CallSide
  readonly key: string
  readonly at: number
  readonly sums: CallSums
  readonly errors: readonly CallError[]
}

/** Rows from `from` to before `to`, in unix seconds, of one side, of all keys or some. */
export interface CallQuery {
  readonly side: CallSide
  readonly keys?: readonly string[]
  readonly from: number
  readonly to: number
}

export function noSums(): CallSums {
  return {
    count: 0,
    answered: 0,
    failed: 0,
    tokens_in: 0,
    tokens_out: 0,
    quota: 0,
    output_ms: 0,
    durations: new Histogram(),
    first_bytes: new Histogram(),
  }
}

/** The share of answered calls among those answered or failed, from 0 to 1; undefined without any. */
export function successShare({ answered, failed }: Pick<CallSums, 'answered' | 'failed'>): number | undefined {
  return answered + failed === 0 ? undefined : answered / (answered + failed)
}

/** Output tokens per second; undefined without output. */
export function tokensPerSecond({ tokens_out, output_ms }: Pick<CallSums, 'tokens_out' | 'output_ms'>): number | undefined {
  return output_ms === 0 ? undefined : (tokens_out * 1000) / output_ms
}

/** The sums of all keys together; empty ones when there are no rows. */
export async function readCallSums(db: Queries, query: CallQuery): Promise<CallSums> {
  const total = noSums()
  for (const sums of (await readSumsByKey(db, query)).values()) addSums(total, sums)
  return total
}

/**
 * The sums of each key. 5-minute rows are deleted after two days: a query of an earlier time should begin and end with an hour.
 * Whole days and hours are read from their own rows, so that a month of one key is some 50 rows.
 */
export async function readSumsByKey(db: Queries, { side, keys, from, to }: CallQuery): Promise<Map<string, CallSums>> {
  const found = new Map<string, CallSums>()
  for (const piece of piecesOf(from, to)) {
    for (const row of await rowsOf(db, { side, keys, ...piece })
      .selectAll()
      .execute()) {
      addRow(found, row.key, row)
    }
  }
  return found
}

/** Sums of each period of `seconds` (a length of `spans`) that has rows, oldest first: for charts. */
export async function readPoints(
  db: Queries,
  { seconds, side, keys, from, to }: CallQuery & { readonly seconds: number },
): Promise<{ key: string; at: number; sums: CallSums }[]> {
  const rows = await rowsOf(db, { side, keys, from, to, seconds }).selectAll().orderBy('at').execute()
  return rows.map((row) => ({ key: row.key, at: row.at, sums: sumsOf(row) }))
}

/** The key of a model in a group. */
export function offerKey(group: string, model: string): string {
  return `${group}\n${model}`
}

/** Answered and failed calls of each key and period of `seconds`, over some sides together. */
export async function readOutcomes(
  db: Queries,
  { seconds, sides: of, from, to }: Piece & { readonly seconds: number; readonly sides: readonly CallSide[] },
): Promise<{ key: string; at: number; answered: number; failed: number }[]> {
  const rows = await db
    .selectFrom('call_sums')
    .select(['key', 'at'])
    .select(({ fn }) => [fn.sum<number>('answered').as('answered'), fn.sum<number>('failed').as('failed')])
    .where('side', 'in', of)
    .where('span', '=', seconds)
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy(['key', 'at'])
    .execute()
  return rows.map(({ key, at, answered, failed }) => ({ key, at, answered: Number(answered), failed: Number(failed) }))
}

type Plain = Omit<CallSums, 'durations' | 'first_bytes'>

/** The keys with the greatest sums of a column, without their histograms, greatest first. */
export async function topKeys(
  db: Queries,
  { side, from, to, by, limit }: CallQuery & { readonly by: 'count' | 'failed' | 'quota'; readonly limit: number },
): Promise<({ key: string } & Plain)[]> {
  const found = new Map<string, { key: string } & Plain>()
  for (const piece of piecesOf(from, to)) {
    const rows = await rowsOf(db, { side, keys: undefined, ...piece })
      .select('key')
      .select(({ fn }) => plainColumns.map((column) => fn.sum<number>(column).as(column)))
      .groupBy('key')
      .execute()
    // The selected columns are those of this type.
    for (const row of rows as ({ key: string } & Plain)[]) {
      const known = found.get(row.key)
      if (known) addPlain(known, row)
      else found.set(row.key, { ...row })
    }
  }
  return [...found.values()]
    .filter((sum) => sum[by] > 0)
    .sort((one, other) => other[by] - one[by])
    .slice(0, limit)
}

/** Errors by key and code, the most frequent first. Times are as for `readSumsByKey`. */
export async function readErrors(db: Queries, { side, keys, from, to }: CallQuery): Promise<({ key: string } & CallError)[]> {
  const found = new Map<string, { key: string } & CallError>()
  for (const piece of piecesOf(from, to)) {
    const rows = await db
      .selectFrom('call_errors')
      .select(['key', 'code', 'count', 'message', 'last_at'])
      .where('side', '=', side)
      .where('span', '=', piece.seconds)
      .where('at', '>=', piece.from)
      .where('at', '<', piece.to)
      .$if(keys !== undefined, (query) => query.where('key', 'in', keys ?? []))
      .execute()
    for (const row of rows) {
      const id = `${row.key} ${row.code}`
      const known = found.get(id)
      if (!known) found.set(id, { ...row })
      else {
        known.count += row.count
        if (row.last_at >= known.last_at) Object.assign(known, { message: row.message, last_at: row.last_at })
      }
    }
  }
  return [...found.values()].sort((one, other) => other.count - one.count || other.last_at - one.last_at)
}

/** Adds to the rows of 5 minutes, hour and day. The order of rows is always the same, so that nodes do not deadlock. */
export async function writeCallSums(within: Transaction<Tables>, added: readonly AddedSums[]): Promise<void> {
  const sums = added.flatMap((one) => spans.map(({ seconds }) => sumsRow(one, seconds)))
  const errors = added.flatMap((one) => spans.flatMap(({ seconds }) => one.errors.map((error) => errorRow(one, error, seconds))))
  await addSumsRows(
    within,
    merged(sums, ({ side, span, at, key }) => `${side} ${span} ${at} ${key}`, addToRow),
  )
  await addErrorRows(
    within,
    merged(errors, ({ side, span, at, key, code }) => `${side} ${span} ${at} ${key} ${code}`, addToError),
  )
}

/** Deletes rows that are older than their retention. */
export async function removeOldCallSums(db: Queries, now: number): Promise<number> {
  let removed = 0
  for (const { seconds, keptSeconds } of spans) {
    for (const side of sides) {
      for (const table of ['call_sums', 'call_errors'] as const) {
        const { numDeletedRows } = await db
          .deleteFrom(table)
          .where('side', '=', side)
          .where('span', '=', seconds)
          .where('at', '<', now - keptSeconds)
          .executeTakeFirstOrThrow()
        removed += Number(numDeletedRows)
      }
    }
  }
  return removed
}

const sides: readonly CallSide[] = ['site', 'model', 'offer', 'probe', 'user', 'token', 'channel', 'key']
const plainColumns = ['count', 'answered', 'failed', 'tokens_in', 'tokens_out', 'quota', 'output_ms'] as const

type SumsRow = Row<'call_sums'>
type ErrorRow = Row<'call_errors'>

interface Piece {
  readonly from: number
  readonly to: number
  readonly seconds: number
}

/** The fewest whole days, hours and 5 minutes that make up a time; its ends are extended to whole 5 minutes. */
export function piecesOf(from: number, to: number, longest = spans.length - 1): Piece[] {
  const seconds = spans[longest]?.seconds ?? fiveMinutes
  if (longest === 0) {
    const [first, last] = [Math.floor(from / seconds) * seconds, Math.ceil(to / seconds) * seconds]
    return first < last ? [{ from: first, to: last, seconds }] : []
  }
  const [first, last] = [Math.ceil(from / seconds) * seconds, Math.floor(to / seconds) * seconds]
  if (first >= last) return piecesOf(from, to, longest - 1)
  return [...piecesOf(from, first, longest - 1), { from: first, to: last, seconds }, ...piecesOf(last, to, longest - 1)]
}

function rowsOf(
  db: Queries,
  { side, keys, from, to, seconds }: Piece & Pick<CallQuery, 'side'> & { keys: readonly string[] | undefined },
) {
  return db
    .selectFrom('call_sums')
    .where('side', '=', side)
    .where('span', '=', seconds)
    .where('at', '>=', from)
    .where('at', '<', to)
    .$if(keys !== undefined, (query) => query.where('key', 'in', keys ?? []))
}

function addRow(found: Map<string, CallSums>, key: string, row: SumsRow): void {
  const known = found.get(key)
  if (!known) {
    found.set(key, sumsOf(row))
    return
  }
  addPlain(known, row)
  known.durations.addText(row.durations)
  known.first_bytes.addText(row.first_bytes)
}

function sumsOf(row: SumsRow): CallSums {
  const sums = noSums()
  addPlain(sums, row)
  sums.durations.addText(row.durations)
  sums.first_bytes.addText(row.first_bytes)
  return sums
}

function addSums(sums: CallSums, more: CallSums): void {
  addPlain(sums, more)
  sums.durations.merge(more.durations)
  sums.first_bytes.merge(more.first_bytes)
}

function addPlain(sums: Plain, more: Plain): void {
  for (const column of plainColumns) sums[column] += more[column]
}

function sumsRow({ side, key, at, sums }: AddedSums, span: number): SumsRow {
  const { durations, first_bytes, ...plain } = sums
  const texts = { durations: durations.toText(), first_bytes: first_bytes.toText() }
  return { side, span, at: at - (at % span), key, ...plain, output_ms: Math.round(plain.output_ms), ...texts }
}

function errorRow({ side, key, at }: AddedSums, error: CallError, span: number): ErrorRow {
  return { side, span, at: at - (at % span), key, ...error }
}

function merged<T>(rows: readonly T[], idOf: (row: T) => string, add: (known: T, more: T) => void): T[] {
  const found = new Map<string, T>()
  for (const row of rows) {
    const id = idOf(row)
    const known = found.get(id)
    if (known) add(known, row)
    else found.set(id, { ...row })
  }
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
}

function addToRow(known: SumsRow, more: SumsRow): void {
  addPlain(known, more)
  known.durations = addedText(known.durations, more.durations)
  known.first_bytes = addedText(known.first_bytes, more.first_bytes)
}

function addToError(known: ErrorRow, more: ErrorRow): void {
  known.count += more.count
  if (more.last_at >= known.last_at) Object.assign(known, { message: more.message, last_at: more.last_at })
}

function addedText(text: string, more: string): string {
  if (text === '' || more === '') return text + more
  const histogram = Histogram.parse(text)
  histogram.addText(more)
  return histogram.toText()
}

/** The first statement adds the numbers and so locks the rows; the second writes histograms merged with those that were read. */
async function addSumsRows(within: Transaction<Tables>, rows: readonly SumsRow[]): Promise<void> {
  if (rows.length === 0) return
  const found = await within
    .insertInto('call_sums')
    .values(rows.map((row): NewRow<'call_sums'> => ({ ...row, durations: '', first_bytes: '' })))
    .onConflict((conflict) =>
      conflict
        .columns(['side', 'span', 'at', 'key'])
        .doUpdateSet(Object.fromEntries(plainColumns.map((column) => [column, sumOf('call_sums', column)]))),
    )
    .returning(['side', 'span', 'at', 'key', 'durations', 'first_bytes'])
    .execute()
  const stored = new Map(found.map((row) => [`${row.side} ${row.span} ${row.at} ${row.key}`, row]))
  const timed = rows.filter(({ durations, first_bytes }) => durations !== '' || first_bytes !== '')
  if (timed.length === 0) return
  await within
    .insertInto('call_sums')
    .values(
      timed.map((row): NewRow<'call_sums'> => {
        const known = stored.get(`${row.side} ${row.span} ${row.at} ${row.key}`)
        const durations = addedText(known?.durations ?? '', row.durations)
        return { ...row, durations, first_bytes: addedText(known?.first_bytes ?? '', row.first_bytes) }
      }),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['side', 'span', 'at', 'key'])
        .doUpdateSet({ durations: sql`excluded.durations`, first_bytes: sql`excluded.first_bytes` }),
    )
    .execute()
}

async function addErrorRows(within: Transaction<Tables>, rows: readonly ErrorRow[]): Promise<void> {
  if (rows.length === 0) return
  const newer = sql`excluded.last_at >= call_errors.last_at`
  await within
    .insertInto('call_errors')
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(['side', 'span', 'at', 'key', 'code']).doUpdateSet({
        count: sumOf('call_errors', 'count'),
        message: sql<string>`case when ${newer} then excluded.message else call_errors.message end`,
        last_at: sql<number>`case when ${newer} then excluded.last_at else call_errors.last_at end`,
      }),
    )
    .execute()
}

function sumOf(table: string, column: string) {
  return sql<number>`${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}`
}
