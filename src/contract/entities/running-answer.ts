import { z } from 'zod'

/** A streamed answer that is being written, and that its caller can continue after a cut. */
export const runningAnswer = z.object({
  request_id: z.string(),
  user_id: z.int(),
  username: z.string(),
  /** '' for the playground. */
  token_name: z.string(),
  model: z.string(),
  /** Its caller is gone, and nobody follows it. */
  is_left: z.boolean(),
  created_at: z.int(),
})
export type RunningAnswer = z.output<typeof runningAnswer>
