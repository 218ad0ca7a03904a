import { isRoot } from '../../contract/roles.ts'
import { fail } from '../lib/failure.ts'
import { recordAudit } from '../options/audit.ts'
import type { Caller } from '../options/core.ts'
import { requireRecentLogin } from './reauthenticate.ts'
import { removeUser } from './remove-user.ts'
import type { Accounts } from './sign-in.ts'

/** Deletes the own account. Its name and address stay taken. Throws `fresh_login_required`, `root_protected`, `not_found`. */
export async function deleteAccount(accounts: Accounts, caller: Caller, sessionToken: string | undefined): Promise<void> {
  await requireRecentLogin(accounts, sessionToken)
  if (isRoot(caller.role)) fail('root_protected')
  await accounts.db.transaction().execute(async (within) => {
    await removeUser(accounts, within, caller.id)
    await recordAudit(accounts, within, { caller, action: 'user.delete-self', target: `user:${caller.id}` })
  })
  accounts.bus.publish('user', caller.id)
}
