import type { Job } from './runner.ts'

/** Forgets where responses lie that their upstreams have removed by now, and removes those that this server has kept long enough. */
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
