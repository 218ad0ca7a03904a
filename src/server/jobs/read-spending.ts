import type { Job } from './runner.ts'

/** What channels with a daily limit were charged so far, on all nodes together. */
export const readSpending: Job = {
  name: 'read-spending',
  on: 'each-node',
  everyMs: () => 10_000,
  deadlineMs: 30_000,
  async run({ spending, channels }) {
    await spending.refresh(channels.current)
    return 'read'
  },
}
