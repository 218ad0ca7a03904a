import { partitionLog as partition } from '../../base/db/log-partitions.ts'
import type { Job } from './runner.ts'

/** Partitions the log by month, and makes the partitions of the next months; on PostgreSQL alone. */
export const partitionLog: Job = {
  name: 'partition-log',
  label: { zh: '按月分区日志', en: 'Partition the log by month' },
  on: 'one-node',
  onDemand: true,
  // Short, so that it follows the build of the last index soon.
  everyMs: () => 60_000,
  deadlineMs: 24 * 3_600_000,
  async run({ database, logger, now }, signal, tell) {
    if (database.dialect === 'sqlite') return 'only on PostgreSQL'
    const { hasChanged, detail } = await partition(database, { now, signal, tell })
    if (hasChanged) logger.info({ detail }, 'the log is partitioned by month')
    return detail
  },
}
