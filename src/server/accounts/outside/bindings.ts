import { logType } from '../../../contract/entities/log.ts'
import { type Binding, type OutsideProvider, outsideNames, outsideProviders } from '../../../contract/entities/outside-account.ts'
import { isUniqueViolation, type Within } from '../../db/open.ts'
import { seconds } from '../../lib/clock.ts'
import { fail } from '../../lib/failure.ts'
import type { Caller, Core } from '../../options/core.ts'
import { recordLog } from '../../usage/log.ts'
import { findUser } from '../users.ts'
import { lockOwn, requireWayIn } from '../ways-in.ts'
import { identityColumns, isOffered } from './offered.ts'
import type { Profile } from './visit.ts'

/** The outside accounts of a user. An account is bound to one user here for ever, also when that user was deleted. */

export async function listBindings(core: Core, userId: number): Promise<Binding[]> {
  const user = await findUser(core.db, userId)
  return outsideProviders.map((provider) => ({
    provider,
    account: user[identityColumns[provider]],
    offered: isOffered(core.options.current, provider),
  }))
}

/** Binds an outside account, in the place of an older one of the same provider. Throws `outside_taken`, `not_found`. */
export async function bindOutside(
  core: Core,
  caller: Caller,
  { provider, profile }: { provider: OutsideProvider; profile: Profile },
): Promise<void> {
  await core.db.transaction().execute(async (within) => {
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
    const { zh, en } = outsideNames[provider]
    await note(core, within, caller, `绑定了 ${zh} 账户 ${profile.subject} / Bound the ${en} account ${profile.subject}`)
  })
  core.bus.publish('user', caller.id)
}

/** Takes a binding away, unless nobody could log in any more. Throws `nothing_changed`, `last_way_in`. */
export async function unbindOutside(core: Core, caller: Caller, provider: OutsideProvider): Promise<void> {
  const column = identityColumns[provider]
  await core.db.transaction().execute(async (within) => {
    const user = await lockOwn(core, within, caller.id)
    if (user[column] === '') fail('nothing_changed')
    await within
      .updateTable('users')
      .set({ [column]: '' })
      .where('id', '=', caller.id)
      .execute()
    await requireWayIn(core, within, caller.id)
    const { zh, en } = outsideNames[provider]
    await note(core, within, caller, `解绑了 ${zh} 账户 ${user[column]} / Unbound the ${en} account ${user[column]}`)
  })
  core.bus.publish('user', caller.id)
}

async function note(core: Core, within: Within, caller: Caller, content: string): Promise<void> {
  const at = seconds(core.now())
  await recordLog(within, { type: logType.system, at, userId: caller.id, username: caller.username, content })
}
