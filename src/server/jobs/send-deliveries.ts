import { queueFailedCalls } from '../notify/queue-failed-calls.ts'
import { sendDeliveries } from '../notify/send-deliveries.ts'
import type { Job } from './runner.ts'

/** Sends queued alerts and events to their destinations. */
export const sendQueuedDeliveries: Job = {
  name: 'send-deliveries',
  label: { zh: '发送告警与事件', en: 'Send alerts and events' },
  on: 'one-node',
  everyMs: () => 5_000,
  deadlineMs: 60_000,
  async run(app, signal) {
    await queueFailedCalls(app)
    const { sent, failed } = await sendDeliveries(app, signal)
    return `${sent} sent, ${failed} failed`
  },
}
