import { sql } from 'kysely'
import type { Queries } from '../../base/db/open.ts'
import type { LedgerKind } from '../../base/db/schema.ts'

/** A credit whose row is not what its own reference or the record of its cause says. */
export interface CreditDifference {
  readonly id: number
  readonly reference: string
  readonly kind: LedgerKind
  readonly userId: number
  readonly amount: number
}

const differencesMax = 100

/**
 * Compares the rows of the ledger that are no charges with their causes: a kind with its reference, a redeemed code with its value
 * and user, a paid order with its quota and user, the refund of a call with the charge, of which a
 * video keeps its own price. Adjustments, grants and transfers have no other record of their amount than the balance. Returns the first
 * 100 that differ.
 */
export async function verifyCredits(db: Queries): Promise<CreditDifference[]> {
  const columns = sql`ledger.id, ledger.reference, ledger.kind, ledger.user_id as "userId", ledger.amount`
  const { rows } = await sql<CreditDifference>`
    select ${columns} from ledger
    where kind <> 'charge' and reference not like kind || ':%' and reference not like 'import:%'
      and not (kind = 'refund' and reference like 'top_up_withdraw:%')
      or kind = 'charge' and reference not like 'charge:%'
    union
    select ${columns} from redemptions join ledger on ledger.reference = 'redeem:' || redemptions.id
    where ledger.user_id <> redemptions.used_user_id or ledger.amount <> redemptions.quota
    union
    select ${columns} from top_ups join ledger on ledger.reference = 'top_up:' || top_ups.trade_no
    where ledger.user_id <> top_ups.user_id or ledger.amount <> top_ups.quota
    union
    select ${columns} from top_ups join ledger on ledger.reference = 'top_up_withdraw:' || top_ups.trade_no
    where ledger.user_id <> top_ups.user_id or ledger.amount <> -top_ups.withdrawn
    union
    select ${columns} from ledger join ledger charge on charge.reference = 'charge:' || substr(ledger.reference, 8)
    left join videos on videos.request_id = substr(ledger.reference, 8) and videos.status = 'SUCCESS'
    where ledger.reference like 'refund:%'
      and (ledger.user_id <> charge.user_id or ledger.amount <> -charge.amount - coalesce(videos.quota, 0))
    order by 1 limit ${sql.lit(differencesMax)}`.execute(db)
  return rows
}
