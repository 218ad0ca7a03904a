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

/** Records that this version begins to run, unless it was the last that did. Several nodes that start together record it once. */
export async function recordDeployment({ db, now }: Pick<Core, 'db' | 'now'>, version: string): Promise<void> {
  for (;;) {
    const last = await db.selectFrom('deployments').selectAll().orderBy('number', 'desc').limit(1).executeTakeFirst()
    if (last?.version === version) return
    const row = { number: (last?.number ?? 0) + 1, version, at: seconds(now()) }
    const { numInsertedOrUpdatedRows: made } = await db
      .insertInto('deployments')
      .values(row)
      .onConflict((conflict) => conflict.column('number').doNothing())
      .executeTakeFirst()
    // Another node was faster: with this version, or with another one.
    if (made === 1n) return
  }
}

export function memoryMb(): number {
  return Math.round(process.memoryUsage.rss() / 1024 / 1024)
}
