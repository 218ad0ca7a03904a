import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Access, Routes } from '../src/contract/route.ts'
import { allRoutes } from '../src/contract/routes/index.ts'
import { fail } from '../src/server/lib/failure.ts'
import { type Signed, startConsole, type TestConsole } from './helpers/console.ts'

/** Every route of the contract for every kind of caller. What the handlers do is left out: reaching one is all that is asked. */
const kinds = ['nobody', 'banned', 'user', 'admin', 'root'] as const
type Kind = (typeof kinds)[number]

const refusals: Record<Access, Record<Kind, string | undefined>> = {
  public: { nobody: undefined, banned: undefined, user: undefined, admin: undefined, root: undefined },
  user: { nobody: 'not_signed_in', banned: 'not_signed_in', user: undefined, admin: undefined, root: undefined },
  admin: { nobody: 'not_signed_in', banned: 'not_signed_in', user: 'permission_denied', admin: undefined, root: undefined },
  root: {
    nobody: 'not_signed_in',
    banned: 'not_signed_in',
    user: 'permission_denied',
    admin: 'permission_denied',
    root: undefined,
  },
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
      ['user', 1],
      ['admin', 10],
      ['root', 100],
    ] as const) {
      callers.set(kind, await console.addUser(kind, { role }))
    }
    await console.app.db.updateTable('users').set({ status: 2 }).where('username', '=', 'banned').execute()
  })
  afterAll(() => console.stop())

  for (const [line, route] of Object.entries(allRoutes as Routes)) {
    it.each(kinds)(`${line} answers %s as its access says`, async (kind) => {
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
      if (refusal) expect([code, response.statusCode]).toEqual([refusal, refusal === 'not_signed_in' ? 401 : 200])
      // Bodies are empty here, so that a route with a body stops at its schema, after its access.
      else expect(['not_implemented', 'field_invalid']).toContain(code)
    })
  }
})
