import { runChecks } from '../quality/run-checks.ts'
import type { Job } from './runner.ts'

/** Runs the quality checks that are due. */
export const runQualityChecks: Job = {
  name: 'run-quality-checks',
  label: { zh: '运行质量检查', en: 'Run quality checks' },
  on: 'one-node',
  onDemand: true,
  everyMs: ({ QualityCheckDailyQuota }) => (QualityCheckDailyQuota > 0 ? 60_000 : 0),
  deadlineMs: 3_600_000,
  run: runChecks,
}
