import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { Rule } from '../../src/server/gateway/limits/rule.ts'
import { type ServerSettings, serverOfTest, type TestServer } from '../helpers/app.ts'
import type { DatabaseKind } from '../helpers/databases.ts'
import { listening, listeningInTest } from '../helpers/listening.ts'
import { addChannel, addToken } from '../helpers/seed.ts'

export const model = 'gpt-4o-mini'
export const claude = 'claude-3-5-sonnet-20241022'
export const upstreamKey = 'upstream-key-0123456789'

/** A Chat request; `more` replaces or adds members. */
export const chat = (more: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: 'user', content: 'one two three' }],
  ...more,
})

/** A server with one channel to `url` and one unlimited token. */
export async function stage(
  kind: DatabaseKind,
  url: string,
  more: { channel?: Record<string, unknown>; server?: ServerSettings } = {},
) {
  const server = await serverOfTest(kind, more.server)
  const channelId = await addChannel(server, { url, models: model, key: upstreamKey, ...more.channel })
  const token = await addToken(server)
  return {
    server,
    channelId,
    token,
    ask: (body: unknown, path?: string, headers?: Record<string, string>) => ask(server, token.key, body, path, headers),
  }
}

export async function ask(
  server: Pick<TestServer, 'url'>,
  key: string,
  body: unknown,
  path = '/v1/chat/completions',
  headers: Record<string, string> = {},
) {
  const response = await post(server, key, body, path, { headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Sends a call as JSON, or the bytes that it has. Its answer is not read yet. */
export function post(
  server: Pick<TestServer, 'url'>,
  key: string,
  body: unknown,
  path = '/v1/chat/completions',
  { headers, signal }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  })
}

/** Repeats the request while the database was too busy to reserve in time, as on a loaded machine. */
export async function askWithRetry(...given: Parameters<typeof ask>): ReturnType<typeof ask> {
  for (;;) {
    const answer = await ask(...given)
    if (!answer.text.includes('The database is unavailable')) return answer
  }
}

/** An HTTP upstream with the given listener. Returns its URL. */
export function httpUpstream(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  return listeningInTest(server)
}

/** A request that an upstream got. */
export interface Heard {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer<ArrayBuffer>
  /** The parsed JSON; an empty object for any other content. */
  readonly body: Record<string, unknown>
}

interface ReplyMore {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The content type, if it is neither JSON nor a stream of events. */
  readonly type?: string
  /** The size of the pieces in which the reply is sent. */
  readonly size?: number
}

/** A reply as JSON or as bytes, of which a text may be alone. When it is undefined, the upstream never answers. */
export type ProgrammedReply =
  | string
  | (ReplyMore & { readonly json: unknown })
  | (ReplyMore & { readonly bytes: string | Buffer })
  | undefined

export type Answer = (heard: Heard, count: number) => ProgrammedReply | Promise<ProgrammedReply>

/** An HTTP upstream that reads each request, records it and answers it. */
export async function answeringUpstream(answer: ProgrammedReply | Answer): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = []
  const url = await httpUpstream(async (request, response) => {
    // A caller may leave.
    const bytes = await buffer(request).catch(() => undefined)
    if (!bytes) return
    const isJson = String(request.headers['content-type']).includes('json') && bytes.length > 0
    const one: Heard = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      bytes,
      body: isJson ? JSON.parse(bytes.toString()) : {},
    }
    heard.push(one)
    const reply = typeof answer === 'function' ? await answer(one, heard.length) : answer
    if (reply !== undefined) await send(response, typeof reply === 'string' ? { bytes: reply } : reply)
  })
  return { url, heard }
}

async function send(response: ServerResponse, reply: Exclude<ProgrammedReply, string | undefined>): Promise<void> {
  const { status = 200, headers, size = Number.POSITIVE_INFINITY } = reply
  const text = 'json' in reply ? JSON.stringify(reply.json) : reply.bytes
  const isEvents = typeof text === 'string' && /^(?:data|event):/.test(text)
  response.writeHead(status, { 'content-type': reply.type ?? (isEvents ? 'text/event-stream' : 'application/json'), ...headers })
  const bytes = Buffer.from(text)
  for (let at = 0; size < bytes.length && at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size))
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end(size < bytes.length ? undefined : bytes)
}

/** A TCP upstream: `talk` is called with each connection. */
export function tcpUpstream(talk: (socket: Socket, connection: number) => void): Promise<string> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    talk(socket, ++connections)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return listening(server)
}

/** A whole HTTP answer as bytes. */
export function answerBytes(body: string, headers: Record<string, string> = {}, status = '200 OK'): string {
  const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers }
  return `HTTP/1.1 ${status}\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`
}

export const completion = (more: Record<string, unknown> = {}) =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_760_000_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'four five six' }, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    ...more,
  })

export const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
export const piece = (content: string, finish: string | null = null) =>
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model,
    choices: [{ index: 0, delta: finish ? {} : { content }, finish_reason: finish }],
  })

/** Sends bytes on a connection and collects the reply. */
export function speak(server: Pick<TestServer, 'url'>, bytes: string | Buffer) {
  const { port, hostname } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  // Node queues bytes that are written before the connection is open.
  socket.write(bytes)
  let got = ''
  let isClosed = false
  const listeners = new Set<() => void>()
  const news = () => {
    for (const listener of listeners) listener()
  }
  socket.on('data', (data) => {
    got += data.toString('latin1')
    news()
  })
  socket.on('error', () => {})
  socket.once('close', () => {
    isClosed = true
    news()
  })
  onTestFinished(() => void socket.destroy())

  return {
    socket,
    /** Resolves with the received bytes once `fits` accepts them or the connection is closed. */
    until: (fits: (text: string) => boolean) =>
      new Promise<string>((resolve) => {
        const look = () => {
          if (!fits(got) && !isClosed) return
          listeners.delete(look)
          resolve(got)
        }
        listeners.add(look)
        look()
      }),
    get isClosed() {
      return isClosed
    },
  }
}

export function requestBytes(
  key: string,
  body: string,
  headers: Record<string, string> = {},
  path = '/v1/chat/completions',
): string {
  const all = {
    host: 'x',
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }
  return `POST ${path} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`
}

/** Waits until something holds; throws after half a minute. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1500; tries++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`It did not come to pass that ${what}`)
}

/** Waits until every request that was sent has ended and nothing is held, and returns the charges by request id. */
export async function settledCharges(server: TestServer): Promise<{ id: string; amount: number }[]> {
  await everyRequestArrived(server)
  await eventually('the relay is idle', async () => (await running(server)) === 0)
  const { db } = server.app
  await eventually('nothing is held', async () => {
    const users = await db.selectFrom('users').select('held').execute()
    return users.every(({ held }) => held === 0)
  })
  const charges = db.selectFrom('ledger').select(['reference', 'amount']).where('kind', '=', 'charge').orderBy('id')
  const own = server.ownTokens ? charges.where('token_id', 'in', [...server.ownTokens]) : charges
  return (await own.execute()).map(({ reference, amount }) => ({ id: reference.slice('charge:'.length), amount: -amount }))
}

/** Requests of a test count in Redis, even if it answers late: this machine may be busy. */
export const patient = { waitMs: 120_000 }

export const probe: Rule = {
  ...{ key: 'probe', scope: 'channel', windowMs: 60_000 },
  ...{ requests: 1e6, successes: 0, tokens: 0, concurrency: 0 },
}

export function askRedis({ app }: TestServer, rule: Rule) {
  return app.counters.shared?.acquire([rule], { id: 'probe', inputTokens: 0, outputTokens: 0 })
}

/** Waits until the server counts requests in Redis. */
export function countsInRedis(server: TestServer): Promise<void> {
  return eventually('the server counts in Redis', async () => (await askRedis(server, probe)) !== undefined)
}

/** The number of requests that the relay has begun and not ended. */
export async function running({ app }: TestServer): Promise<number> {
  return (await app.metrics.relayOpen.get()).values.reduce((sum, { value }) => sum + value, 0)
}

/**
 * Waits until the server has begun every request that was sent before, also those of callers who have left. Connections are accepted in
 * their order, one in each turn of the event loop: when a later one is answered, the bytes of all earlier ones have been read.
 */
function everyRequestArrived({ url }: TestServer): Promise<void> {
  const { port, hostname } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write('OPTIONS /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
    )
    socket.once('error', reject).once('end', resolve).resume()
  })
}
