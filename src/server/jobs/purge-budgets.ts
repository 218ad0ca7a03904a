import { purgeBudgetSums } from '../limits/budget-use.ts'
import type { Job } from './runner.ts'

/** Deletes the sums of budget windows that ended long ago. */
export const purgeBudgets: Job = {
  name: 'purge-budgets',
  label: { zh: '清理过期的预算周期', en: 'Delete old windows of budgets' },
  on: 'one-node',
  everyMs: () => 6 * 3_600_000,
  deadlineMs: 300_000,
  async run(app) {
    return `removed ${await purgeBudgetSums(app)} rows`
  },
}
