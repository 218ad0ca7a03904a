import { foldUsage } from '../usage/fold.ts'
import type { Job } from './runner.ts'

/** Folds the charges of the hours that are over into sums that lists and dashboards read fast. */
export const rollUpUsage: Job = {
  name: 'roll-up-usage',
  label: { zh: '汇总用量', en: 'Sum up usage' },
  on: 'one-node',
  onDemand: true,
  everyMs: ({ DataExportInterval }) => DataExportInterval * 60_000,
  deadlineMs: 50 * 60_000,
  async run(app, signal) {
    return `folded ${await foldUsage(app, signal)} hours`
  },
}
