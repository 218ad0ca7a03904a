import { setImmediate } from 'node:timers/promises'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { eitherOf, type TaskTable, taskTables, timeIn } from './task-table.ts'

const removedAtOnce = 500
const daySeconds = 86_400

/**
 * Deletes ended drawings, music and videos older than their retention, in small batches, so that other writes run in between. Running tasks
 * stay, and so do charges, refunds and their log rows. Returns the number of deleted rows.
 */
export async function purgeTasks(core: Core, signal?: AbortSignal): Promise<number> {
  const { TaskRetentionDays: days } = core.options.current
  if (days === 0) return 0
  const before = seconds(core.now()) - days * daySeconds
  let removed = 0
  for (const table of taskTables) removed += await removeBefore(core, table, before, signal)
  return removed
}

async function removeBefore({ db }: Core, table: TaskTable, before: number, signal: AbortSignal | undefined): Promise<number> {
  let removed = 0
  for (;;) {
    const oldest = db
      .selectFrom(eitherOf(table))
      .select('id')
      .where('submit_time', '<', timeIn(table, before * 1000))
      // 0 when it is no longer polled: it has ended.
      .where('ask_at', '=', 0)
      .orderBy('submit_time')
      .limit(removedAtOnce)
    const { numDeletedRows } = await db.deleteFrom(eitherOf(table)).where('id', 'in', oldest).executeTakeFirstOrThrow()
    removed += Number(numDeletedRows)
    if (numDeletedRows < removedAtOnce || signal?.aborted) return removed
    await setImmediate()
  }
}
