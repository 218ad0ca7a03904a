import { z } from 'zod'

/** Charges of one hour, as existing consoles read them. `created_at` is the beginning of the hour; `id` is always 0. */
export const quotaData = z.object({
  id: z.int(),
  user_id: z.int(),
  username: z.string(),
  model_name: z.string(),
  created_at: z.int(),
  token_used: z.int(),
  count: z.int(),
  quota: z.int(),
})
export type QuotaData = z.output<typeof quotaData>

export const sumsBy = ['model', 'user', 'channel', 'group'] as const
export type SumsBy = (typeof sumsBy)[number]
export const grains = ['hour', 'day', 'week'] as const
export type Grain = (typeof grains)[number]
export const grainSeconds: Readonly<Record<Grain, number>> = { hour: 3600, day: 86_400, week: 604_800 }

const sums = { quota: z.int(), count: z.int(), token_used: z.int() }

/**
 * Charges of a time range, by time and by one dimension. `keys` are the largest by quota; if there are more, the last is '*' for the
 * sum of the others. `name` is the display name of a user or channel, '' if it is deleted.
 */
export const usageSums = z.object({
  keys: z.array(z.object({ key: z.string(), name: z.string(), ...sums })),
  points: z.array(z.object({ at: z.int(), key: z.string(), ...sums })),
  total: z.object(sums),
})
export type UsageSums = z.output<typeof usageSums>
