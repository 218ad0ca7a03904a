import { readLastBackup } from '../../base/db/last-backup.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { noteNodeMeasures } from '../alerts/note-measures.ts'
import type { Job } from './runner.ts'

const forgottenAfterSeconds = 3600

/** Records that this node is alive, deletes nodes that have been gone for an hour, and reads what the metrics of each node tell. */
export const noteNode: Job = {
  name: 'note-node',
  label: { zh: '报告节点状态', en: 'Report that the node is alive' },
  on: 'each-node',
  everyMs: () => 20_000,
  deadlineMs: 15_000,
  async run(app) {
    const { db, node: name, version, startedAt, now } = app
    const state = { version, started_at: startedAt, seen_at: seconds(now()), memory_mb: memoryMb() }
    await db
      .insertInto('nodes')
      .values({ name, ...state })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(state))
      .execute()
    await db
      .deleteFrom('nodes')
      .where('seen_at', '<', state.seen_at - forgottenAfterSeconds)
      .execute()
    app.metrics.lastBackup.set((await readLastBackup(db))?.made_at ?? 0)
    await noteNodeMeasures(app)
    return 'noted'
  },
}

/** Takes a node that stops out of the list. One that dies stays in it, with the time of its last report. */
export async function forgetNode({ db, node }: Pick<Core, 'db' | 'node'>): Promise<void> {
  await db.deleteFrom('nodes').where('name', '=', node).execute()
}

export function memoryMb(): number {
  return Math.round(process.memoryUsage.rss() / 1024 / 1024)
}
