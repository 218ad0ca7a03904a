import { AppError } from '../../base/lib/failure.ts'
import { servedModels } from '../../gateway/channels/index/listed-models.ts'
import { findNewerPrices } from '../../money/pricing/newer-prices.ts'
import { applyAutomatically } from '../../money/pricing/price-decisions.ts'
import type { Job } from './runner.ts'

/**
 * Looks for newer public price data and applies the changes that need no person; the others become a proposal for the super admins. A site
 * without a network writes one line a day.
 */
export const findNewerPublicPrices: Job = {
  name: 'find-newer-prices',
  label: { zh: '检查新的公开价格', en: 'Look for newer public prices' },
  on: 'one-node',
  onDemand: true,
  everyMs: ({ PriceDataCheckEnabled, PublicPriceDataEnabled }) =>
    PriceDataCheckEnabled && PublicPriceDataEnabled ? 86_400_000 : 0,
  firstAfterMs: 900_000,
  deadlineMs: 120_000,
  async run(app) {
    const served = await servedModels(app)
    try {
      const found = await findNewerPrices(app, { served, again: false })
      const applied = found === 'newer' ? await applyAutomatically(app, served) : 0
      return applied > 0 ? `applied ${applied}` : found
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'price_data_unreadable') throw error
      app.logger.info({ reason: error.message }, 'newer public prices could not be read')
      return error.code
    }
  },
}
