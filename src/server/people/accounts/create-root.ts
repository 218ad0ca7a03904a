import { sql } from 'kysely'
import { role } from '../../../contract/roles.ts'
import { AppError } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { credit } from '../../money/ledger/credit.ts'
import { type Passwords, requireGoodPassword } from './passwords.ts'
import { createUser } from './users.ts'

const rootName = 'root'
const defaultPassword = '123456'
const openingQuota = 100_000_000

/**
 * Creates the super admin when there are no users: `root` with `ROOT_PASSWORD`, or with the well-known default, which has to be
 * changed. Any number of nodes may start at the same time; one of them creates it. The initial quota is granted in the same
 * transaction. Returns the account, or undefined when users exist. Throws when `ROOT_PASSWORD` breaks the rules for passwords.
 */
export async function createRoot(
  core: Core & { readonly passwords: Passwords },
): Promise<{ userId: number; defaultPassword: boolean } | undefined> {
  if (await hasUsers(core.db)) return undefined
  const password = core.env.ROOT_PASSWORD || defaultPassword
  const isDefault = password === defaultPassword
  if (!isDefault) requireUsableRootPassword(password)
  const password_hash = await core.passwords.hash(password)
  const at = core.now()

  return core.db.transaction().execute(async (within) => {
    // SQLite transactions hold the write lock from their start; here another node may have got as far.
    if (core.database.dialect === 'postgres') await sql`lock table users in exclusive mode`.execute(within)
    if (await hasUsers(within)) return undefined

    const more = { must_change_password: isDefault ? 1 : 0 }
    const userId = await createUser(within, {
      username: rootName,
      displayName: 'Root User',
      password_hash,
      role: role.root,
      at,
      more,
    })
    const reference = `grant:${userId}`
    await credit(within, { userId, kind: 'grant', amount: openingQuota, reference, at: seconds(at) })
    return { userId, defaultPassword: isDefault }
  })
}

async function hasUsers(db: Core['db']): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

function requireUsableRootPassword(password: string): void {
  try {
    requireGoodPassword(password, rootName)
  } catch (error) {
    if (error instanceof AppError) throw new Error(`ROOT_PASSWORD: ${error.message}`, { cause: error })
    throw error
  }
}
