import { rollUpHours } from '../usage/roll-up.ts'
import type { Job } from './runner.ts'

/** Rolls up the charges of past hours into sums that lists and dashboards read fast. */
export const rollUpUsage: Job = {
  name: 'roll-up-usage',
  label: { zh: '汇总用量', en: 'Sum up usage' },
  on: 'one-node',
  onDemand: true,
  everyMs: ({ DataExportInterval }) => DataExportInterval * 60_000,
  deadlineMs: 50 * 60_000,
  async run(app, signal) {
    return `rolled up ${await rollUpHours(app, signal)} hours`
  },
}
