import type { SiteCostSum } from '../../../contract/entities/site-cost.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { recordAction } from '../../base/options/audit.ts'
import { findLedgerGap, type LedgerGap, markLedger } from '../../money/ledger/ledger-mark.ts'
import { reconcile } from '../../money/ledger/reconcile.ts'
import { sumSiteCosts } from '../../money/ledger/site-costs.ts'
import { setAsideOf } from '../../money/ledger/sqlite/journal-files.ts'
import { noteMeasures } from '../alerts/measures.ts'
import type { App } from '../parts.ts'
import type { Job } from './runner.ts'

/**
 * Checks that every balance is the sum of its ledger rows, and that the ledger still has the rows of the last run, and that no file
 * of the journal was set aside; sums the site costs. It only reports: an operator has to investigate.
 */
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
    const gap = await findLedgerGap(app)
    if (gap) await report(app, gap)
    const setAside = setAsideOf(app.database)
    if (setAside.length > 0) app.logger.error({ setAside }, 'FILES OF THE JOURNAL WERE SET ASIDE: CHARGES MAY BE MISSING')
    const differences = discrepancies.length + (gap ? 1 : 0) + setAside.length
    await noteMeasures(app, 'ledger-difference', [{ subject: 'site', name: '', value: differences }])
    await markLedger(app).catch((error: unknown) => app.logger.warn({ error }, 'how far the ledger goes could not be marked'))
    const borne = sumOf(await sumSiteCosts(app.db, seconds(app.now())))
    return [
      `${discrepancies.length} differ`,
      ...(borne > 0 ? [`site costs of 24 hours: ${borne}`] : []),
      ...(setAside.length > 0 ? [`${setAside.length} files of the journal were set aside`] : []),
      ...(gap ? [`the ledger is an older one: ${spanOf(gap)} is missing`] : []),
    ].join('; ')
  },
}

function sumOf(sums: readonly SiteCostSum[]): number {
  return sums.reduce((sum, { last_24_hours: { quota } }) => sum + quota, 0)
}

async function report(app: App, gap: LedgerGap): Promise<void> {
  app.logger.error(gap, 'THE LEDGER ENDS BEFORE WHAT WAS WRITTEN: THE DATABASE WAS PUT BACK TO AN OLDER STATE')
  await recordAction(app, { caller: undefined, action: 'ledger.gap', target: 'ledger', after: spanOf(gap) })
}

function spanOf({ from, to }: LedgerGap): string {
  const [first, last] = [from, to].map((at) => new Date(at * 1000).toISOString())
  return `${first} to ${last}`
}
