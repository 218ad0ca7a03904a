import type { Within } from '../db/open.ts'
import { fail } from '../lib/failure.ts'
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
  const user = await within
    .updateTable('users')
    .set((eb) => ({ quota: eb('quota', '+', amount) }))
    .where('id', '=', userId)
    .returning('quota')
    .executeTakeFirst()
  if (!user) fail('not_found')
  if (!Number.isSafeInteger(user.quota)) fail('amount_out_of_range', { field: 'amount' }, { detail: { amount, userId } })
}
