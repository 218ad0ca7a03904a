import { notifyImplausibleUsage } from '../channels/notify-implausible-usage.ts'
import type { Job } from './runner.ts'

/** Notifies the super admins of channels that report more usage than their requests can have. */
export const notifyOfImplausibleUsage: Job = {
  name: 'tell-implausible-usage',
  label: { zh: '通知上报用量不合理的渠道', en: 'Tell of channels with implausible usage' },
  on: 'one-node',
  everyMs: () => 60_000,
  deadlineMs: 120_000,
  async run(app, signal) {
    return `${await notifyImplausibleUsage(app, signal)} told`
  },
}
