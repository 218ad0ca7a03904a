import { z } from 'zod'

/** A model as `/v1/models` lists it. */
export const model = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
})
export type Model = z.output<typeof model>
