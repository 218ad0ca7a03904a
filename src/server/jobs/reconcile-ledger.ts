import { reconcile } from '../wallet/reconcile.ts'
import type { Job } from './runner.ts'

/** Checks that every balance is the sum of its ledger rows. It only reports: what went wrong is for a person to find out. */
export const reconcileLedger: Job = {
  name: 'reconcile-ledger',
  label: { zh: '核对余额与账本', en: 'Compare balances with the ledger' },
  on: 'one-node',
  onDemand: true,
  everyMs: () => 5 * 60_000,
  deadlineMs: 4 * 60_000,
  async run(app) {
    const discrepancies = await reconcile(app)
    app.metrics.ledgerDiscrepancy.set(discrepancies.length)
    for (const discrepancy of discrepancies) app.logger.error(discrepancy, 'A BALANCE DIFFERS FROM ITS LEDGER')
    return `${discrepancies.length} differ`
  },
}
