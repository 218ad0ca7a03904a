import type { Job } from './runner.ts'

/** Removes expired sessions and failed logins that no longer count. */
export const purgeSessions: Job = {
  name: 'purge-sessions',
  on: 'one-node',
  everyMs: () => 60 * 60_000,
  deadlineMs: 60_000,
  async run({ sessions }) {
    await sessions.purge()
    return 'purged'
  },
}
