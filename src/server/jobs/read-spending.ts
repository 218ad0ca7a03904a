import type { Job } from './runner.ts'

/** Reads the charges so far of channels with a daily limit, over all nodes. */
export const readSpending: Job = {
  name: 'read-spending',
  label: { zh: '读取渠道当日消耗', en: 'Read what channels have spent today' },
  on: 'each-node',
  everyMs: () => 10_000,
  deadlineMs: 30_000,
  async run({ spending, channels }) {
    await spending.refresh(channels.current)
    return 'read'
  },
}
