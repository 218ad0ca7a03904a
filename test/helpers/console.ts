import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { Routes } from '../../src/contract/route.ts'
import { allRoutes } from '../../src/contract/routes/index.ts'
import type { Env } from '../../src/server/base/env.ts'
import { fail } from '../../src/server/base/lib/failure.ts'
import { externalIdentityHandlers } from '../../src/server/console/calls/external-identity.ts'
import { ownAccountHandlers } from '../../src/server/console/calls/own-account.ts'
import { passkeyHandlers } from '../../src/server/console/calls/passkeys.ts'
import { registrationHandlers } from '../../src/server/console/calls/registration.ts'
import { secondFactorHandlers } from '../../src/server/console/calls/second-factor.ts'
import { sessionHandlers } from '../../src/server/console/calls/session.ts'
import { userHandlers } from '../../src/server/console/calls/users.ts'
import { buildConsoleServer } from '../../src/server/console/http/console-server.ts'
import { readConsoleFiles } from '../../src/server/console/http/static-files.ts'
import { Counters } from '../../src/server/gateway/limits/counters.ts'
import { RunningDownloads } from '../../src/server/gateway/limits/running-downloads.ts'
import type { EndpointSettings } from '../../src/server/people/accounts/external-identity/endpoints.ts'
import { createUser } from '../../src/server/people/accounts/users.ts'
import type { App } from '../../src/server/watch/parts.ts'
import { accountParts, goodHash, goodPassword } from './accounts.ts'
import { newClock, type TestClock } from './clock.ts'
import { testCore } from './core.ts'
import { type DatabaseKind, freshDatabase } from './databases.ts'
import { testLogger } from './logger.ts'

export const password = goodPassword

export interface Signed {
  readonly id: number
  readonly username: string
  readonly headers: Record<string, string>
}

export interface TestConsole {
  readonly app: App
  readonly server: FastifyInstance
  readonly clock: TestClock
  readonly logged: string[]
  addUser(username: string, more?: { role?: number; must_change_password?: number }): Promise<Signed>
  /** Makes a call named by its line; the caller inserts the parameters of the path. */
  call(line: string, given?: Given): Promise<LightMyRequestResponse>
  stop(): Promise<void>
}

interface Given {
  readonly as?: Signed
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly from?: string
}

/**
 * The console with only accounts: routes of other parts exist with their authorization and answer `not_implemented`, so that these
 * tests cover the console itself. Complete servers are in `app.ts`.
 */
export async function startConsole(
  kind: DatabaseKind,
  given: {
    handlers?: Record<string, unknown>
    env?: Partial<Env>
    webFolder?: string
    documents?: string
    isReady?: () => boolean
    identityProviders?: EndpointSettings
  } = {},
): Promise<TestConsole> {
  const test = await freshDatabase(kind)
  const database = await test.open()
  const clock = newClock()
  const logged: string[] = []
  const logger = testLogger('info', (line) => void logged.push(line))
  const core = { ...(await testCore(database, { now: () => clock.now(), ...(given.env ? { env: given.env } : {}) })), logger }
  const { close, ...accounts } = accountParts(core, undefined, given.identityProviders)
  const { sessions } = accounts

  // Parts that no handler of these tests reaches are left out.
  const counters = new Counters({ now: core.now })
  const downloads = new RunningDownloads()
  const app = { ...core, ...accounts, counters, downloads, version: 'test', startedAt: 0 } as unknown as App
  const missing = Object.fromEntries(Object.keys(allRoutes as Routes).map((line) => [line, () => fail('not_implemented')]))
  // Handlers of all lines, whose types are not known here one by one.
  const handlers = {
    ...missing,
    ...sessionHandlers,
    ...registrationHandlers,
    ...ownAccountHandlers,
    ...secondFactorHandlers,
    ...passkeyHandlers,
    ...externalIdentityHandlers,
    ...userHandlers,
    ...given.handlers,
  } as never
  const { webFolder, documents, isReady = () => true } = given
  const files = webFolder === undefined ? undefined : readConsoleFiles(webFolder)
  const server = buildConsoleServer(app, handlers, { files, isReady, ...(documents === undefined ? {} : { documents }) })

  return {
    app,
    server,
    clock,
    logged,
    async addUser(username, { role = 1, must_change_password = 0 } = {}) {
      const user = { username, displayName: '', password_hash: await goodHash, role, at: clock.now() }
      const id = await core.db.transaction().execute((within) => createUser(within, { ...user, more: { must_change_password } }))
      const token = await sessions.create({ userId: id, address: '127.0.0.1', userAgent: 'test' })
      return { id, username, headers: { cookie: `session=${token}`, 'new-api-user': String(id) } }
    },
    async call(line, { as, headers, body, from } = {}) {
      const [method = 'GET', url = '/'] = line.split(' ')
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return server.inject({
        method: method as 'GET',
        url,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...as?.headers, ...headers },
        ...(text === undefined ? {} : { payload: text }),
        ...(from === undefined ? {} : { remoteAddress: from }),
      })
    },
    async stop() {
      await server.close()
      await close()
      core.options.close()
      await database.close()
      await test.drop()
    },
  }
}
