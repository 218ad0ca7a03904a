import type { Job } from './runner.ts'

/** Deletes recordings of calls that are older than their retention, those of deleted users, and the oldest beyond the limit of the site. */
export const purgeRecordings: Job = {
  name: 'purge-recordings',
  label: { zh: '清理调用记录', en: 'Delete old recordings of calls' },
  on: 'one-node',
  everyMs: () => 15 * 60_000,
  deadlineMs: 60_000,
  async run({ recordings }, signal) {
    return `removed ${await recordings.purge(signal)} recordings`
  },
}
