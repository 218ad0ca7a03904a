import { outsideProviders } from '../../contract/entities/outside-account.ts'
import type { Within } from '../db/open.ts'
import type { Row } from '../db/schema.ts'
import { fail } from '../lib/failure.ts'
import type { Core } from '../options/core.ts'
import { identityColumns, isOffered } from './outside/offered.ts'

/** The own row, kept from others until the end of the transaction. Throws `not_found`. */
export async function lockOwn(core: Core, within: Within, userId: number): Promise<Row<'users'>> {
  const user = await within
    .selectFrom('users')
    .selectAll()
    .where('id', '=', userId)
    .where('deleted_at', 'is', null)
    .$if(core.database.dialect === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst()
  return user ?? fail('not_found')
}

/**
 * Throws `last_way_in` unless the user can still log in: with a password, or an address that a new one can be mailed to, with a passkey,
 * or with an account of a provider that the site offers. For after the change, inside of its transaction, with the row locked.
 */
export async function requireWayIn(core: Core, within: Within, userId: number): Promise<void> {
  const user = await within.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirstOrThrow()
  if (user.password_hash !== '' || user.email !== '') return
  const isOpen = outsideProviders.some(
    (provider) => user[identityColumns[provider]] !== '' && isOffered(core.options.current, provider),
  )
  if (isOpen) return
  const passkey = await within.selectFrom('passkeys').select('id').where('user_id', '=', userId).limit(1).executeTakeFirst()
  if (!passkey) fail('last_way_in')
}
