import type { Job } from './runner.ts'

/**
 * Deletes the locations of responses that their upstreams no longer store, and responses whose retention on this server has ended.
 */
export const purgeStoredResponses: Job = {
  name: 'purge-kept-responses',
  label: { zh: '清理过期的回复位置', en: 'Forget expired responses' },
  on: 'one-node',
  everyMs: () => 60 * 60_000,
  deadlineMs: 60_000,
  async run({ upstreamResponses, localResponses }) {
    await upstreamResponses.purge()
    await localResponses.purge()
    return 'purged'
  },
}
