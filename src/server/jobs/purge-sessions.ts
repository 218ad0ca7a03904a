import type { Job } from './runner.ts'

/** Removes expired sessions and failed logins that no longer count. */
export const purgeSessions: Job = {
  name: 'purge-sessions',
  label: { zh: '清理过期的登录会话', en: 'Remove expired sessions' },
  on: 'one-node',
  onDemand: true,
  everyMs: () => 60 * 60_000,
  deadlineMs: 60_000,
  async run({ sessions }) {
    await sessions.purge()
    return 'purged'
  },
}
