import type { Job } from './runner.ts'

/** What channels with a daily limit were charged so far, on all nodes together. */
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
