import { notifyBudgets } from '../alerts/notify-budgets.ts'
import type { Job } from './runner.ts'

/** Announces budgets that have reached one of their shares. */
export const notifyOfBudgets: Job = {
  name: 'notify-budgets',
  label: { zh: '提醒预算使用比例', en: 'Announce shares of budgets' },
  on: 'one-node',
  everyMs: () => 15_000,
  deadlineMs: 120_000,
  async run(app, signal) {
    return `${await notifyBudgets(app, signal)} announced`
  },
}
