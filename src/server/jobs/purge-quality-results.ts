import { purgeResults } from '../quality/results.ts'
import type { Job } from './runner.ts'

/** Deletes results of quality checks that are older than their retention. */
export const purgeQualityResults: Job = {
  name: 'purge-quality-results',
  label: { zh: '清理质量检查结果', en: 'Delete old results of quality checks' },
  on: 'one-node',
  everyMs: () => 3_600_000,
  deadlineMs: 60_000,
  run: async (app, signal) => `removed ${await purgeResults(app, signal)} results`,
}
