import type { Job } from './runner.ts'

/** Deletes expired idempotency keys with their replies, and the oldest replies beyond the limit of the site. */
export const purgeIdempotentRequests: Job = {
  name: 'purge-idempotent-requests',
  label: { zh: '清理过期的幂等请求', en: 'Delete expired idempotency keys' },
  on: 'one-node',
  everyMs: () => 15 * 60_000,
  deadlineMs: 60_000,
  async run({ idempotentRequests }) {
    await idempotentRequests.purge()
    return 'purged'
  },
}
