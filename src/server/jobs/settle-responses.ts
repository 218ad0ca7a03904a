import { settlePendingResponses } from '../relay/stored-responses/pending-responses.ts'
import type { Job } from './runner.ts'

/** Charges responses that ended in the background, whether or not the caller has read them; marks those of dead nodes as failed. */
export const settleResponses: Job = {
  name: 'settle-responses',
  label: { zh: '结算后台回复', en: 'Charge responses in the background' },
  on: 'each-node',
  everyMs: () => 5_000,
  deadlineMs: 90_000,
  async run(parts, signal) {
    await parts.localResponses.failLost()
    return `${await settlePendingResponses(parts, signal)} closed`
  },
}
