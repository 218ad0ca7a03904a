import type { Queries } from '../db/open.ts'

/** The units that the ledger has charged for a request; undefined before its charge is committed. */
export async function chargedAmount(db: Queries, requestId: string): Promise<number | undefined> {
  const reference = `charge:${requestId}`
  const row = await db.selectFrom('ledger').select('amount').where('reference', '=', reference).executeTakeFirst()
  return row && 0 - row.amount
}
