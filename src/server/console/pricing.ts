import type { Handlers } from '../../contract/route.ts'
import type { pricingRoutes } from '../../contract/routes/pricing.ts'
import { enabledModels, pricedNames } from '../channels/listed-models.ts'
import { readPriceList } from '../channels/price-list.ts'
import { fail } from '../lib/failure.ts'
import { usableGroups } from '../pricing/groups.ts'
import { acceptPrices, pricedModels, proposePrices } from '../pricing/proposals.ts'
import { type Context, requireCaller } from './context.ts'

export const pricingHandlers: Handlers<typeof pricingRoutes, Context> = {
  'GET /api/pricing'({ app, caller }) {
    const options = app.options.current
    if (!caller && !options.PricingPublicEnabled) fail('prices_for_members')
    const groups = Object.entries(usableGroups(options, caller?.group ?? ''))
    return {
      data: readPriceList(
        app,
        groups.map(([group]) => group),
      ),
      extra: {
        group_ratio: Object.fromEntries(groups.map(([group, { ratio }]) => [group, ratio])),
        usable_group: Object.fromEntries(groups.map(([group, { desc }]) => [group, desc])),
      },
    }
  },

  async 'GET /api/pricing/models'({ app }) {
    const served = await enabledModels(app)
    return { data_date: app.priceData.date, models: pricedModels(app, { served, others: pricedNames(app.options.current) }) }
  },

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
