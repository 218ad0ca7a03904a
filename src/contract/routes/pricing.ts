import { z } from 'zod'
import { routes } from '../route.ts'

/** US dollars per million tokens; null where a model has no such price. */
const prices = z.object({
  input: z.number(),
  output: z.number(),
  cache_read: z.number().nullable(),
  cache_write: z.number().nullable(),
  cache_audio_read: z.number().nullable(),
  cache_image_read: z.number().nullable(),
  audio_input: z.number().nullable(),
  audio_output: z.number().nullable(),
  image_input: z.number().nullable(),
  image_output: z.number().nullable(),
  video_output: z.number().nullable(),
})

export const priceProposal = z.object({
  model: z.string(),
  /** Who sells it at the proposed price. */
  vendor: z.string(),
  /** What is charged at present; null when the model has no price, or one per call. */
  current: prices.nullable(),
  /** US dollars per call that are charged at present, which a proposal would replace. */
  current_per_call: z.number().nullable(),
  /** Where the price rises with the length of the prompt, that of the longest prompts. */
  proposed: prices,
  /** Prompts of more tokens than this cost more with the vendor; null where the length does not matter. */
  steps_above: z.int().nullable(),
})
export type PriceProposal = z.output<typeof priceProposal>
export type TokenPrices = z.output<typeof prices>

/**
 * A row of the price list. By tokens (`quota_type` 0) a ratio of 1 is two US dollars per million tokens, and the other ratios multiply it
 * for what they name; by the call (1) `model_price` is in US dollars. The factor of the group comes on top.
 */
export const priceRow = z.object({
  model_name: z.string(),
  quota_type: z.int(),
  model_ratio: z.number(),
  model_price: z.number(),
  owner_by: z.string(),
  completion_ratio: z.number(),
  cache_ratio: z.number(),
  create_cache_ratio: z.number(),
  audio_ratio: z.number(),
  audio_completion_ratio: z.number(),
  image_ratio: z.number(),
  image_completion_ratio: z.number(),
  audio_cache_ratio: z.number(),
  image_cache_ratio: z.number(),
  video_completion_ratio: z.number(),
  /** Where the price comes from: '' for the fallback of self-use mode. `public` is public price data: whose, and the day of the data. */
  price_source: z.enum(['own', 'default', 'public', '']),
  price_vendor: z.string(),
  price_date: z.string(),
  /** What calls with prompts of more than `above` tokens cost instead, in ascending order. */
  steps: z.array(z.object({ above: z.int(), model_ratio: z.number(), completion_ratio: z.number(), cache_ratio: z.number() })),
  enable_groups: z.array(z.string()),
})
export type PriceRow = z.output<typeof priceRow>

/** What prices a model, for administrators. */
export const pricedModel = z.object({
  model: z.string(),
  /** Some enabled channel serves it. */
  served: z.boolean(),
  /** Null where nothing prices it. */
  source: z.enum(['own', 'default', 'public']).nullable(),
  /** The public price that is charged: whose it is, and the vendors of other channels that sell the model for less. */
  charged: z
    .object({ vendor: z.string(), cheaper: z.array(z.string()), prices, steps: z.array(z.object({ above: z.int(), prices })) })
    .nullable(),
  /** Why the public price of its vendor is not charged: sold by another measure than tokens, or free. */
  uncovered: z.enum(['unit', 'free']).nullable(),
  /** The public price that an administrator may accept for a model without a price. */
  proposal: priceProposal.nullable(),
})
export type PricedModel = z.output<typeof pricedModel>

export const pricingRoutes = routes({
  'GET /api/pricing': {
    access: 'public',
    summary:
      'What every model costs, and the groups that the reader can use; for visitors too unless the site keeps it to members',
    reply: z.array(priceRow),
    extra: z.object({ group_ratio: z.record(z.string(), z.number()), usable_group: z.record(z.string(), z.string()) }),
  },
  'GET /api/pricing/models': {
    access: 'admin',
    summary: 'What prices each model that has a price or is served by an enabled channel',
    reply: z.object({
      /** The day of the newest public price in force, as `2026-09-22`. */
      data_date: z.string(),
      models: z.array(pricedModel),
    }),
  },
  'GET /api/pricing/proposals': {
    access: 'admin',
    summary: 'Prices of the public price data that differ from those that are charged',
    reply: z.array(priceProposal),
  },
  'POST /api/pricing/proposals': {
    access: 'admin',
    summary: 'Charge the proposed prices of these models from now on',
    body: z.object({ models: z.array(z.string().min(1).max(255)).min(1).max(2000) }),
    reply: z.object({ accepted: z.int() }),
  },
})
