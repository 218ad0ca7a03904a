import type { Handlers } from '../../contract/route.ts'
import type { pricingRoutes } from '../../contract/routes/pricing.ts'
import { acceptPrices, proposePrices } from '../pricing/proposals.ts'
import { type Context, requireCaller } from './context.ts'

export const pricingHandlers: Handlers<typeof pricingRoutes, Context> = {
  'GET /api/pricing/proposals': ({ app }) =>
    proposePrices(app, [
      ...Object.keys(app.options.current.ModelRatio),
      ...Object.keys(app.options.current.ModelPrice),
      ...[...app.channels.current.byId.values()].flatMap(({ models }) => [...models]),
    ]),

  async 'POST /api/pricing/proposals'(context, { body }) {
    return { accepted: await acceptPrices(context.app, body.models, requireCaller(context)) }
  },
}
