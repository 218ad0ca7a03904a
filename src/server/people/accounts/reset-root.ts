import { logType } from '../../../contract/entities/log.ts'
import { userStatus } from '../../../contract/entities/user.ts'
import { isRoot, role } from '../../../contract/roles.ts'
import { randomText } from '../../base/lib/secrets/ids.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Core } from '../../base/options/core.ts'
import { recordLog } from '../../usage/log/log.ts'
import { type Passwords, requireGoodPassword } from './passwords.ts'
import { setPassword } from './set-password.ts'
import { resetFactors } from './two-factor.ts'
import { usernameKey } from './usernames.ts'

const randomLength = 16

interface RootReset {
  /** The name of a super admin; if absent, the first one is reset. */
  readonly username?: string | undefined
  /** The new password; if absent, a random one. It has to be changed at the next login. */
  readonly password?: string | undefined
  /** Also removes the second factor and the passkeys. */
  readonly resetsFactors: boolean
}

/**
 * Gives a super admin a new password, for an operator of the machine who is locked out: ends sessions, access token and mailed codes, and
 * lifts a ban. Returns the name and the password. Throws an Error when no super admin has the name, `password_length` or `password_weak`.
 */
export async function resetRoot(
  core: Core & { readonly passwords: Passwords },
  { username, password = randomText(randomLength), resetsFactors }: RootReset,
): Promise<{ username: string; password: string }> {
  const user = await findRoot(core, username)
  requireGoodPassword(password, user.username)
  const password_hash = await core.passwords.hash(password)
  await change(core, undefined, async (within, audit) => {
    await setPassword(within, user.id, { password_hash, mustChange: true })
    await within.updateTable('users').set({ status: userStatus.active }).where('id', '=', user.id).execute()
    if (resetsFactors) await resetFactors(within, user.id)
    const content = '在服务器上重置了密码 / The password was reset on the server'
    const record = { at: seconds(core.now()), userId: user.id, username: user.username, content }
    await recordLog(within, { type: logType.system, ...record })
    const after = { factors: resetsFactors ? 'removed' : 'kept' }
    audit({ action: 'user.root-password', target: `user:${user.id}`, after, topic: 'user', id: user.id })
  })
  return { username: user.username, password }
}

async function findRoot({ db }: Core, username: string | undefined) {
  const roots = db.selectFrom('users').select(['id', 'username', 'role']).where('deleted_at', 'is', null)
  const user =
    username === undefined
      ? await roots.where('role', '=', role.root).orderBy('id').executeTakeFirst()
      : await roots.where('username_key', '=', usernameKey(username)).executeTakeFirst()
  if (!user || !isRoot(user.role))
    throw new Error(username === undefined ? 'There is no super admin' : `${username} is no super admin`)
  return user
}
