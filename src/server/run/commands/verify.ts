import { Command } from 'commander'
import { type AuditState, verifyAudit } from '../../base/options/audit.ts'
import type { Core } from '../../base/options/core.ts'
import { type Discrepancy, reconcile } from '../../money/ledger/reconcile.ts'
import { setAsideOf } from '../../money/ledger/sqlite/journal-files.ts'
import { type VerifiedCharges, verifyCharges } from '../../money/ledger/verify-charges.ts'
import { type CreditDifference, verifyCredits } from '../../money/ledger/verify-credits.ts'
import { type Outcome, progress, reporting, withCore } from './command.ts'

export const verifyCommand = reporting(
  new Command('verify').description(
    'Check the books: every charge recomputed from its log row and compared with the ledger, every credit with its cause, every balance with the sum of its ledger rows, the chain of the audit log, and whether files of the journal were set aside. Exits with 1 when something differs.',
  ),
  () => withCore(verify),
)

interface Verification {
  readonly charges: VerifiedCharges
  /** Credits that differ from their cause. */
  readonly credits: readonly CreditDifference[]
  /** Users whose balance is not the sum of their ledger rows. */
  readonly balances: readonly Discrepancy[]
  readonly audit: AuditState
  /** Files of the journal that were set aside, and not moved away by an operator yet. */
  readonly setAside: readonly string[]
}

async function verify(core: Core): Promise<Outcome> {
  const charges = await verifyCharges(core.db, (done, total) => progress(`${Math.floor((done / total) * 100)} % of the log`))
  progress('')
  const data: Verification = {
    charges,
    credits: await verifyCredits(core.db),
    balances: await reconcile(core),
    audit: await verifyAudit(core),
    setAside: setAsideOf(core.database),
  }
  const found = charges.differing + data.credits.length + data.balances.length + data.setAside.length
  const ok = found === 0 && data.audit.brokenAt === undefined
  return { ok, data, lines: linesOf(data) }
}

function linesOf({ charges, credits, balances, audit, setAside }: Verification): string[] {
  return [
    `Charges   ${charges.rows} in the log, ${charges.recomputed} recomputed, ${charges.differing} differ; ${charges.withoutRow} in the ledger without a log row${charges.imported > 0 ? `; ${charges.imported} rows of the log are from before an import` : ''}`,
    ...charges.differences.map(
      ({ requestId, charged, ledger = 'no row', recomputed = 'not computable', columns }) =>
        `  ${requestId}: charged ${charged}, ledger ${ledger}, recomputed ${recomputed}${columns.length > 0 ? `; other ${columns.join(', ')}` : ''}`,
    ),
    `Credits   ${credits.length} differ from their cause`,
    ...credits.map(
      ({ id, reference, kind, userId, amount }) => `  row ${id}, ${reference}: ${kind} of ${amount} for user ${userId}`,
    ),
    `Balances  ${balances.length} differ from the ledger`,
    ...balances.map(({ userId, quota, ledger }) => `  user ${userId}: balance ${quota}, ledger ${ledger}`),
    audit.brokenAt === undefined
      ? `Audit log ${audit.rows} rows, the chain is whole; its head is ${audit.head || '(empty)'}`
      : `Audit log BROKEN at row ${audit.brokenAt}, after ${audit.rows} rows`,
    ...setAside.map((path) => `Journal   SET ASIDE, charges in it may be missing from the ledger: ${path}`),
  ]
}
