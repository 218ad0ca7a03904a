import { z } from 'zod'
import { routes } from '../route.ts'

/** US dollars per million tokens; null where a model has no such price. */
const prices = z.object({
  input: z.number(),
  output: z.number(),
  cache_read: z.number().nullable(),
  cache_write: z.number().nullable(),
  audio_input: z.number().nullable(),
  audio_output: z.number().nullable(),
})

export const priceProposal = z.object({
  model: z.string(),
  /** Who sells it at the proposed price. */
  vendor: z.string(),
  /** What is charged at present; null when the model has no price, or one per call. */
  current: prices.nullable(),
  /** US dollars per call that are charged at present, which a proposal would replace. */
  current_per_call: z.number().nullable(),
  proposed: prices,
})
export type PriceProposal = z.output<typeof priceProposal>
export type TokenPrices = z.output<typeof prices>

export const pricingRoutes = routes({
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
