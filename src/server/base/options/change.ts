import type { Topic } from '../bus/bus.ts'
import type { Within } from '../db/open.ts'
import { type AuditEntry, recordAudit } from './audit.ts'
import type { Core } from './core.ts'

/** Published after the commit. */
interface Publication {
  readonly topic: Topic
  /** The row of the topic that changed; absent for any of them. */
  readonly id?: number
}

/** An action of the audit log. */
interface Action extends Omit<AuditEntry, 'caller'>, Partial<Publication> {}

/** What people change of their own, and what the gateway learns from calls, is not in the audit log. */
interface OwnChange extends Publication {
  readonly action?: undefined
}

type Change = Action | OwnChange

/** Reports a change. */
export type Report = (change: Change) => void

/** Changes rows, and reports what it changed. */
export type Step<Result> = (within: Within, report: Report) => Promise<Result>

/** A step that has run, and what is published after the commit. */
export interface Changed<Result> {
  readonly result: Result
  readonly changes: readonly Change[]
}

/** Undefined for an action of the system itself, and where no action is reported. */
type Actor = AuditEntry['caller']

/**
 * Changes rows: the step runs in a transaction, the row of the audit log commits together with the action that it reports, and the topic
 * is published after the commit. A change that is reported without an action is published and not audited; a step that reports nothing is
 * neither audited nor published. A step may run again, after a conflict with another transaction.
 *
 *     await change(core, caller, async (within, audit) => {
 *       const { tag: before } = await lockChannel(core, within, id)
 *       await within.updateTable('channels').set({ tag }).where('id', '=', id).execute()
 *       audit({ action: 'channel.tag', target: `channel:${id}`, before, after: tag, topic: 'channels', id })
 *     })
 *
 *     await change(core, caller, async (within, report) => {
 *       await within.updateTable('users').set({ display_name }).where('id', '=', caller.id).execute()
 *       report({ topic: 'user', id: caller.id })
 *     })
 */
export async function change<Result>(
  core: Pick<Core, 'db' | 'database' | 'secrets' | 'now' | 'bus'>,
  caller: Actor,
  step: Step<Result>,
): Promise<Result> {
  const { result, changes } = await core.db.transaction().execute((within) => changeWithin(core, within, caller, step))
  publishChanges(core, changes)
  return result
}

/** The same as a part of a transaction: whoever commits it publishes the changes. */
export async function changeWithin<Result>(
  core: Pick<Core, 'database' | 'secrets' | 'now'>,
  within: Within,
  caller: Actor,
  step: Step<Result>,
): Promise<Changed<Result>> {
  const changes: Change[] = []
  const result = await step(within, (reported) => changes.push(reported))
  // Last, because writers of the audit log wait for each other until they commit.
  for (const reported of changes) if (reported.action !== undefined) await recordAudit(core, within, { caller, ...reported })
  return { result, changes }
}

export function publishChanges({ bus }: Pick<Core, 'bus'>, changes: readonly Change[]): void {
  for (const { topic, id } of changes) if (topic) bus.publish(topic, id)
}
