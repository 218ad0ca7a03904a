import { z } from 'zod'
import type { Label } from './task.ts'

/** A batch, as lists show it. Times in unix seconds. `channel_id` is 0 and `username` '' for its owner. */
export const batch = z.object({
  /** Its place in the list. */
  id: z.int(),
  /** The id that callers see. */
  batch_id: z.string(),
  user_id: z.int(),
  username: z.string(),
  channel_id: z.int(),
  /** A key of `batchDialects`. */
  dialect: z.string(),
  models: z.array(z.string()),
  /** A key of `batchStateLabels`. */
  state: z.string(),
  requests: z.int(),
  /** Requests that the vendor has answered, and those that have failed, as far as it tells. */
  done: z.int(),
  failed: z.int(),
  /** Units that it holds until it is charged, and what it has cost then. */
  held: z.int(),
  quota: z.int(),
  created_at: z.int(),
  /** 0 while it is not charged. */
  ended_at: z.int(),
  /** Files with its results and errors, for callers; '' where there is none. */
  output_file: z.string(),
  error_file: z.string(),
  /** Why it has failed; '' for others. */
  fail_reason: z.string(),
})
export type Batch = z.output<typeof batch>

/** A request of a batch. */
export const batchLine = z.object({
  line: z.int(),
  custom_id: z.string(),
  model: z.string(),
  /** It has a reply, which is charged. */
  charged: z.boolean(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  /** In units. */
  held: z.int(),
  quota: z.int(),
  /** Its tokens were counted here, because its reply names none. */
  estimated: z.boolean(),
})
export type BatchLine = z.output<typeof batchLine>

/** The endpoints whose requests may be in a batch of OpenAI's. */
export const batchEndpoints = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/moderations',
  '/v1/images/generations',
] as const

export const batchDialects: Readonly<Record<string, string>> = { openai: 'OpenAI', anthropic: 'Anthropic', gemini: 'Gemini' }

export const batchStateLabels: Readonly<Record<string, Label>> = {
  held: { label: { zh: '正在提交', en: 'Submitting' }, color: 'gray' },
  creating: { label: { zh: '正在提交', en: 'Submitting' }, color: 'gray' },
  running: { label: { zh: '执行中', en: 'Running' }, color: 'blue' },
  ended: { label: { zh: '结算中', en: 'Charging' }, color: 'yellow' },
  settled: { label: { zh: '已结束', en: 'Ended' }, color: 'green' },
  failed: { label: { zh: '失败', en: 'Failed' }, color: 'red' },
}
