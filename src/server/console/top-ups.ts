import type { Handlers } from '../../contract/route.ts'
import type { topUpRoutes } from '../../contract/routes/top-ups.ts'
import { oneBased } from '../db/page.ts'
import { AppError } from '../lib/failure.ts'
import { listTopUps, orderTopUp, priceTopUp, takeReport } from '../wallet/top-ups.ts'
import { type Context, requireCaller } from './context.ts'

export const topUpHandlers: Handlers<typeof topUpRoutes, Context> = {
  'POST /api/user/amount': (context, { body }) =>
    tell(context, async () => ({ data: priceTopUp(context.app, { amount: body.amount, caller: requireCaller(context) }) })),

  'POST /api/user/pay': (context, { body }) =>
    tell(context, async () => {
      const order = { amount: body.amount, method: body.payment_method, caller: requireCaller(context) }
      const { url, fields } = await orderTopUp(context.app, order)
      return { data: { ...fields }, url }
    }),

  async 'GET /api/user/epay/notify'({ app, requestId }, { query }) {
    // Gateways look for the word anywhere in the answer, so that even an envelope of a failure would be taken for a yes.
    const isCredited = await takeReport(app, query).catch((error: unknown) => {
      app.logger.error({ error, request: requestId }, 'a reported payment could not be credited')
      return false
    })
    return pieces(isCredited ? 'success' : 'fail')
  },

  async 'GET /api/user/self/topups'(context, { query: { p, page_size } }) {
    const asked = { userId: requireCaller(context).id, page: oneBased(p, page_size) }
    return { ...(await listTopUps(context.app, asked)), page: p, page_size }
  },

  async 'GET /api/topup/'({ app }, { query: { p, page_size, keyword } }) {
    return { ...(await listTopUps(app, { tradeNo: keyword, page: oneBased(p, page_size) })), page: p, page_size }
  },
}

/** The answer in the form of these two calls: the reason of a refusal stands in `data` as well. */
async function tell<Data>({ language }: Context, answer: () => Promise<{ data: Data; url?: string }>) {
  try {
    const { data, ...more } = await answer()
    return { data, extra: { success: true, message: 'success', ...more } }
  } catch (error) {
    if (!(error instanceof AppError) || error.kind.onConsole === 'status') throw error
    const reason = error.text(language)
    return { data: reason, extra: { success: false, message: reason, code: error.code } }
  }
}

async function* pieces(text: string) {
  yield text
}
