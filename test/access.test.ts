import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenInput } from '../src/contract/entities/token.ts'
import type { Access, Routes } from '../src/contract/route.ts'
import { allRoutes } from '../src/contract/routes/index.ts'
import { makeAccessToken } from '../src/server/accounts/access-tokens.ts'
import { fail } from '../src/server/lib/failure.ts'
import { createToken } from '../src/server/tokens/tokens.ts'
import { type Signed, startConsole, type TestConsole } from './helpers/console.ts'

/** Every route of the contract for every kind of caller. What the handlers do is left out: reaching one is all that is asked. */
const kinds = ['nobody', 'banned', 'deleted', 'key', 'spentKey', 'user', 'admin', 'adminToken', 'root'] as const
type Kind = (typeof kinds)[number]

const strangers = { nobody: 'not_signed_in', banned: 'not_signed_in', deleted: 'not_signed_in' } as const
/** A key of the relay, of the super admin too, opens nothing of the console. */
const keys = { key: 'access_token_invalid', spentKey: 'access_token_invalid' } as const
const outside = { ...strangers, ...keys }

/** Codes of refusals; a kind that is not named gets in. */
const refusals: Readonly<Record<Access, Partial<Record<Kind, string>>>> = {
  public: {},
  user: outside,
  admin: { ...outside, user: 'permission_denied' },
  root: { ...outside, user: 'permission_denied', admin: 'permission_denied', adminToken: 'permission_denied' },
}

describe('access', () => {
  let console: TestConsole
  const callers = new Map<Kind, Signed>()

  beforeAll(async () => {
    const lines = Object.keys(allRoutes)
    const reached = Object.fromEntries(lines.map((line) => [line, () => fail('not_implemented')]))
    console = await startConsole('sqlite', { handlers: reached })
    for (const [kind, role] of [
      ['banned', 100],
      ['deleted', 100],
      ['user', 1],
      ['admin', 10],
      ['root', 100],
    ] as const) {
      callers.set(kind, await console.addUser(kind, { role }))
    }
    const { app } = console
    await app.db.updateTable('users').set({ status: 2 }).where('username', '=', 'banned').execute()
    await app.db.updateTable('users').set({ deleted_at: 1 }).where('username', '=', 'deleted').execute()

    const owner = callers.get('root') ?? callers.values().next().value
    if (!owner) throw new Error('There is no root')
    for (const kind of ['key', 'spentKey'] as const) {
      const input = tokenInput.parse({ name: kind, remain_quota: kind === 'key' ? 5 : 0 })
      const { key } = await createToken(app, { userId: owner.id, mayUse: () => true, input })
      callers.set(kind, bearer(owner, `sk-${key}`))
    }
    const admin = callers.get('admin') ?? owner
    callers.set('adminToken', bearer(admin, await makeAccessToken(app, { userId: admin.id })))
  })
  afterAll(() => console.stop())

  for (const [line, route] of Object.entries(allRoutes as Routes)) {
    it.each(kinds)(`[T049] ${line} answers %s as its access says`, async (kind) => {
      const as = callers.get(kind)
      console.clock.passSeconds(3600 / kinds.length)
      const response = await console.call(line.replace(/:\w+/g, '1'), {
        ...(as ? { as } : {}),
        ...(route.body ? { body: {} } : {}),
      })
      const refusal = refusals[route.access][kind]
      // Peers of such routes read this text and nothing else.
      if (route.text?.refusal !== undefined) return expect([route.access, response.body]).toEqual(['public', route.text.refusal])
      const { success, code } = response.json()

      expect(success).toBe(false)
      if (refusal) expect([code, response.statusCode]).toEqual([refusal, refusal === 'permission_denied' ? 200 : 401])
      // Bodies are empty here, so that a route with a body stops at its schema, after its access.
      else expect(['not_implemented', 'field_invalid']).toContain(code)
    })
  }
})

/** The same user, known by a text that is sent instead of a cookie. */
function bearer({ id, username, headers }: Signed, text: string): Signed {
  const { cookie: _cookie, ...others } = headers
  return { id, username, headers: { ...others, authorization: `Bearer ${text}` } }
}
