import { seconds } from '../lib/clock.ts'
import { removeOldCallSums } from '../usage/call-sums.ts'
import type { Job } from './runner.ts'

/** Deletes statistics of calls that are older than their retention. */
export const purgeCallStatistics: Job = {
  name: 'purge-call-statistics',
  label: { zh: '清理调用统计', en: 'Clean statistics of calls' },
  on: 'one-node',
  everyMs: () => 3_600_000,
  deadlineMs: 10 * 60_000,
  async run(app) {
    return `removed ${await removeOldCallSums(app.db, seconds(app.now()))} rows`
  },
}
