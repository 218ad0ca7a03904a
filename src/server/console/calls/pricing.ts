import type { Handlers } from '../../../contract/route.ts'
import type { pricingRoutes } from '../../../contract/routes/pricing.ts'
import { fail } from '../../base/lib/failure.ts'
import { enabledModels, pricedNames, servedModels } from '../../gateway/channels/index/listed-models.ts'
import { readPriceList } from '../../gateway/channels/index/price-list.ts'
import { usableGroups } from '../../money/pricing/groups.ts'
import { checkPrices, readNewerPrices } from '../../money/pricing/newer-prices.ts'
import { readPrices } from '../../money/pricing/price-data.ts'
import { applyPrices, dismissPrices, restorePrices, undoableDate, undoPrices } from '../../money/pricing/price-decisions.ts'
import { acceptPrices, pricedModels, proposePrices } from '../../money/pricing/proposals.ts'
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
    return {
      data_date: app.priceBook.current.date,
      models: pricedModels(app, { served, others: pricedNames(app.options.current) }),
    }
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

  async 'GET /api/pricing/data'({ app }) {
    const { inUse, shipped } = app.priceBook
    const newer = await readNewerPrices(app, await servedModels(app))
    const undoable = await undoableDate(app)
    return {
      in_use: { date: inUse.data.date, fetched_at: inUse.fetchedAt },
      package_date: readPrices(shipped.vendors).date,
      newer: newer
        ? {
            ...{ hash: newer.hash, date: newer.date, fetched_at: newer.fetchedAt },
            ...{ left_out: newer.leftOut, changes: newer.changes },
          }
        : null,
      undo: undoable === undefined ? null : { date: undoable },
    }
  },

  async 'POST /api/pricing/data/check'(context) {
    const { app } = context
    return { found: await checkPrices(app, { served: await servedModels(app), caller: requireCaller(context) }) }
  },

  async 'POST /api/pricing/data/apply'(context, { body: { hash, models } }) {
    const chosen = models?.map(({ vendor_id: vendor, model }) => ({ vendor, model }))
    await applyPrices(context.app, requireCaller(context), { hash, models: chosen })
    return null
  },

  async 'POST /api/pricing/data/dismiss'(context, { body }) {
    await dismissPrices(context.app, requireCaller(context), body)
    return null
  },

  async 'POST /api/pricing/data/undo'(context) {
    await undoPrices(context.app, requireCaller(context))
    return null
  },

  async 'POST /api/pricing/data/restore'(context) {
    await restorePrices(context.app, requireCaller(context))
    return null
  },
}
