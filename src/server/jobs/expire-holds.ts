import type { Job } from './runner.ts'

/** Ends the holds of dead nodes, so that their quota is available again within a minute. */
export const expireHolds: Job = {
  name: 'expire-holds',
  label: { zh: '释放过期的预扣额度', en: 'Release expired holds' },
  on: 'one-node',
  everyMs: () => 15_000,
  deadlineMs: 60_000,
  async run({ ledger }) {
    const { settled, released } = await ledger.expire()
    return `${settled} settled, ${released} released`
  },
}
