import type { Within } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Credit } from './ledger.ts'

/**
 * Adds a signed amount of units to a user's balance inside the caller's transaction, with its own ledger row. Throws the database's
 * unique violation when the reference exists, `not_found` when the user does not, `amount_out_of_range` when the balance would leave
 * the exact integers; each time the caller's transaction must end without a commit.
 */
export async function credit(within: Within, { userId, kind, amount, reference, at, detail = '' }: Credit): Promise<void> {
  if (!Number.isSafeInteger(amount)) fail('amount_out_of_range', { field: 'amount' }, { detail: { amount } })

  await within
    .insertInto('ledger')
    .values({ reference, user_id: userId, token_id: 0, kind, amount, created_at: at, detail })
    .execute()
  const { numUpdatedRows } = await within
    .updateTable('users')
    .set((eb) => ({ quota: eb('quota', '+', amount) }))
    .where('id', '=', userId)
    // Compared before adding: a number beyond the exact integers could not even be read back.
    .where('quota', amount > 0 ? '<=' : '>=', amount > 0 ? Number.MAX_SAFE_INTEGER - amount : Number.MIN_SAFE_INTEGER - amount)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) return

  const user = await within.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst()
  if (!user) fail('not_found')
  fail('amount_out_of_range', { field: 'amount' }, { detail: { amount, userId } })
}
