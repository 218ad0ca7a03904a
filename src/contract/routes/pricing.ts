import { z } from 'zod'
import { routes } from '../route.ts'
import { soundKinds } from '../video-price.ts'

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

// Exactly the members of the object.
export const tokenPriceNames = Object.keys(prices.shape) as readonly (keyof z.output<typeof prices>)[]

const priceProposal = z.object({
  model: z.string(),
  /** The vendor whose price is proposed. */
  vendor: z.string(),
  /** The present price; null when the model has none, or one per call. */
  current: prices.nullable(),
  /** US dollars per call charged at present, which a proposal would replace. */
  current_per_call: z.number().nullable(),
  /** If the price depends on the prompt length, the price of the longest prompts. */
  proposed: prices,
  /** Prompts of more tokens than this cost more with the vendor; null where the length does not matter. */
  steps_above: z.int().nullable(),
})
export type PriceProposal = z.output<typeof priceProposal>
export type TokenPrices = z.output<typeof prices>

/** The price table of a model of videos, before the group ratio; its form is that of `VideoPrice`. */
const clipPrice = z.object({
  per: z.enum(['second', 'clip']),
  seconds: z.object({ usual: z.number(), longest: z.number() }),
  rates: z.array(z.object({ resolution: z.string(), sound: z.enum(soundKinds), usd: z.number() })).readonly(),
})

/**
 * A row of the price list. By tokens (`quota_type` 0) a ratio of 1 is two US dollars per million tokens, and the other ratios multiply
 * it for their kind of tokens; by the call (1) `model_price` is in US dollars: for a model with
 * `clips`, of a clip of the usual length at its first rate. The group ratio is applied on top.
 */
const priceRow = z.object({
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
  /** The source of the price: '' for the fallback of self-use mode, and for price tables of videos. `public` is public price data: its vendor and date. */
  price_source: z.enum(['own', 'default', 'public', '']),
  price_vendor: z.string(),
  price_date: z.string(),
  clips: clipPrice.nullable(),
  /** Prices of calls with prompts of more than `above` tokens, in ascending order. */
  steps: z.array(z.object({ above: z.int(), model_ratio: z.number(), completion_ratio: z.number(), cache_ratio: z.number() })),
  /** The day since which the price applies, as `2026-12-01`, and the hours of a day in which it does, as `01:00–04:00`; '' without. UTC. */
  price_from: z.string(),
  price_hours: z.string(),
  /** The prices from a later day on (`from`), and those of other hours of a day (`hours`). */
  later: z.array(
    z.object({
      from: z.string(),
      hours: z.string(),
      model_ratio: z.number(),
      completion_ratio: z.number(),
      cache_ratio: z.number(),
      create_cache_ratio: z.number(),
    }),
  ),
  enable_groups: z.array(z.string()),
  /** When the model ends on this site, and what its vendor recommends ('' for nothing); null while no end is known. */
  end: z.object({ date: z.string(), successor: z.string() }).nullable(),
  /** From this day on, the vendor of a channel answers by another model, at the price of that one; null without. */
  redirect: z.object({ answered_by: z.string(), from: z.string() }).nullable(),
})
export type PriceRow = z.output<typeof priceRow>

/** The price of a model and its source, for administrators. */
const pricedModel = z.object({
  model: z.string(),
  /** At least one enabled channel serves it. */
  served: z.boolean(),
  /** Null when it has no price. */
  source: z.enum(['own', 'default', 'public']).nullable(),
  /** The public price that is charged: its vendor, and the vendors of other channels that sell the model for less. */
  charged: z
    .object({ vendor: z.string(), cheaper: z.array(z.string()), prices, steps: z.array(z.object({ above: z.int(), prices })) })
    .nullable(),
  /** Why the public price of its vendor is not charged: billed by another unit than tokens, or free. */
  uncovered: z.enum(['unit', 'free']).nullable(),
  /** The public price that an administrator may accept for a model without a price. */
  proposal: priceProposal.nullable(),
})
export type PricedModel = z.output<typeof pricedModel>

const publishedPrice = z.object({
  prices,
  steps: z.array(z.object({ above: z.int(), prices })),
  /** Why it is not charged: billed by another unit than tokens, or free. */
  uncovered: z.enum(['unit', 'free']).nullable(),
})

/** A model by the name under which a vendor sells it; `vendor_id` is the vendor's id in the price data. */
const vendorModel = z.object({ vendor_id: z.string().min(1).max(64), model: z.string().min(1).max(255) })

/** The changes of newer price data for one model of a vendor. */
const priceChange = vendorModel.extend({
  /** The name of the vendor, for people. */
  vendor: z.string(),
  /** The day from which it applies, as `2027-01-01`; '' for an immediate change. */
  from: z.string(),
  /** Null where the data in use, or the newer data, has no price of the model. */
  before: publishedPrice.nullable(),
  after: publishedPrice.nullable(),
  /** A channel of this vendor serves the model. */
  served: z.boolean(),
  /** The newer data finds the name by a pattern only, so the price may be that of a similar model. */
  by_pattern: z.boolean(),
  /**
   * The reason that it may be an error: `zero`: a price becomes zero; `tenfold`: it is ten times more or less; `high`: it is above
   * 1000 dollars per million tokens; `lost`: a served model no longer has a price.
   */
  warning: z.enum(['zero', 'tenfold', 'high', 'lost']).nullable(),
})
export type PriceChange = z.output<typeof priceChange>

/** SHA-256 of the newer data that a person has seen. */
const seen = z.object({ hash: z.string().regex(/^[0-9a-f]{64}$/) })

const newerPriceData = seen.extend({
  date: z.string(),
  fetched_at: z.int(),
  /** Models of the published data that this version cannot price. */
  left_out: z.int(),
  changes: z.array(priceChange),
})
export type NewerPriceData = z.output<typeof newerPriceData>

export const pricingRoutes = routes({
  'GET /api/pricing': {
    access: 'public',
    summary: 'Get the prices of all models, and the groups of the user; public unless the site restricts it to users',
    reply: z.array(priceRow),
    extra: z.object({ group_ratio: z.record(z.string(), z.number()), usable_group: z.record(z.string(), z.string()) }),
  },
  'GET /api/pricing/models': {
    access: 'admin',
    summary: 'List the price source of each model with a price or an enabled channel',
    reply: z.object({
      /** The day of the newest public price in force, as `2026-09-22`. */
      data_date: z.string(),
      models: z.array(pricedModel),
    }),
  },
  'GET /api/pricing/proposals': {
    access: 'admin',
    summary: 'List prices of the public price data that differ from the charged ones',
    reply: z.array(priceProposal),
  },
  'POST /api/pricing/proposals': {
    access: 'admin',
    summary: 'Apply the proposed prices of these models',
    body: z.object({ models: z.array(z.string().min(1).max(255)).min(1).max(2000) }),
    reply: z.object({ accepted: z.int() }),
  },
  'GET /api/pricing/data': {
    access: 'root',
    summary: 'Get the public price data in use, and the changes of newer data',
    reply: z.object({
      /** The day of its newest price; `fetched_at` is 0 for the data of the package. */
      in_use: z.object({ date: z.string(), fetched_at: z.int() }),
      /** The day of the newest price in the data of this version of the program. */
      package_date: z.string(),
      newer: newerPriceData.nullable(),
      /** The data that was in use before the last change, which can be undone: the day of its newest price. */
      undo: z.object({ date: z.string() }).nullable(),
    }),
  },
  'POST /api/pricing/data/check': {
    access: 'root',
    summary: 'Fetch the published price data now; newer data becomes a proposal, even if it was dismissed before',
    limit: 'critical',
    reply: z.object({ found: z.enum(['newer', 'same', 'older', 'dismissed']) }),
  },
  'POST /api/pricing/data/apply': {
    access: 'root',
    summary: 'Apply the newer price data, or only the prices of these models',
    body: seen.extend({ models: z.array(vendorModel).min(1).max(2000).optional() }),
    reply: z.null(),
  },
  'POST /api/pricing/data/dismiss': {
    access: 'root',
    summary: 'Dismiss this newer price data',
    body: seen,
    reply: z.null(),
  },
  'POST /api/pricing/data/undo': {
    access: 'root',
    summary: 'Return to the price data before the last change, and apply no newer prices automatically from now on',
    reply: z.null(),
  },
  'POST /api/pricing/data/restore': {
    access: 'root',
    summary: 'Restore the price data of this version of the program',
    reply: z.null(),
  },
})
