import { expect } from 'vitest'
import { parseLine, type Routes } from '../../src/contract/route.ts'
import { allRoutes } from '../../src/contract/routes/index.ts'
import { createUser } from '../../src/server/people/accounts/users.ts'
import type { TestServer } from './app.ts'
import { fuzzer } from './fuzz.ts'

/** These would send requests to other hosts. */
const left =
  /\/update|data\/check|test_mail|channel\/(test|fetch_models)|model_changes|destination\/:id\/test|quality_check\/:id\/run/

/** The requests so far: their number, and the duration of the slowest reply. */
interface Fuzzed {
  readonly count: number
  readonly slowestMs: number
}

/** Sends made-up requests to every route as user, admin and super admin: none may cause an internal error. */
export async function fuzzRoutes(server: TestServer, { rounds, seed }: { rounds: number; seed: number }): Promise<Fuzzed> {
  const { app } = server
  const random = fuzzer(seed)
  const callers = await Promise.all([1, 10, 100].map((role) => newCaller(server, { role, seed })))
  let [count, slowestMs] = [0, 0]
  for (const [line, route] of Object.entries(allRoutes as Routes)) {
    if (left.test(line)) continue
    const { method, path } = parseLine(line)
    for (const caller of callers) {
      for (let round = 0; round < rounds; round++) {
        const request = random.request(path, route)
        const begun = performance.now()
        const response = await fetch(server.url + request.path, {
          method,
          headers: { ...caller.headers, 'x-forwarded-for': addressOf(++count), 'content-type': 'application/json' },
          ...(request.body === undefined ? {} : { body: request.body }),
        })
        const text = await response.text()
        slowestMs = Math.max(slowestMs, performance.now() - begun)
        // For endpoints that are not offered, the contract declares 501.
        expect(response.status, `seed ${seed}: ${line} ${JSON.stringify(request)}: ${text.slice(0, 200)}`).toBeLessThan(500)
        // The request may have disabled the account of the caller or ended its session.
        if (response.status === 401) await caller.comeBack()
      }
    }
  }
  expect((await app.db.selectFrom('users').select('id').where('id', '=', 1).where('status', '=', 1).execute()).length).toBe(1)
  return { count, slowestMs }
}

async function newCaller({ app }: TestServer, { role, seed }: { role: number; seed: number }) {
  const user = { username: `f${role}-${seed}`, displayName: '', password_hash: 'x', role, at: app.now() }
  const id = await app.db.transaction().execute((within) => createUser(within, user))
  const headers: Record<string, string> = { 'new-api-user': String(id) }
  const comeBack = async () => {
    await app.db.updateTable('users').set({ role, status: 1, deleted_at: null }).where('id', '=', id).execute()
    app.bus.publish('user', id)
    headers.cookie = `session=${await app.sessions.create({ userId: id, address: '192.0.2.1', userAgent: 'test' })}`
  }
  await comeBack()
  return { headers, comeBack }
}

/** A new address each time: client limits are tested elsewhere. */
function addressOf(count: number): string {
  return `198.${18 + (Math.floor(count / 62_500) % 2)}.${Math.floor(count / 250) % 250}.${(count % 250) + 1}`
}
