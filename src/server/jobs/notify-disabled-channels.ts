import { notifyDisabledChannels } from '../channels/notify-disabled.ts'
import type { Job } from './runner.ts'

/** Notifies the super admins of automatically disabled channels. */
export const notifyOfDisabledChannels: Job = {
  name: 'tell-disabled-channels',
  label: { zh: '通知被自动禁用的渠道', en: 'Tell of channels that were disabled' },
  on: 'one-node',
  everyMs: () => 15_000,
  deadlineMs: 120_000,
  async run(app, signal) {
    return `${await notifyDisabledChannels(app, signal)} told`
  },
}
