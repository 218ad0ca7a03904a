import net from 'node:net'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isTorture } from '../../../../../../test/helpers/torture.ts'
import { guardedConnector } from '../guarded-connect.ts'
import { systemResolve } from '../resolve-name.ts'
import type { ReplyHandler } from './connection.ts'
import { UpstreamPool } from './pool.ts'
import { MalformedReply } from './reply-parser.ts'

/**
 * Replies of a hostile upstream, read by this project's client and by undici, whose parser is llhttp. A reply that this client
 * accepts must be the same reply for undici: a difference would let an upstream smuggle a part of one reply into another. It may be
 * stricter.
 */

/** Numbers that are the same in every run with the same seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

type Random = () => number

function oneOf<Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(random() * items.length)] ?? items[0]
}

const lines = ['HTTP/1.1 200 OK', 'HTTP/1.1 200', 'HTTP/1.1 200 ', 'HTTP/1.0 200 OK', 'HTTP/1.1 429 Slow down', 'HTTP/1.1 204 None', 'HTTP/1.1 304 Same', 'HTTP/1.1  200 OK', 'HTTP/1.1 2000 OK', 'http/1.1 200 OK', 'HTTP/1.2 200 OK', 'HTTP/1.1 099 Low', 'HTTP/1.1 200 \u00e9'] as const // biome-ignore format: one list
const lengths = ['Content-Length: %', 'content-length: %', 'Content-Length:%', 'Content-Length: % ', 'Content-Length : %', 'Content-Length: +%', 'Content-Length: 0%', 'Content-Length: %, %', 'Content-Length: %\r\nContent-Length: %', 'Content-Length: %\r\nContent-Length: 1', 'Content-Length: 1', 'Content-Length: 999', 'Content-Length: -1', 'Content-Length:', ''] as const // biome-ignore format: one list
const codings = ['Transfer-Encoding: chunked', 'transfer-encoding: CHUNKED', 'Transfer-Encoding: chunked ', 'Transfer-Encoding: chunked, chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked, gzip', 'Transfer-Encoding: identity', 'Transfer-Encoding: chunked\r\nContent-Length: 3', 'Content-Length: 3\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', 'Transfer-Encoding : chunked', 'Transfer-Encoding: xchunked', 'Transfer-Encoding:\tchunked'] as const // biome-ignore format: one list
const others = ['A: b', 'A:', 'A: \tb\t', 'Connection: close', 'Connection: keep-alive', 'Keep-Alive: timeout=5', 'A: b\r\n c', 'A: b\r\n\tc', ' A: b', 'A b: c', ': c', 'A', 'A: b\0', 'A: b\rc', 'A: b\nC: d', 'A: \u00e9', '\u00e9: b', 'Set-Cookie: 1\r\nSet-Cookie: 2', 'A: b\r\n\r', `X-Long: ${'y'.repeat(2000)}`] as const // biome-ignore format: one list
const sizes = ['%', '0%', '%;a=b', '%;a="b;c"', '% ', ' %', '%\t', '0x%', '-%', '+%', '%g', '', '%;\u00e9', '%;a\rb', 'fffffffffffffffff'] as const // biome-ignore format: one list
const breaks = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', ''] as const
const trailers = ['', '', '', 'Sum: 1\r\n', 'Sum: 1\n', 'Sum\r\n', 'Content-Length: 9\r\n', ' x: y\r\n'] as const

/** Mostly well-formed, with few mistakes in each; `interim` is the interim reply that it begins with. */
function generate(random: Random): { reply: string; interim: string } {
  const often = <Item>(items: readonly [Item, ...Item[]], risk = 0.15) => (random() < risk ? oneOf(random, items) : items[0])
  const body = 'abcdefghijklmnopqrstuvwxyz'.slice(0, Math.floor(random() * 27))
  const isChunked = random() < 0.6
  const framing = isChunked ? often(codings) : often(lengths).replaceAll('%', String(body.length))
  const count = Math.floor(random() * 4)
  const headers = [...Array.from({ length: count }, () => (random() < 0.3 ? oneOf(random, others) : `X-${count}: v`)), framing]
  if (random() < 0.3) headers.reverse()
  const interim = random() < 0.1 ? 'HTTP/1.1 100 Continue\r\n\r\n' : ''
  const head = [often(lines), ...headers.filter((header) => header !== '')].map((text) => text + often(breaks, 0.02)).join('')
  const reply = `${interim}${head}${often(breaks, 0.02)}${isChunked ? chunked(random, body, often) : body}`
  const junk = random() < 0.1 ? oneOf(random, ['x', '\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nz']) : ''
  return { reply: random() < 0.1 ? reply.slice(0, Math.floor(random() * reply.length)) : reply + junk, interim }
}

function chunked(random: Random, body: string, often: <Item>(items: readonly [Item, ...Item[]], risk?: number) => Item): string {
  let text = ''
  for (let at = 0; at < body.length; ) {
    const length = Math.min(body.length - at, 1 + Math.floor(random() * 10))
    text +=
      often(sizes, 0.06).replace('%', length.toString(16)) +
      often(breaks, 0.04) +
      body.slice(at, at + length) +
      often(breaks, 0.04)
    at += length
  }
  return `${text}0${random() < 0.1 ? ';last' : ''}\r\n${often(trailers)}\r\n`
}

/** The reply in pieces, some of them single bytes. */
function piecesOf(random: Random, reply: string): Buffer[] {
  const bytes = Buffer.from(reply, 'latin1')
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = random() < 0.5 ? bytes.length : 1 + Math.floor(random() * 20)
    pieces.push(bytes.subarray(at, at + length))
    at += length
  }
  return pieces
}

interface Outcome {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  readonly error?: Error
}

const connect = guardedConnector({ resolve: systemResolve(), allows: () => true }, 5000)
let origin = ''
let next: readonly Buffer[] = []
const server = net.createServer((socket) => {
  const pieces = next
  socket.on('error', () => {})
  socket.once('data', async () => {
    for (const piece of pieces) {
      socket.write(piece)
      await new Promise((resolve) => setImmediate(resolve))
    }
    socket.end()
  })
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
})
afterAll(() => void server.close())

/** What both clients offer. */
interface Client {
  dispatch(options: { method: 'GET'; path: string; headers: Record<string, string> }, handler: ReplyHandler): unknown
  destroy(): Promise<void>
}

/** The reply that a client reads in these pieces. */
async function ask(client: Client, pieces: readonly Buffer[]): Promise<Outcome> {
  next = pieces
  const outcome = await send(client)
  await client.destroy()
  return outcome
}

function send(client: Client): Promise<Outcome> {
  return new Promise((resolve) => {
    let head: Pick<Outcome, 'status' | 'headers'> = { status: 0 }
    const pieces: Buffer[] = []
    const body = () => Buffer.concat(pieces).toString('latin1')
    client.dispatch(
      { method: 'GET', path: '/', headers: {} },
      {
        onRequestStart() {},
        onResponseStart(_controller, status, headers) {
          if (status >= 200) head = { status, headers: { ...headers } }
        },
        onResponseData: (_controller, piece) => void pieces.push(Buffer.from(piece)),
        onResponseEnd: () => resolve({ ...head, body: body() }),
        onResponseError: (_controller, error) => resolve({ ...head, body: body(), error }),
      },
    )
  })
}

/** Removes white space after the values of headers, which undici keeps. */
function readable({ status, headers, body }: Outcome) {
  const trimmed = Object.entries(headers ?? {}).map(([name, value]) => [name, [value].flat().map((each) => each?.trimEnd())])
  return { status, body, headers: Object.fromEntries(trimmed) }
}

describe('a reply of a hostile upstream', () => {
  const count = isTorture ? 20_000 : 200

  it(`is the same for undici, in ${count} replies`, { timeout: 600_000 }, async () => {
    const random = numbers(20_261_123)
    const tally = { both: 0, none: 0, stricter: 0 }
    for (let index = 0; index < count; index++) {
      const { reply, interim } = generate(random)
      const pieces = piecesOf(random, reply)
      const ours = await ask(new UpstreamPool(origin, { connect, connectionsMax: 1 }), pieces)
      // Undici refuses an interim reply that it has not asked for.
      const rest = interim === '' ? pieces : [Buffer.from(reply.slice(interim.length), 'latin1')]
      const theirs = await ask(new Pool(origin, { connections: 1, headersTimeout: 0, bodyTimeout: 0 }), rest)
      const shown = `${index}: ${JSON.stringify(reply)}`
      if (!ours.error) {
        // Undici checks the length even of a reply without a body.
        const isLengthAlone = ours.status === 204 || ours.status === 304
        if (!isLengthAlone || theirs.error?.name !== 'ResponseContentLengthMismatchError')
          expect(theirs.error, shown).toBeUndefined()
        expect(readable(ours), shown).toEqual(readable(theirs))
        tally.both++
      } else if (theirs.error) tally.none++
      else {
        expect(ours.error, shown).toBeInstanceOf(MalformedReply)
        tally.stricter++
      }
    }
    expect(tally.both).toBeGreaterThan(count / 4)
    expect(tally.none).toBeGreaterThan(count / 20)
  })
})
