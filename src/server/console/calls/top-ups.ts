import type { Handlers } from '../../../contract/route.ts'
import type { topUpRoutes } from '../../../contract/routes/top-ups.ts'
import { oneBased } from '../../base/db/page.ts'
import { AppError } from '../../base/lib/failure.ts'
import { handleStripeEvent } from '../../money/payments/handle-stripe-event.ts'
import { exportOwnTopUps, exportTopUps, listOwnTopUps, listTopUps } from '../../money/payments/list-top-ups.ts'
import { checkTopUp, completeTopUp, withdrawTopUp } from '../../money/payments/manage-top-ups.ts'
import { handleReport, orderTopUp, priceTopUp, readOffer } from '../../money/payments/top-ups.ts'
import { requireRecentLogin } from '../../people/accounts/reauthenticate.ts'
import type { App } from '../../watch/parts.ts'
import { type Context, payerOf, payingCaller, requireCaller } from './context.ts'
import { refusalOf } from './failures.ts'

export const topUpHandlers: Handlers<typeof topUpRoutes, Context> = {
  'GET /api/user/topup/info': ({ app }) => readOffer(app),

  'POST /api/user/amount': (context, { body }) =>
    tell(context, async () => {
      const asked = { amount: body.amount, method: body.payment_method, caller: payingCaller(context) }
      const { money, currency } = priceTopUp(context.app, asked)
      return { data: money, currency }
    }),

  'POST /api/user/pay': (context, { body }) =>
    tell(context, async () => {
      const order = { amount: body.amount, method: body.payment_method, caller: payingCaller(context) }
      const { url, fields, tradeNo } = await orderTopUp(context.app, order)
      return { data: { ...fields }, url, trade_no: tradeNo }
    }),

  'GET /api/user/epay/notify': (context, { query }) => answerGateway(context, query),

  'POST /api/user/epay/notify': (context, { query, body }) => {
    const form = [...new URLSearchParams(body)]
    // A report with a repeated field is rejected: the second value would hide the first from one side's signature.
    const isPlain = new Set(form.map(([name]) => name)).size === form.length
    return answerGateway(context, isPlain ? { ...query, ...Object.fromEntries(form) } : {})
  },

  async 'POST /api/stripe/webhook'({ app, signature }, { body }) {
    return handleStripeEvent(app, { body, signature })
  },

  async 'GET /api/user/self/topups'(context, { query: { p, page_size, sort, ...filter } }) {
    const asked = { filter: { ...filter, userId: payerOf(context).id }, page: oneBased(p, page_size), sort }
    return { ...(await listOwnTopUps(context.app, asked)), page: p, page_size }
  },

  'GET /api/user/self/topups.csv': (context, { query: { time_zone: timeZone, ...filter } }) =>
    exportOwnTopUps(context.app, { filter: { ...filter, userId: payerOf(context).id }, timeZone }),

  async 'GET /api/topup/'({ app }, { query: { p, page_size, sort, ...filter } }) {
    return { ...(await listTopUps(app, { filter, page: oneBased(p, page_size), sort })), page: p, page_size }
  },

  'GET /api/topup/export.csv': (context, { query: { time_zone: timeZone, ...filter } }) =>
    exportTopUps(context.app, { filter, timeZone, caller: requireCaller(context) }),

  async 'POST /api/topup/:id/check'(context, { params }) {
    await requireRecentLogin(context.app, context.sessionToken)
    return checkTopUp(context.app, { ...params, caller: requireCaller(context) })
  },

  async 'POST /api/topup/:id/complete'(context, { params, body }) {
    await requireRecentLogin(context.app, context.sessionToken)
    return completeTopUp(context.app, { ...params, ...body, caller: requireCaller(context) })
  },

  async 'POST /api/topup/:id/withdraw'(context, { params, body }) {
    await requireRecentLogin(context.app, context.sessionToken)
    return withdrawTopUp(context.app, { ...params, ...body, caller: requireCaller(context) })
  },
}

/** Gateways search for `success` anywhere in the reply, so that even the envelope of a failure would count as success. */
async function answerGateway({ app, requestId }: { app: App; requestId: string }, fields: Readonly<Record<string, unknown>>) {
  const isCredited = await handleReport(app, fields).catch((error: unknown) => {
    app.logger.error({ error, request: requestId }, 'a reported payment could not be credited')
    return false
  })
  return pieces(isCredited ? 'success' : 'fail')
}

interface Told<Data> {
  readonly data: Data
  readonly currency?: string
  readonly url?: string
  readonly trade_no?: string
}

/** The reply in the form of these two calls: the reason of a refusal is in `data` as well. */
async function tell<Data>({ language }: Context, answer: () => Promise<Told<Data>>) {
  try {
    const { data, ...more } = await answer()
    return { data, extra: { success: true, message: 'success', ...more } }
  } catch (error) {
    if (!(error instanceof AppError) || error.kind.onConsole === 'status') throw error
    const refusal = refusalOf(error, language)
    return { data: refusal.message, extra: refusal }
  }
}

async function* pieces(text: string) {
  yield text
}
