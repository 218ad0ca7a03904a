import { expireMissingEndpoints } from '../channels/missing-endpoints.ts'
import type { Job } from './runner.ts'

/** An endpoint that the upstream of a channel was found to lack is tried again after a day. */
export const forgetMissingEndpoints: Job = {
  name: 'forget-lacking-endpoints',
  label: { zh: '重新尝试上游缺少的接口', en: 'Try endpoints again that upstreams lacked' },
  on: 'one-node',
  everyMs: () => 10 * 60_000,
  deadlineMs: 60_000,
  run: async (app) => `${await expireMissingEndpoints(app)} channels`,
}
