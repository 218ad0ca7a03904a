import { pollTasks } from '../tasks/poll.ts'
import type { Job } from './runner.ts'

/** Polls upstreams for the progress of drawings and music, and refunds failed ones. */
export const pollUpstreamTasks: Job = {
  name: 'poll-tasks',
  label: { zh: '查询异步任务进度', en: 'Ask how drawings and songs are getting on' },
  on: 'one-node',
  everyMs: () => 15_000,
  deadlineMs: 120_000,
  run: (parts, signal) => pollTasks(parts, signal),
}
