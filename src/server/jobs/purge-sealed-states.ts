import type { Job } from './runner.ts'

/** Deletes sealed states of abandoned conversations. */
export const purgeSealedStates: Job = {
  name: 'purge-sealed-states',
  label: { zh: '清理过期的会话状态', en: 'Forget expired conversation states' },
  on: 'one-node',
  everyMs: () => 30 * 60_000,
  deadlineMs: 60_000,
  async run({ sealedStates }) {
    await sealedStates.purge()
    return 'purged'
  },
}
