import { purgeTasks } from '../tasks/purge.ts'
import { runPurges } from '../usage/purge.ts'
import type { Job } from './runner.ts'

/** Purges the log on admins' requests, and log and tasks older than their retention. */
export const purgeLogs: Job = {
  name: 'purge-logs',
  label: { zh: '清理日志', en: 'Clean the log' },
  on: 'one-node',
  onDemand: true,
  everyMs: () => 60_000,
  deadlineMs: 50 * 60_000,
  async run(app, signal, tell) {
    const rows = await runPurges(app, signal, tell)
    return `removed ${rows} rows and ${await purgeTasks(app, signal)} tasks`
  },
}
