import { z } from 'zod'
import { topUp } from '../entities/top-up.ts'
import { oneBasedPage, page, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

/** Checked by `wallet/top-ups.ts`, because consoles of this family show no other refusal than the one in `data`. */
const amount = z.number()
const top_up_code = z.string().max(200).optional()

/**
 * Consoles of this family look at `message === 'success'` and read the reason of a refusal from `data`; everybody else looks at `success`
 * and `message`, as on every other call.
 */
const told = { success: z.boolean(), message: z.string(), code: z.string().optional() }

export const topUpRoutes = routes({
  'POST /api/user/amount': {
    access: 'user',
    summary: 'What an amount of quota costs, with two decimals',
    body: z.object({ amount, top_up_code }),
    reply: z.string(),
    extra: z.object(told),
  },
  'POST /api/user/pay': {
    access: 'user',
    summary: 'Order quota; answers the form that the browser posts to the payment gateway at `url`',
    body: z.object({ amount, top_up_code, payment_method: z.string().max(20) }),
    reply: z.union([z.record(z.string(), z.string()), z.string()]),
    extra: z.object({ ...told, url: z.string().optional() }),
  },
  'GET /api/user/epay/notify': {
    access: 'public',
    summary: 'Where the payment gateway reports a payment, signed with the merchant key; answers `success` once it is credited',
    query: z.looseObject({}),
    reply: z.string(),
    text: { type: 'text/plain' },
  },
  'GET /api/user/self/topups': {
    access: 'user',
    summary: 'Own top-up orders, newest first',
    query: z.object(oneBasedPage),
    reply: page(topUp),
  },
  'GET /api/topup/': {
    access: 'admin',
    summary: 'Top-up orders of everybody, or the one of an order number, newest first',
    query: z.object({ ...oneBasedPage, keyword: queryText }),
    reply: page(topUp),
  },
})
