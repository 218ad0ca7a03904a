import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { type Log, logsCountedAhead, logType } from '../../contract/entities/log.ts'
import type { Queries } from '../db/open.ts'
import { type PageOf, startingWith } from '../db/page.ts'
import type { Row, Tables } from '../db/schema.ts'
import { fail } from '../lib/failure.ts'
import { recordAudit } from '../options/audit.ts'
import type { Caller, Core } from '../options/core.ts'
import { type LogFilter, matching } from './filter.ts'

/**
 * The usage log: what happened to a user's quota and account, for people to read. Consume rows are written by `wallet/ledger.ts` in
 * the commit of their charge; the others by `recordLog`. It decides nothing: balances come from the ledger alone.
 */

const searchedMax = 100
const purgedAtOnce = 5_000

/** Rows for admins, newest first. `total` is exact up to 10,000 rows behind the page's beginning, and that bound beyond. */
export async function listLogs(core: Core, { filter, page }: { filter: LogFilter; page: PageOf }) {
  const rows = await newestLogs(core.db, filter).offset(page.offset).limit(page.limit).execute()
  return { items: rows.map(presentLog), total: await countUpTo(core.db, filter, page.offset + logsCountedAhead) }
}

/** Rows of one user for that user: no channel, nothing for admins. Otherwise as `listLogs`. */
export async function listOwnLogs(core: Core, { userId, filter, page }: { userId: number; filter: LogFilter; page: PageOf }) {
  const { items, total } = await listLogs(core, { filter: { ...filter, userId }, page })
  return { items: items.map(forOwner), total }
}

/** The newest 100 rows whose content begins with `keyword`. */
export async function searchLogs(core: Core, { keyword, userId }: { keyword: string; userId?: number }): Promise<Log[]> {
  const rows = await newestLogs(core.db, userId === undefined ? {} : { userId })
    .where(sql<SqlBool>`content like ${startingWith(keyword)} escape '\\'`)
    .limit(searchedMax)
    .execute()
  return rows.map(presentLog)
}

export async function searchOwnLogs(core: Core, { keyword, userId }: { keyword: string; userId: number }): Promise<Log[]> {
  const logs = await searchLogs(core, { keyword, userId })
  return logs.map(forOwner)
}

/** Matching rows with the names of their channels, newest first. Every order and range is one of an index of `logs`. */
export function newestLogs(db: Queries, filter: LogFilter): SelectQueryBuilder<Tables, 'logs', LogRow> {
  return db
    .selectFrom('logs')
    .selectAll('logs')
    .select((eb) => eb.selectFrom('channels').select('name').whereRef('channels.id', '=', 'logs.channel_id').as('channel_name'))
    .where(matching(filter))
    .orderBy('logs.created_at', 'desc')
    .orderBy('logs.id', 'desc')
}

/** `channel_name` is null when the channel is gone. */
export type LogRow = Row<'logs'> & { channel_name: string | null }

export interface LogRecord {
  /** Consume rows are the ledger's. */
  readonly type: Exclude<(typeof logType)[keyof typeof logType], typeof logType.consume>
  /** Unix seconds. */
  readonly at: number
  readonly userId: number
  readonly username: string
  readonly content: string
  readonly quota?: number
}

/** Writes a row that is no charge: a top-up, an act of an admin, news of the system. Give it the transaction of what it tells of. */
export async function recordLog(within: Queries, { type, at, userId, username, content, quota = 0 }: LogRecord): Promise<void> {
  await within.insertInto('logs').values({ type, created_at: at, user_id: userId, username, content, quota }).execute()
}

/**
 * Removes consume rows older than `before` (unix seconds), some thousand at a time so that others can write between; answers how many.
 * Rows of top-ups, admins and the system stay, and the audit tells who did it. Throws `log_time_required` for 0.
 */
export async function purgeLogs(core: Core, { before, caller }: { before: number; caller?: Caller }): Promise<number> {
  if (before <= 0) fail('log_time_required')
  const trace = { caller, action: 'log.purge', target: `logs before ${before}` }
  await core.db.transaction().execute((within) => recordAudit(core, within, trace))

  let removed = 0
  for (;;) {
    const oldest = core.db
      .selectFrom('logs')
      .select('id')
      .where('created_at', '<', before)
      .where('type', '=', logType.consume)
      .orderBy('created_at')
      .limit(purgedAtOnce)
    const { numDeletedRows } = await core.db.deleteFrom('logs').where('id', 'in', oldest).executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) return removed
    removed += Number(numDeletedRows)
  }
}

/** A row as admins see it. */
export function presentLog({ channel_id, channel_name, is_stream, ...row }: LogRow): Log {
  return { ...row, channel: channel_id, channel_name: channel_name ?? '', is_stream: is_stream === 1 }
}

function forOwner(log: Log): Log {
  return { ...log, channel: 0, channel_name: '', other: withoutAdminInfo(log.other) }
}

function withoutAdminInfo(other: string): string {
  try {
    const { admin_info: _hidden, ...shown } = JSON.parse(other)
    return JSON.stringify(shown)
  } catch {
    return ''
  }
}

async function countUpTo(db: Queries, filter: LogFilter, limit: number): Promise<number> {
  const { count } = await db
    .selectFrom(db.selectFrom('logs').select('logs.id').where(matching(filter)).limit(limit).as('counted'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
