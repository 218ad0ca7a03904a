import {
  type Binding,
  type IdentityProvider,
  identityProviders,
  providerNames,
} from '../../../../contract/entities/external-identity.ts'
import { logType } from '../../../../contract/entities/log.ts'
import { isUniqueViolation } from '../../../base/db/failures.ts'
import type { Within } from '../../../base/db/open.ts'
import { fail } from '../../../base/lib/failure.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { change } from '../../../base/options/change.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { recordLog } from '../../../usage/log/log.ts'
import { lockUser } from '../lock-user.ts'
import { requireLoginMethod } from '../login-methods.ts'
import { findUser } from '../users.ts'
import { identityColumns, isProviderEnabled } from './enabled-providers.ts'
import type { Profile } from './oauth-provider.ts'

/** The external identities of a user. An identity stays bound to one user, also when that user is deleted. */

export async function listBindings(core: Core, userId: number): Promise<Binding[]> {
  const user = await findUser(core.db, userId)
  return identityProviders.map((provider) => ({
    provider,
    account: user[identityColumns[provider]],
    offered: isProviderEnabled(core.options.current, provider),
  }))
}

/** Binds an external identity and replaces an earlier one of the same provider. Throws `outside_taken`, `not_found`. */
export async function bindIdentity(
  core: Core,
  caller: Caller,
  { provider, profile }: { provider: IdentityProvider; profile: Profile },
): Promise<void> {
  await change(core, caller, async (within, report) => {
    const { numUpdatedRows } = await within
      .updateTable('users')
      .set({ [identityColumns[provider]]: profile.subject })
      .where('id', '=', caller.id)
      .where('deleted_at', 'is', null)
      .executeTakeFirstOrThrow()
      .catch((error: unknown) => {
        if (isUniqueViolation(error)) fail('outside_taken', {}, { cause: error })
        throw error
      })
    if (numUpdatedRows === 0n) fail('not_found')
    const { zh, en } = providerNames[provider]
    await note(core, within, caller, `绑定了 ${zh} 账户 ${profile.subject} / Bound the ${en} account ${profile.subject}`)
    report({ topic: 'user', id: caller.id })
  })
}

/** Removes a binding, unless it is the last login method of the user. Throws `nothing_changed`, `last_way_in`. */
export async function unbindIdentity(core: Core, caller: Caller, provider: IdentityProvider): Promise<void> {
  const column = identityColumns[provider]
  await change(core, caller, async (within, report) => {
    const user = await lockUser(core, within, caller.id)
    if (user[column] === '') fail('nothing_changed')
    await within
      .updateTable('users')
      .set({ [column]: '' })
      .where('id', '=', caller.id)
      .execute()
    await requireLoginMethod(core, within, caller.id)
    const { zh, en } = providerNames[provider]
    await note(core, within, caller, `解绑了 ${zh} 账户 ${user[column]} / Unbound the ${en} account ${user[column]}`)
    report({ topic: 'user', id: caller.id })
  })
}

async function note(core: Core, within: Within, caller: Caller, content: string): Promise<void> {
  const at = seconds(core.now())
  await recordLog(within, { type: logType.system, at, userId: caller.id, username: caller.username, content })
}
