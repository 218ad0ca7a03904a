import { identityProviders } from '../../../contract/entities/external-identity.ts'
import type { Within } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'
import { identityColumns, isProviderEnabled } from './external-identity/enabled-providers.ts'

/**
 * Throws `last_way_in` unless the user can still log in: with a password, or an address that a new one can be mailed to, with a
 * passkey, or with an account of a provider that the site offers. Call it after the change, in its transaction, with the row
 * locked.
 */
export async function requireLoginMethod(core: Core, within: Within, userId: number): Promise<void> {
  const user = await within.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirstOrThrow()
  if (user.password_hash !== '' || user.email !== '') return
  const isOpen = identityProviders.some(
    (provider) => user[identityColumns[provider]] !== '' && isProviderEnabled(core.options.current, provider),
  )
  if (isOpen) return
  const passkey = await within.selectFrom('passkeys').select('id').where('user_id', '=', userId).limit(1).executeTakeFirst()
  if (!passkey) fail('last_way_in')
}
