import { setTimeout } from 'node:timers/promises'
import { withLease } from '../../base/bus/lease.ts'
import { fail } from '../../base/lib/failure.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { eitherOf, idColumn, type TaskTable } from './task-table.ts'

/**
 * One drawing, one charge: proxies answer a repeated order with the id of the existing drawing. Two such orders may run at the same time on
 * two nodes, and the repetition may be charged before the first order.
 */
interface OwnTask {
  readonly table: TaskTable
  readonly userId: number
  /** '' for a task without an id at the upstream, which cannot be a repetition. */
  readonly upstreamId: string
}

const leaseMs = 30_000
const triesMax = 300
const pauseMs = 50

/** The proxy's code for a repeated order. */
const repeatedCode = 21

/** Runs `work` under a lease on this task of this user, over all nodes. Throws `server_busy` when the lease stays taken. */
export async function withTaskLock(
  app: Pick<RelayParts, 'database' | 'logger' | 'node' | 'now'>,
  { table, userId, upstreamId }: OwnTask,
  work: () => Promise<void>,
): Promise<void> {
  if (table !== 'midjourneys' || upstreamId === '') return work()
  const lease = { name: `task:${userId}:${upstreamId}`, ms: leaseMs }
  for (let tries = 0; tries < triesMax; tries++) {
    const done = await withLease(app, lease, async () => {
      await work()
      return true
    })
    if (done) return
    await setTimeout(pauseMs)
  }
  fail('server_busy')
}

/**
 * Whether the user was already charged at least this amount for the task: for a repetition by any order of it, for a first order by a
 * repetition that was charged earlier.
 */
export async function hasPaid(
  { db }: Pick<RelayParts, 'db'>,
  { table, userId, upstreamId }: OwnTask,
  { action, isRepeated, amount }: { action: string; isRepeated: boolean; amount: number },
): Promise<boolean> {
  if (table !== 'midjourneys' || upstreamId === '') return false
  const known = db
    .selectFrom(eitherOf(table))
    .select('id')
    .where(idColumn(table), '=', upstreamId)
    .where('user_id', '=', userId)
    .where('status', '<>', 'FAILURE')
    .where('quota', '>=', amount)
  const paid = isRepeated ? known : known.where('code', '=', repeatedCode).where('action', '=', action)
  return (await paid.executeTakeFirst()) !== undefined
}
