import { request } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errors } from '../../src/contract/errors.ts'
import { parseLine, type Routes } from '../../src/contract/route.ts'
import { allRoutes } from '../../src/contract/routes/index.ts'
import { fail } from '../../src/server/base/lib/failure.ts'
import { scimLines } from '../../src/server/console/calls/scim.ts'
import { buildConsoleServer } from '../../src/server/console/http/console-server.ts'
import { type Endpoint, findEndpoint, relayLines } from '../../src/server/gateway/relay/http/endpoints.ts'
import type { TaskCall } from '../../src/server/gateway/relay/http/task-paths.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { setOptions } from '../helpers/seed.ts'
import { type Headers, makeCallers } from './callers.ts'
import { type Answer, matrix, type Policy, policies, refusals } from './matrix.ts'

/** Tests every address of the server for every kind of caller, as declared in the matrix. */
const consoleRoutes = allRoutes as Routes
/** Policies enforced by the handlers of the console, and not by the authorization before them. */
const decidedByHandlers: readonly Policy[] = ['visit', 'user!', 'self!', 'session', 'admin!']

describe('the matrix', () => {
  it('[T049] names every address of the console, the relay and the rest of the server, and no other', async () => {
    const named = policies.map(([line]) => line)
    const served = [...Object.keys(consoleRoutes), ...otherLines, ...relayLines(), 'FILE /']
    expect(named.filter((line, at) => named.indexOf(line) !== at)).toEqual([])
    expect([...named].sort()).toEqual(served.sort())
  })

  it('[T049] covers every kind of call that the relay answers', () => {
    // A new kind does not compile until it is listed here, and has no address until it is in the list of the relay.
    const kinds: Record<Exclude<Endpoint['kind'], 'unknown'> | TaskCall['action'], true> = {
      ...{
        relay: true,
        count: true,
        response: true,
        request: true,
        socket: true,
        models: true,
        billing: true,
        model: true,
        task: true,
        file: true,
        batch: true,
      },
      ...{ 'not-offered': true, draw: true, drawing: true, seed: true, image: true, drawings: true, notify: true },
      ...{ compose: true, song: true, songs: true, film: true, video: true, videos: true, clip: true, 'delete-video': true },
    }
    const seen = new Set<string>()
    for (const line of relayLines().filter((each) => !each.startsWith('WEBSOCKET'))) {
      const { method, path } = parseLine(filled(line))
      const found = findEndpoint(method, path, {})
      seen.add('kind' in found ? found.kind : `${line} takes another method`)
      if ('kind' in found && found.kind === 'task') seen.add(found.taskCall.action)
    }
    expect([...seen].sort()).toEqual(Object.keys(kinds).sort())
  })
})

const otherLines = [
  'GET /healthz',
  'GET /health',
  'GET /livez',
  'GET /ping',
  'GET /readyz',
  'GET /metrics',
  'GET /api/openapi.json',
  ...Object.keys(scimLines),
]

anyDatabase('callers', (_fresh, kind) => {
  let server: TestServer
  let callers: ReadonlyMap<string, Headers>
  /** The console over the same accounts, with empty handlers: for calls with side effects, only reaching the handler is tested. */
  let gate: FastifyInstance

  beforeAll(async () => {
    server = await startServer(kind, { env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
    await setOptions(server, offered)
    callers = await makeCallers(server, matrix.keys())
    const reached = Object.fromEntries(Object.keys(consoleRoutes).map((line) => [line, () => fail('not_implemented')]))
    // Handlers of all lines, whose types are not known here one by one.
    gate = buildConsoleServer(server.app, reached as never)
  })
  afterAll(async () => {
    await gate.close()
    await server.stop()
  })

  it('[T049] the console has no address outside of its contract', async () => {
    await gate.ready()
    const listed = linesOf(gate.printRoutes({ commonPrefix: false }))
    const declared = [...Object.keys(consoleRoutes), ...otherLines].map((line) => line.replace(/\/$/, ''))
    expect(listed.sort()).toEqual(declared.sort())
  })

  // The accounts behind the answers are the same for all addresses of a policy: one of each shows them over the second database.
  const firstOfEach = new Map(policies.toReversed().map(([line, policy]) => [policy, line]))
  const asked = kind === 'sqlite' ? policies : policies.filter(([line, policy]) => firstOfEach.get(policy) === line)
  // Deleting the own account ends the identity of the caller, so it is tested last.
  const leaves = ([line]: (typeof asked)[number]) => Number(line === 'DELETE /api/user/self')
  const ordered = asked.toSorted((one, other) => leaves(one) - leaves(other))

  it.each(ordered)('[T049] %s is for %s', async (line, policy) => {
    const isGuarded = line in consoleRoutes && !decidedByHandlers.includes(policy)
    const told = await Promise.all(
      [...callers].map(async ([caller, headers]) => {
        const answer = isGuarded ? await askGate(line, headers) : await ask(line, headers)
        return [caller, nameOf(line, answer, matrix.get(caller)?.[policy])]
      }),
    )
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries([...matrix].map(([caller, row]) => [caller, row[policy]])))
  })

  it.runIf(kind === 'sqlite')('[T049] no other call that changes something wants a proof of who is there', async () => {
    const lines = policies.filter(([line, policy]) => isQuietWrite(line) && !decidedByHandlers.includes(policy))
    const asking = lines.map(async ([line, policy]) => {
      const answers = ['root', 'root, old', 'root, token'].map((caller) => ask(line, callers.get(caller) ?? {}))
      const told = (await Promise.all(answers)).map((answer) => nameOf(line, answer, 'in'))
      return told.every((answer) => answer === 'in') ? [] : [`${line} is for ${policy}, but says ${told.join(', ')}`]
    })
    expect((await Promise.all(asking)).flat()).toEqual([])
  })

  let calls = 0
  /** An address for each call, so that limits of clients do not add up. */
  const address = () => `198.${18 + (++calls >> 16)}.${(calls >> 8) & 255}.${calls & 255}`

  async function askGate(line: string, headers: Headers): Promise<Received> {
    const { method, path } = parseLine(filled(line))
    const { statusCode, body } = await gate.inject({
      // A method of the contract.
      method: method as 'GET',
      url: path,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(consoleRoutes[line]?.body ? { payload: '{}' } : {}),
      remoteAddress: address(),
    })
    return { status: statusCode, text: body }
  }

  function ask(line: string, headers: Headers): Promise<Received> {
    const { method, path } = parseLine(filled(line))
    const isSocket = method === 'WEBSOCKET'
    const query = line in consoleRoutes && method === 'GET' ? `?${new URLSearchParams(signed)}` : ''
    const hasBody = line in consoleRoutes ? consoleRoutes[line]?.body !== undefined : method === 'POST'
    return new Promise((resolve, reject) => {
      const sent = request(server.url + path + query, {
        method: isSocket || method === 'FILE' ? 'GET' : method,
        headers: {
          ...headers,
          'x-forwarded-for': address(),
          ...(hasBody ? { 'content-type': 'application/json' } : {}),
          ...(isSocket ? handshake : {}),
        },
      })
      sent.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text })).on('error', reject)
      })
      sent.on('upgrade', (response, socket) => {
        socket.destroy()
        resolve({ status: response.statusCode ?? 0, text: '' })
      })
      sent.on('error', reject).end(hasBody ? JSON.stringify(bodies[line] ?? {}) : undefined)
    })
  }
})

interface Received {
  readonly status: number
  readonly text: string
}

/** The cell of an answer, or its message if there is no such cell. */
function nameOf(line: string, { status, text }: Received, expected: Answer | undefined): string {
  // For these calls the answer to an admitted caller has the same text.
  const own = expected === 'in' ? ['link', ...(line.startsWith('GET /metrics') ? [] : ['hidden'])] : []
  const found = Object.entries(refusals).find(
    ([name, codes]) => !own.includes(name) && codes.some((code) => saidIn(text, errors[code].text)),
  )
  if (!found) return status === 401 ? `${status} ${text}` : 'in'
  const [name, codes] = found
  const statuses = codes.map((code) => {
    const kind: { status: number; onConsole?: 'status' } = errors[code]
    return line in consoleRoutes && !kind.onConsole ? 200 : kind.status
  })
  return statuses.includes(status) ? name : `${name} with ${status}`
}

/** Whether a text contains a message, compared up to its first parameter. */
function saidIn(text: string, said: { zh: string; en: string }): boolean {
  return [said.zh, said.en].some((each) => text.includes(each.split('{', 1)[0] ?? each))
}

function filled(line: string): string {
  return line.replace(':provider', 'github').replace(/:(?:id|key|name)\b|\{\w+\}/g, '999')
}

/** The routes in the router's printed tree. */
function linesOf(tree: string): string[] {
  const path: string[] = []
  return tree.split('\n').flatMap((row) => {
    const [, indent = '', part = '', methods = ''] = /^(.*?)[├└]── (\S+) \((.+)\)$/.exec(row) ?? []
    if (part === '') return []
    path.splice(indent.length / 4, path.length, part)
    return methods.split(', ').map((method) => `${method} ${path.join('')}`)
  })
}

const handshake = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/** Writing calls that neither call out nor end or change the callers of this test. */
function isQuietWrite(line: string): boolean {
  const { method } = parseLine(line)
  const isWrite = line in consoleRoutes && (method !== 'GET' || consoleRoutes[line]?.writes === true)
  return (
    isWrite &&
    !/\/update|test_mail|fetch_models|proposals|data\/check|\/job\/|model_changes|logout|\/user\/(sessions|token)/.test(line)
  )
}

const telegram = { id: '1', auth_date: '1', hash: 'a'.repeat(64) }
const signed = { ...telegram, email: 'a@example.com', code: '1' }

/** Bodies for calls that check more than their schemas. */
const bodies: Readonly<Record<string, object>> = {
  // The name already exists: otherwise the first caller would get it, and a new password for the rest of the test.
  'PUT /api/user/self': { username: 'root', password: 'another pass 9' },
  'POST /api/oauth/email/bind': { email: 'a@example.com', code: '1' },
  'POST /api/oauth/wechat/bind': { code: '1' },
  'POST /api/oauth/telegram/bind': { ...telegram, state: 'x' },
  'POST /api/user/binding': { provider: 'github' },
  'POST /api/user/passkey': { name: 'x', answer: {} },
  'POST /api/user/verify': { password: 'x' },
  'POST /api/user/verify/passkey': { answer: {} },
  'POST /api/topup/:id/complete': { reason: 'x' },
  'POST /api/topup/:id/withdraw': { reason: 'x', quota: 1 },
}

/** Options to enable, so that the calls reach the authentication check. */
const offered = {
  GitHubClientId: 'x',
  GitHubClientSecret: 'x',
  TelegramBotToken: '1:x',
  TelegramBotName: 'x',
  WeChatServerToken: 'x',
  WeChatServerAddress: 'http://127.0.0.1:9',
  GitHubOAuthEnabled: 'true',
  TelegramOAuthEnabled: 'true',
  WeChatAuthEnabled: 'true',
}
