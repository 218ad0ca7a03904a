import { statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { readLastBackup } from '../../base/db/last-backup.ts'
import { purgeOtherAnswers } from '../../gateway/channels/health/answered-models.ts'
import type { App } from '../parts.ts'
import { notedBudgets } from './budget-rule.ts'
import { noteMeasures, purgeMeasures } from './measures.ts'

/** Stores the values that only this node can measure: its disk, memory and queue, and its open circuit breakers. */
export async function noteNodeMeasures(app: App): Promise<void> {
  const { node, metrics } = app
  const { readings } = metrics
  const own = (value: number) => [{ subject: `node:${node}`, name: node, value }]
  const free = await freeShare(app.env.DATA_DIR)
  if (free !== undefined) await noteMeasures(app, 'disk-space', own(free * 100), node)
  await noteMeasures(app, 'memory', own(memoryShare() * 100), node)
  await noteMeasures(app, 'queue', own(readings.ledgerWaiting() + readings.failedCallsWaiting()), node)
  await noteMeasures(app, 'breaker-open', openBreakers(app), node)
  await app.answeredModels.flush()
}

/**
 * Stores the values that are the same on all nodes: balances of channels, shares of budgets, the age of the last backup, and jobs whose
 * last run failed.
 */
export async function noteSiteMeasures(app: App): Promise<void> {
  const channels = await app.db
    .selectFrom('channels')
    .select(['id', 'name', 'balance'])
    .where('status', '=', channelStatus.enabled)
    .where('balance_updated_time', '>', 0)
    .execute()
  const balances = channels.map(({ id, name, balance }) => ({
    subject: `channel:${id}`,
    name: `${name} (#${id})`,
    value: balance,
  }))
  await noteMeasures(app, 'channel-balance', balances)
  await noteMeasures(app, 'budget-share', await notedBudgets(app))
  const backup = await readLastBackup(app.db)
  if (backup) await noteMeasures(app, 'backup-age', [{ subject: 'site', name: '', value: hoursSince(backup.made_at, app.now()) }])
  const jobs = await app.db.selectFrom('job_runs').select('name').where('outcome', 'in', ['failed', 'timeout']).execute()
  await noteMeasures(
    app,
    'job-failed',
    jobs.map(({ name }) => ({ subject: `job:${name}`, name, value: 1 })),
  )
  await purgeMeasures(app)
  await purgeOtherAnswers(app)
}

/** Not negative, where the clock of the machine that made the backup is ahead. */
function hoursSince(at: number, nowMs: number): number {
  return Math.max(0, nowMs / 1000 - at) / 3600
}

function openBreakers({ channels, traffic }: App) {
  return [...channels.current.byId.values()].flatMap(({ id, name }) => {
    const value = channels.current.keysOf(id).filter((key) => traffic.breaker(key) !== 'closed').length
    return value > 0 ? [{ subject: `channel:${id}`, name: `${name} (#${id})`, value }] : []
  })
}

/** The free share of a file system, from 0 to 1; undefined when it cannot be read. */
async function freeShare(folder: string): Promise<number | undefined> {
  const disk = await statfs(folder).catch(() => undefined)
  return disk && disk.blocks > 0 ? disk.bavail / disk.blocks : undefined
}

/** The used share of the memory of the machine or container, or of the heap: the greater one, from 0 to 1. */
function memoryShare(): number {
  const { used_heap_size: used, heap_size_limit: most } = getHeapStatistics()
  const machine = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())
  return Math.max(process.memoryUsage.rss() / machine, used / most)
}
