import { warnLowQuota } from '../accounts/low-quota.ts'
import type { Job } from './runner.ts'

/** Notifies users whose balance fell below their threshold. */
export const warnOfLowQuota: Job = {
  name: 'warn-low-quota',
  label: { zh: '发送低额度提醒', en: 'Warn of low quota' },
  on: 'each-node',
  everyMs: () => 15_000,
  deadlineMs: 120_000,
  async run(app, signal) {
    return `${await warnLowQuota(app, signal)} warned`
  },
}
