import { settleOpenResponses } from '../relay/settle-responses.ts'
import type { Job } from './runner.ts'

/** Charges responses that ran on in the background, although nobody may ever read them. */
export const settleResponses: Job = {
  name: 'settle-responses',
  label: { zh: '结算后台回复', en: 'Charge responses in the background' },
  on: 'each-node',
  everyMs: () => 5_000,
  deadlineMs: 90_000,
  async run(parts, signal) {
    return `${await settleOpenResponses(parts, signal)} closed`
  },
}
