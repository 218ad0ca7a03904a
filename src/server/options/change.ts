import type { Topic } from '../bus/bus.ts'
import type { Within } from '../db/open.ts'
import { type AuditEntry, recordAudit } from './audit.ts'
import type { Core } from './core.ts'

/** A change as the audit log and the bus report it. */
export interface Change extends Omit<AuditEntry, 'caller'> {
  /** Published after the commit. */
  readonly topic?: Topic
  /** The row of the topic that changed; absent for any of them. */
  readonly id?: number
}

/** Reports a change. */
export type Audit = (change: Change) => void

/**
 * Changes rows by an action of an admin, or of the system if `caller` is undefined. `step` runs in a transaction and reports what it
 * changed; the row of the audit log commits together with the change, and the topic is published after the commit. A step that does
 * not report anything is neither audited nor published.
 *
 *     await change(core, caller, async (within, audit) => {
 *       const row = await lockChannel(core, within, id)
 *       await within.updateTable('channels').set({ tag }).where('id', '=', id).execute()
 *       audit({ action: 'channel.tag', target: `channel:${id}`, before: row.tag, after: tag, topic: 'channels', id })
 *     })
 */
export async function change<Result>(
  core: Pick<Core, 'db' | 'database' | 'secrets' | 'now' | 'bus'>,
  caller: AuditEntry['caller'],
  step: (within: Within, audit: Audit) => Promise<Result>,
): Promise<Result> {
  let changes: Change[] = []
  const result = await core.db.transaction().execute(async (within) => {
    // A transaction that is retried begins again.
    changes = []
    const result = await step(within, (reported) => changes.push(reported))
    // Last, because writers of the audit log wait for each other until they commit.
    for (const reported of changes) await recordAudit(core, within, { caller, ...reported })
    return result
  })
  for (const { topic, id } of changes) if (topic) core.bus.publish(topic, id)
  return result
}
