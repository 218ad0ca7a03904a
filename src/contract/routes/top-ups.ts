import { z } from 'zod'
import { adminTopUp, topUp, topUpOffer, topUpReasonLengthMax, topUpSorts } from '../entities/top-up.ts'
import { idParams, oneBasedPage, page, querySort, queryText } from '../envelope.ts'
import { organisationAccess } from '../organisation-roles.ts'
import { routes } from '../route.ts'

/** Checked by `money/payments/top-ups.ts`, because consoles of this family show no other refusal than the one in `data`. */
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
    roles: organisationAccess.payers,
    summary: 'Get the payment methods with currency and minimum amount, and the presets with discounts',
    reply: topUpOffer,
  },
  'POST /api/user/amount': {
    access: 'user',
    roles: organisationAccess.payers,
    summary: 'Get the price of an amount of quota, in the currency of the payment method',
    body: z.object({ amount, top_up_code, payment_method: payment_method.optional() }),
    reply: z.string(),
    extra: z.object({ ...told, currency: z.string().optional() }),
  },
  'POST /api/user/pay': {
    access: 'user',
    roles: organisationAccess.payers,
    summary: 'Order quota; returns the form that the browser posts to `url`, or no fields and the page to open',
    body: z.object({ amount, top_up_code, payment_method }),
    reply: z.union([z.record(z.string(), z.string()), z.string()]),
    extra: z.object({ ...told, url: z.string().optional(), trade_no: z.string().optional() }),
    limit: 'money',
  },
  'GET /api/user/epay/notify': {
    access: 'public',
    summary: 'Payment report of the epay gateway, signed with the merchant key; returns `success` once it is credited',
    query: z.looseObject({}),
    reply: z.string(),
    text: answerOfGateway,
  },
  'POST /api/user/epay/notify': {
    access: 'public',
    summary: 'The same report as a form, for gateways that use POST',
    query: z.looseObject({}),
    body: z.string(),
    bodyAs: 'text',
    reply: z.string(),
    text: answerOfGateway,
  },
  'POST /api/stripe/webhook': {
    access: 'public',
    summary: 'Webhook for Stripe payment events, signed with the signing secret; returns 200 once they are recorded',
    body: z.string(),
    bodyAs: 'text',
    reply: z.string(),
  },
  'GET /api/user/self/topups': {
    access: 'user',
    roles: organisationAccess.payers,
    summary: 'List own top-up orders, or the one of an order number, by status; newest first by default',
    query: z.object({ ...ownFilters, ...listed }),
    reply: page(topUp),
  },
  'GET /api/user/self/topups.csv': {
    access: 'user',
    roles: organisationAccess.payers,
    summary: 'Export matching own top-up orders as CSV, newest first, with times of the given zone',
    query: z.object({ ...ownFilters, ...zone }),
    reply: z.string(),
    text: csv,
  },
  'GET /api/topup/': {
    access: 'admin',
    summary: 'List top-up orders of all users by number, user id or username, by status and provider; newest first by default',
    query: z.object({ ...allFilters, ...listed }),
    reply: page(adminTopUp),
  },
  'GET /api/topup/export.csv': {
    access: 'admin',
    summary: 'Export matching orders as CSV, newest first, with times of the given zone; recorded in the audit log',
    query: z.object({ ...allFilters, ...zone }),
    reply: z.string(),
    text: csv,
  },
  'POST /api/topup/:id/check': {
    access: 'admin',
    summary:
      'Check an order with its provider, and credit it when the provider confirms exactly its payment; needs a fresh login',
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
      'Reclaim units for an order that was refunded or disputed, once, with a reason; the balance may become negative; needs a fresh login',
    params: idParams,
    body: z.object({ quota: z.int().min(1), reason }),
    reply: adminTopUp,
  },
})
