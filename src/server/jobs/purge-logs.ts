import { runPurges } from '../usage/purge.ts'
import type { Job } from './runner.ts'

/** Cleans the log as admins asked, and of what is older than it is kept. */
export const purgeLogs: Job = {
  name: 'purge-logs',
  label: { zh: '清理日志', en: 'Clean the log' },
  on: 'one-node',
  onDemand: true,
  everyMs: () => 60_000,
  deadlineMs: 50 * 60_000,
  async run(app, signal, tell) {
    return `removed ${await runPurges(app, signal, tell)} rows`
  },
}
