import { setImmediate } from 'node:timers/promises'
import { type Log, logType } from '../../../contract/entities/log.ts'
import { channelsIn, readFactors } from '../../../contract/log-factors.ts'
import type { Queries } from '../../base/db/open.ts'
import { beginsWithText, type PageOf } from '../../base/db/page.ts'
import type { Core } from '../../base/options/core.ts'
import { type LogFilter, resolveFilter } from '../filter.ts'
import { type Cursor, countRows, daysOf, isLocated, type LogRow, newestLogs, type Order, readRows } from './rows.ts'

/**
 * The usage log: events of a user's quota and account, for people to read. Consume rows are written by `money/ledger/ledger.ts` in the
 * commit of their charge; the others by `recordLog`. It is informational: balances come from the ledger alone.
 */

const searchedMax = 100

export interface LogQuery {
  readonly filter: LogFilter
  readonly page: PageOf
  /** The cursor of the previous page; it takes precedence over the number of the page. */
  readonly before?: string
  readonly order?: Order
  /** The total is not needed. */
  readonly uncounted?: true
  readonly searchMs?: number
}

interface Listed {
  readonly items: Log[]
  /**
   * Exact up to 10,000 rows after the beginning of the page, otherwise that bound; not counted for pages that are requested by
   * cursor. At least the rows up to the end of the page where counting would take too long.
   */
  readonly total: number
  /** The cursor of the next page; '' at the end. Such pages cost the same at any depth. */
  readonly next: string
  /** The time, in unix seconds, up to which a search has come that goes on with `next`; 0 when its page is complete. */
  readonly searched_to: number
}

/** Rows for admins, newest first by default. */
export async function listLogs(
  core: Core,
  { filter, page, before = '', order = 'newest', uncounted, searchMs }: LogQuery,
): Promise<Listed> {
  const place = readPlace(before)
  const found = await resolveFilter(core.db, filter)
  if (!found) return { items: [], total: 0, next: '', searched_to: 0 }

  const from = place ?? { at: 0, skip: page.offset }
  const { rows, rest } = await readRows(core.db, found, { ...from, order, limit: page.limit, searchMs })
  const items = rows.map(presentLog)
  const seen = page.offset + rows.length
  if (rest) {
    return { items, total: place || uncounted ? 0 : seen, next: placeText(rest), searched_to: rest.searchedTo }
  }
  // Such a page is the last: its rows need not be counted again, which reads more of the log than finding none.
  const isEnd = !isLocated(found) && rows.length < page.limit && (rows.length > 0 || page.offset === 0)
  const total = place || uncounted ? 0 : isEnd ? seen : ((await countRows(core.db, found, page.offset)) ?? seen)
  return { items, total, next: rows.length < page.limit ? '' : placeAfter(rows, place), searched_to: 0 }
}

/** Rows of one user for that user: no channel, no members for admins, and no number that reveals how many rows others have. */
export async function listOwnLogs(core: Core, { userId, filter, ...asked }: LogQuery & { userId: number }): Promise<Listed> {
  const listed = await listLogs(core, { ...asked, filter: { ...filter, userId } })
  return { ...listed, items: forOwner(listed.items) }
}

/** Names, by id, of the channels that the details of rows name, as they are now. A deleted channel has none. */
export async function channelNames({ db }: Pick<Core, 'db'>, logs: readonly Log[]): Promise<Record<string, string>> {
  const named = new Set(logs.flatMap(({ other }) => [...channelsIn(readFactors(other))]))
  // Rows of other programs may contain any value.
  const ids = [...named].filter((id) => Number.isInteger(id) && id > 0 && id < 2 ** 31)
  if (ids.length === 0) return {}
  const rows = await db.selectFrom('channels').select(['id', 'name']).where('id', 'in', ids).execute()
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]))
}

/**
 * The newest 100 rows whose content begins with `keyword`, or whose type is `keyword` if it is a number. A rare word is searched
 * day by day, so that other queries run in between.
 */
export async function searchLogs(core: Core, { keyword, userId }: { keyword: string; userId?: number }): Promise<Log[]> {
  const mine = userId === undefined ? {} : { userId }
  const type = /^[1-9]$/.test(keyword) ? Number(keyword) : 0
  const found: Log[] = []
  for await (const { from, to } of daysOf(core.db, mine)) {
    const rows = await newestLogs(core.db, { ...mine, start_timestamp: from, end_timestamp: to })
      .where(({ eb, or }) => or([beginsWithText('content', keyword), eb('logs.type', '=', type)]))
      .limit(searchedMax - found.length)
      .execute()
    found.push(...rows.map(presentLog))
    if (found.length === searchedMax) break
    await setImmediate()
  }
  return found
}

export async function searchOwnLogs(core: Core, { keyword, userId }: { keyword: string; userId: number }): Promise<Log[]> {
  return forOwner(await searchLogs(core, { keyword, userId }))
}

interface LogRecord {
  /** Consume rows are written by the ledger, failed calls by `failed-calls.ts`. */
  readonly type: Exclude<(typeof logType)[keyof typeof logType], typeof logType.consume | typeof logType.error>
  /** Unix seconds. */
  readonly at: number
  readonly userId: number
  readonly username: string
  readonly content: string
  readonly quota?: number
}

/** Writes a row without a charge: a top-up, an admin's action, a system event. Pass the transaction of the event. */
export async function recordLog(within: Queries, { type, at, userId, username, content, quota = 0 }: LogRecord): Promise<void> {
  await within.insertInto('logs').values({ type, created_at: at, user_id: userId, username, content, quota }).execute()
}

/** A row as admins see it. */
export function presentLog({
  channel_id,
  channel_name,
  is_stream,
  quota,
  error_status: _status,
  error_code: _code,
  ...row
}: LogRow): Log {
  const isCharge = row.type === logType.consume
  return {
    ...row,
    quota: isCharge ? quota : 0,
    amount: isCharge ? 0 - quota : row.type === logType.error ? 0 : quota,
    channel: channel_id,
    channel_name: channel_name ?? '',
    is_stream: is_stream === 1,
  }
}

/**
 * Rows as their owner sees them. Their ids are made of time and position: those of the database would reveal the number of other
 * users' rows.
 */
export function forOwner(logs: readonly Log[]): Log[] {
  const seen = new Map<number, number>()
  return logs.map((log) => {
    const nth = seen.get(log.created_at) ?? 0
    seen.set(log.created_at, nth + 1)
    const id = log.created_at * 1000 + (nth % 1000)
    return { ...log, id, channel: 0, channel_name: '', other: withoutAdminInfo(log.other) }
  })
}

function withoutAdminInfo(other: string): string {
  try {
    const { admin_info: _hidden, ...shown } = JSON.parse(other)
    return JSON.stringify(shown)
  } catch {
    return ''
  }
}

/** Parses a cursor, `<seconds>-<rows of that second before>`; anything else means no cursor. */
function readPlace(text: string): Cursor | undefined {
  const [, at, skip] = /^(\d{1,12})-(\d{1,9})$/.exec(text) ?? []
  return at === undefined ? undefined : { at: Number(at), skip: Number(skip) }
}

function placeAfter(rows: readonly LogRow[], from: Cursor | undefined): string {
  const at = rows.at(-1)?.created_at ?? 0
  const sameSecond = rows.filter(({ created_at }) => created_at === at).length
  // A second with more rows than a page continues at the end of the previous page.
  return placeText({ at, skip: sameSecond + (from?.at === at ? from.skip : 0) })
}

function placeText({ at, skip }: Cursor): string {
  return `${at}-${skip}`
}
