import { z } from 'zod'
import { adminTopUp, topUp, topUpOffer, topUpReasonLengthMax, topUpSorts } from '../entities/top-up.ts'
import { idParams, oneBasedPage, page, querySort, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

/** Checked by `wallet/top-ups.ts`, because consoles of this family show no other refusal than the one in `data`. */
const amount = z.number().catch(0)
const payment_method = z.string().max(20).catch('')
const top_up_code = z.string().nullish().catch(null)
const ownFilters = { keyword: queryText, status: queryText }
const allFilters = { ...ownFilters, provider: queryText }
const listed = { ...oneBasedPage, sort: querySort(topUpSorts) }
const zone = { time_zone: queryText }
const csv = { type: 'text/csv', fileName: 'orders.csv' } as const
const reason = z.string().trim().min(1).max(topUpReasonLengthMax)

/**
 * Consoles of this family look at `message === 'success'` and read the reason of a refusal from `data`; everybody else looks at `success`
 * and `message`, as on every other call.
 */
const told = { success: z.boolean(), message: z.string(), code: z.string().optional() }

/** Gateways look for the word `success` anywhere in the answer, which every envelope contains. */
const answerOfGateway = { type: 'text/plain', refusal: 'fail' } as const

export const topUpRoutes = routes({
  'GET /api/user/topup/info': {
    access: 'user',
    summary: 'What can be bought: the ways to pay with their currency and least amount, and the presets with their discounts',
    reply: topUpOffer,
  },
  'POST /api/user/amount': {
    access: 'user',
    summary: 'What an amount of quota costs, in the currency of the way to pay',
    body: z.object({ amount, top_up_code, payment_method: payment_method.optional() }),
    reply: z.string(),
    extra: z.object({ ...told, currency: z.string().optional() }),
  },
  'POST /api/user/pay': {
    access: 'user',
    summary: 'Order quota; answers the form that the browser posts to `url`, or no fields and the page to open',
    body: z.object({ amount, top_up_code, payment_method }),
    reply: z.union([z.record(z.string(), z.string()), z.string()]),
    extra: z.object({ ...told, url: z.string().optional(), trade_no: z.string().optional() }),
    limit: 'money',
  },
  'GET /api/user/epay/notify': {
    access: 'public',
    summary: 'Where the epay gateway reports a payment, signed with the merchant key; answers `success` once it is credited',
    query: z.looseObject({}),
    reply: z.string(),
    text: answerOfGateway,
  },
  'POST /api/user/epay/notify': {
    access: 'public',
    summary: 'The same report as a form, for gateways that post',
    query: z.looseObject({}),
    body: z.string(),
    bodyAs: 'text',
    reply: z.string(),
    text: answerOfGateway,
  },
  'POST /api/stripe/webhook': {
    access: 'public',
    summary: 'Where Stripe reports events of payments, signed with the signing secret; answers 200 once they are recorded',
    body: z.string(),
    bodyAs: 'text',
    reply: z.string(),
  },
  'GET /api/user/self/topups': {
    access: 'user',
    summary: 'Own top-up orders, or the one of an order number, by status; newest first unless sort says otherwise',
    query: z.object({ ...ownFilters, ...listed }),
    reply: page(topUp),
  },
  'GET /api/user/self/topups.csv': {
    access: 'user',
    summary: 'The own top-up orders that match, as CSV, newest first, with times of the zone that is named',
    query: z.object({ ...ownFilters, ...zone }),
    reply: z.string(),
    text: csv,
  },
  'GET /api/topup/': {
    access: 'admin',
    summary:
      'Top-up orders of everybody by number, user id or user name, by status and provider; newest first unless sort says otherwise',
    query: z.object({ ...allFilters, ...listed }),
    reply: page(adminTopUp),
  },
  'GET /api/topup/export.csv': {
    access: 'admin',
    summary: 'The orders that match, as CSV, newest first, with times of the zone that is named; the audit tells who took them',
    query: z.object({ ...allFilters, ...zone }),
    reply: z.string(),
    text: csv,
  },
  'POST /api/topup/:id/check': {
    access: 'admin',
    summary:
      'Ask the provider what became of an order; credits it when the provider confirms exactly its payment; needs a fresh login',
    params: idParams,
    reply: adminTopUp,
  },
  'POST /api/topup/:id/complete': {
    access: 'admin',
    summary: 'Credit an order that the provider cannot confirm, with a reason for the audit; needs a fresh login',
    params: idParams,
    body: z.object({ reason }),
    reply: adminTopUp,
  },
  'POST /api/topup/:id/withdraw': {
    access: 'admin',
    summary:
      'Take units back for an order that was refunded or disputed, once, with a reason; the balance may go below zero; needs a fresh login',
    params: idParams,
    body: z.object({ quota: z.int().min(1), reason }),
    reply: adminTopUp,
  },
})
