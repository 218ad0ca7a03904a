import { onTestFinished } from 'vitest'
import { type Env, readEnv } from '../../src/server/base/env.ts'
import { builtWeb, listen } from '../../src/server/console/http/server.ts'
import { readConsoleFiles } from '../../src/server/console/http/static-files.ts'
import { openApp, type Replaceable } from '../../src/server/run/app.ts'
import type { App } from '../../src/server/watch/parts.ts'
import { withAxe } from './axe.ts'
import { isWatched, note } from './canaries.ts'
import { cheapPasswords, rootPassword, testMasterKey } from './core.ts'
import { type DatabaseKind, freshDatabase, type TestDatabase } from './databases.ts'
import { testLogger } from './logger.ts'

export { rootPassword }

/** Read once for all servers: there are hundreds of files. */
const consoleFiles = withAxe(readConsoleFiles(builtWeb))

/** A complete server on a free port of loopback with its own database, and a logged-in root. */
export interface TestServer {
  readonly url: string
  readonly app: App
  readonly database: TestDatabase
  /** Set where tests share the server: the tokens of this test, which reads only their rows. */
  readonly ownTokens?: ReadonlySet<number>
  /** Calls the console as root; throws when the answer is not a success. */
  call<Data = unknown>(line: string, body?: unknown): Promise<Data>
  /** Calls the console as root and returns the raw reply. */
  raw(line: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  /** `limitMs`: the time for running requests to end; `idleMs`: the time for which connections may stay idle. */
  stop(limitMs?: number, idleMs?: number): Promise<void>
}

/** Starts a server that stops with the test. Call it inside a test; in hooks use `startServer`. */
export async function serverOfTest(kind: DatabaseKind, more: ServerSettings = {}): Promise<TestServer> {
  const server = await startServer(kind, more)
  onTestFinished(() => server.stop())
  return server
}

export interface ServerSettings extends Replaceable {
  readonly env?: Partial<Env>
  /** Shares the database of another server: a second node. */
  readonly database?: TestDatabase
}

export async function startServer(kind: DatabaseKind, { env, database, ...replaced }: ServerSettings = {}): Promise<TestServer> {
  const hasOwnRoot = env?.ROOT_PASSWORD !== undefined || env?.MASTER_KEY !== undefined
  const own = database ?? (await freshDatabase(kind, hasOwnRoot ? 'migrated' : 'started'))
  const settings = {
    ...readEnv({}),
    PORT: 0,
    ROOT_PASSWORD: rootPassword,
    MASTER_KEY: testMasterKey.toString('base64'),
    ...own.env,
    ...env,
  }
  const open = await openApp(settings, { logger: testLogger(), passwords: cheapPasswords(), ...replaced })
  const server = await listen(open.app, consoleFiles)
  const url = server.url.replace('localhost', '127.0.0.1')
  const cookie = `session=${await open.app.sessions.create({ userId: 1, address: '127.0.0.1', userAgent: 'test' })}`

  const raw = (line: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method = 'GET', path = '/'] = line.split(' ')
    return fetch(url + path, {
      method,
      headers: { cookie, 'new-api-user': '1', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  return {
    url,
    app: open.app,
    database: own,
    raw,
    async call<Data>(line: string, body?: unknown): Promise<Data> {
      const response = await raw(line, body)
      const answer = (await response.json()) as { success: boolean; message: string; data: Data }
      if (!answer.success) throw new Error(`${line}: ${answer.message}`)
      return answer.data
    },
    async stop(limitMs = 2000, idleMs = 0) {
      if (isWatched) note('metrics', await open.app.metrics.registry.metrics())
      await server.stop(limitMs, idleMs)
      await open.close()
      if (!database) await own.drop()
    },
  }
}

export async function signIn(url: string, password = rootPassword): Promise<string> {
  for (let tries = 1; ; tries++) {
    const response = await fetch(`${url}/api/user/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'root', password }),
    })
    const cookie = response.headers.get('set-cookie')?.split(';', 1)[0]
    if (cookie) return cookie
    // On a busy machine the database may accept its first connections late.
    if (response.status !== 503 || tries === 20) throw new Error(`Root could not sign in: ${await response.text()}`)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

/** Calls the console of a server in another process, with a cookie of `signIn`; throws when the answer is not a success. */
export function consoleCalls(url: string, cookie: string) {
  return async <Data = unknown>(line: string, body?: unknown): Promise<Data> => {
    const [method = 'GET', path = '/'] = line.split(' ')
    const headers = { cookie, 'new-api-user': '1', 'content-type': 'application/json' }
    const response = await fetch(url + path, {
      method,
      headers: body === undefined ? { cookie, 'new-api-user': '1' } : headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { success: boolean; message: string; data: Data }
    if (!answer.success) throw new Error(`${line}: ${answer.message}`)
    return answer.data
  }
}
