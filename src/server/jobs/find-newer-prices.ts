import { servedModels } from '../channels/listed-models.ts'
import { findNewerPrices } from '../pricing/newer-prices.ts'
import type { Job } from './runner.ts'

/** Looks for newer public price data, which becomes a proposal for the super admins. */
export const findNewerPublicPrices: Job = {
  name: 'find-newer-prices',
  label: { zh: '检查新的公开价格', en: 'Look for newer public prices' },
  on: 'one-node',
  onDemand: true,
  everyMs: ({ PriceDataCheckEnabled }) => (PriceDataCheckEnabled ? 86_400_000 : 0),
  deadlineMs: 120_000,
  run: async (app) => findNewerPrices(app, { served: await servedModels(app), again: false }),
}
