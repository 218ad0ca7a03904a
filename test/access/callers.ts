import { tokenInput } from '../../src/contract/entities/token.ts'
import { seconds } from '../../src/server/base/lib/time/clock.ts'
import { makeAccessToken } from '../../src/server/people/accounts/access-tokens.ts'
import { createUser } from '../../src/server/people/accounts/users.ts'
import { createToken } from '../../src/server/people/tokens/tokens.ts'
import { goodHash } from '../helpers/accounts.ts'
import type { TestServer } from '../helpers/app.ts'

/** The headers that identify a caller. */
export type Headers = Readonly<Record<string, string>>

const roles = { user: 1, admin: 10, root: 100 }

/** The callers of the matrix, by their names. Each is a separate user, so that none changes what another may do. */
export async function makeCallers({ app }: TestServer, names: Iterable<string>): Promise<ReadonlyMap<string, Headers>> {
  const { db } = app
  const makers = [...names].map(async (name, index): Promise<readonly [string, Headers]> => {
    const { role, isKey, isBanned, isDeleted } = readName(name)
    if (name === 'nobody') return [name, {}]
    const user = { username: `caller${index}`, displayName: '', password_hash: await goodHash }
    const id = await db.transaction().execute((within) => createUser(within, { ...user, role: roles[role], at: app.now() }))
    const headers = isKey ? await keyOf(id, name) : await signIn(id, name)
    if (isBanned) await db.updateTable('users').set({ status: 2 }).where('id', '=', id).execute()
    if (name.endsWith('known password'))
      await db.updateTable('users').set({ must_change_password: 1 }).where('id', '=', id).execute()
    if (isDeleted) await db.updateTable('users').set({ deleted_at: 1 }).where('id', '=', id).execute()
    return [name, headers]
  })
  return new Map(await Promise.all(makers))

  async function signIn(id: number, name: string): Promise<Headers> {
    const user = { 'new-api-user': String(id) }
    if (name.endsWith('token')) return { ...user, authorization: `Bearer ${await makeAccessToken(app, { userId: id })}` }
    const token = await app.sessions.create({ userId: id, address: '127.0.0.1', userAgent: 'test' })
    const minutes = name.endsWith('old') ? 11 : 8
    const authenticated_at = seconds(app.now()) - minutes * 60
    await db.updateTable('sessions').set({ authenticated_at }).where('user_id', '=', id).execute()
    return { ...user, cookie: `session=${token}` }
  }

  async function keyOf(userId: number, name: string): Promise<Headers> {
    const input = tokenInput.parse({ name: 'key', unlimited_quota: true })
    const { id, key } = await createToken(app, { userId, mayUse: () => true, input })
    const states: Readonly<Record<string, object>> = {
      'exhausted key': { unlimited_quota: 0, remain_quota: 0 },
      'expired key': { expired_time: seconds(app.now()) - 1 },
      'disabled key': { status: 2 },
      'deleted key': { deleted_at: 1 },
    }
    const state = states[name]
    if (state) await db.updateTable('tokens').set(state).where('id', '=', id).execute()
    const sent = name === 'unknown key' ? 'x'.repeat(key.length) : key
    return { 'new-api-user': String(userId), authorization: `Bearer sk-${sent}` }
  }
}

function readName(name: string) {
  const role = name.includes('root') ? 'root' : name.includes('admin') ? 'admin' : 'user'
  return {
    role,
    isKey: name.includes('key'),
    isBanned: name.includes('banned'),
    isDeleted: name.includes('deleted root'),
  } as const
}
