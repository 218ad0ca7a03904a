import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { type LogPurge, logType } from '../../../contract/entities/log.ts'
import { dropMonths } from '../../base/db/log-partitions.ts'
import type { Queries } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'

/**
 * Purging the log: deletes consume rows that are older than a time, on PostgreSQL whole months at once, and otherwise day by day in small
 * batches, so that other writes run in between. Rows of failed calls have a retention of their own. Rows of top-ups, admins and the system stay; the ledger, balances
 * and the sums of the dashboard are never touched.
 */

const removedAtOnce = 1_000
const daySeconds = 86_400

/**
 * Requests the purge of rows older than `before` (unix seconds); `runPurges` deletes them. Returns the purge. Throws
 * `log_time_required` for 0 and `log_purge_running` while another is running.
 */
export async function requestPurge(core: Core, { before, caller }: { before: number; caller?: Caller }): Promise<LogPurge> {
  if (before <= 0) fail('log_time_required')
  const asked_at = seconds(core.now())
  const row = await change(core, caller, async (within, audit) => {
    if (core.database.dialect === 'postgres') await sql`lock table log_purges in share row exclusive mode`.execute(within)
    const running = await within.selectFrom('log_purges').select('id').where('finished_at', '=', 0).executeTakeFirst()
    if (running) fail('log_purge_running')
    const oldest = (await oldestCharge(within)) ?? before
    const values = { before, asked_by: caller?.username ?? '', asked_at, oldest, position: oldest }
    const inserted = await within.insertInto('log_purges').values(values).returningAll().executeTakeFirstOrThrow()
    audit({ action: 'log.purge', target: `logs before ${before}` })
    return inserted
  })
  return present(row)
}

/** Requests a purge and waits for its end; returns the number of deleted rows. Throws as `requestPurge`. */
export async function purgeLogs(core: Core, asked: { before: number; caller?: Caller }): Promise<number> {
  const { id } = await requestPurge(core, asked)
  const read = () => core.db.selectFrom('log_purges').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  await runPurge(core, await read())
  return (await read()).removed
}

/** The running purge, or the last one. */
export async function readPurge(db: Queries): Promise<LogPurge | null> {
  const row = await db.selectFrom('log_purges').selectAll().orderBy('id', 'desc').limit(1).executeTakeFirst()
  return row ? present(row) : null
}

/** Stops the running purge; deleted rows stay deleted. */
export function stopPurge(core: Core, caller: Caller): Promise<void> {
  return change(core, caller, async (within, audit) => {
    const ended = await within
      .updateTable('log_purges')
      .set({ finished_at: seconds(core.now()) })
      .where('finished_at', '=', 0)
      .returning('before')
      .executeTakeFirst()
    if (ended) audit({ action: 'log.stop-purge', target: `logs before ${ended.before}` })
  })
}

/**
 * Continues requested purges, and deletes rows older than the retention. Returns the number of deleted rows. Ages are those of the steady
 * clock: while the clock of the machine is set ahead, newer rows would be deleted.
 */
export async function runPurges(core: Core, signal?: AbortSignal, tell: (detail: string) => void = () => {}): Promise<number> {
  let removed = 0
  const asked = await core.db.selectFrom('log_purges').selectAll().where('finished_at', '=', 0).execute()
  for (const purge of asked) removed += await runPurge(core, purge, signal, tell)

  const { LogRetentionDays: days } = core.options.current
  if (days > 0) {
    const before = seconds(core.steady()) - days * daySeconds
    const from = (await oldestCharge(core.db)) ?? before
    removed += await removeBefore(core, { from, before, signal, onBatch: async () => !signal?.aborted })
  }
  return removed + (await removeFailedCalls(core, signal))
}

/** Deletes rows of failed calls that are older than their retention, and the oldest beyond the limit of their number. */
async function removeFailedCalls(core: Core, signal?: AbortSignal): Promise<number> {
  const { ErrorLogRetentionDays: days, ErrorLogRowsMax: rowsMax } = core.options.current
  const tooOld = days > 0 ? seconds(core.steady()) - days * daySeconds - 1 : 0
  const beyond = await failedCalls(core.db)
    .select('created_at')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(rowsMax)
    .limit(1)
    .executeTakeFirst()
  const last = Math.max(tooOld, beyond?.created_at ?? 0)
  let removed = 0
  while (last > 0 && !signal?.aborted) {
    const oldest = failedCalls(core.db)
      .select('id')
      .where('created_at', '<=', last)
      .orderBy('created_at')
      .orderBy('id')
      .limit(removedAtOnce)
    const { numDeletedRows } = await core.db.deleteFrom('logs').where('id', 'in', oldest).executeTakeFirstOrThrow()
    removed += Number(numDeletedRows)
    if (Number(numDeletedRows) < removedAtOnce) break
    await setImmediate()
  }
  return removed
}

/** The literal lets the database use the partial index of these rows. */
function failedCalls(db: Queries) {
  return db.selectFrom('logs').where((eb) => eb('type', '=', eb.lit(logType.error)))
}

async function runPurge(
  core: Core,
  { id, before, position }: Row<'log_purges'>,
  signal?: AbortSignal,
  tell: (detail: string) => void = () => {},
): Promise<number> {
  let sum = 0
  const onBatch = async (removed: number, reached: number) => {
    sum += removed
    tell(`${sum} rows`)
    const { numUpdatedRows } = await core.db
      .updateTable('log_purges')
      .set((eb) => ({ removed: eb('removed', '+', removed), position: reached }))
      .where('id', '=', id)
      .where('finished_at', '=', 0)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n && !signal?.aborted
  }
  const removed = await removeBefore(core, { from: position, before, signal, onBatch })
  if (signal?.aborted) return removed
  const finished_at = seconds(core.now())
  await core.db.updateTable('log_purges').set({ finished_at }).where('id', '=', id).where('finished_at', '=', 0).execute()
  return removed
}

interface Removal {
  readonly from: number
  readonly before: number
  readonly signal: AbortSignal | undefined
  /** Called after each batch with the deleted rows and the progress; false stops it. */
  onBatch(removed: number, reached: number): Promise<boolean>
}

/**
 * Rows that stay are skipped only once: each batch continues at the end of the previous one, and days without a charge are skipped.
 */
async function removeBefore(core: Core, { from, before, signal, onBatch }: Removal): Promise<number> {
  let removed = await dropOldMonths(core, before, signal)
  let position = from
  if (removed > 0 && !(await onBatch(removed, position))) return removed
  while (position < before) {
    const oldest = core.db
      .selectFrom('logs')
      .select('id')
      .where('created_at', '>=', position)
      .where('created_at', '<', Math.min(before, position + daySeconds))
      .where('type', '=', logType.consume)
      .orderBy('created_at')
      .orderBy('id')
      .limit(removedAtOnce)
    const gone = await core.db.deleteFrom('logs').where('id', 'in', oldest).returning('created_at').execute()
    removed += gone.length
    position =
      gone.length === removedAtOnce
        ? gone.reduce((latest, { created_at }) => Math.max(latest, created_at), position)
        : await nextCharge(core.db, Math.min(before, position + daySeconds), before)
    if (!(await onBatch(gone.length, position))) break
    await setImmediate()
  }
  return removed
}

async function dropOldMonths({ database }: Core, before: number, signal = new AbortController().signal): Promise<number> {
  return database.dialect === 'postgres' ? dropMonths(database, before, signal) : 0
}

async function nextCharge(db: Queries, from: number, before: number): Promise<number> {
  return Math.min(before, (await oldestCharge(db, from)) ?? before)
}

async function oldestCharge(db: Queries, from = 0): Promise<number | undefined> {
  const row = await db
    .selectFrom('logs')
    .select('created_at')
    .where('created_at', '>=', from)
    .where('type', '=', logType.consume)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.created_at
}

/** Progress is measured by time, so that no rows have to be counted first. */
function present({ oldest, position, before, finished_at, ...row }: Row<'log_purges'>): LogPurge {
  const span = before - oldest
  const progress = finished_at > 0 || span <= 0 ? 1 : Math.max(0, Math.min(0.99, (position - oldest) / span))
  return { ...row, before, finished_at, progress: finished_at === 0 && progress === 1 ? 0.99 : progress }
}
