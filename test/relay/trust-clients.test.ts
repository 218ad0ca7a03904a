import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { WebSocket } from 'ws'
import { anyDatabase, type DatabaseKind } from '../helpers/databases.ts'
import { scaledByLoad } from '../helpers/scaled-by-load.ts'
import { sampled } from '../helpers/torture.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { caller, realtimeUpstream } from './realtime-stage.ts'
import { eventually, requestBytes, speak } from './stage.ts'
import {
  type CaseChannel,
  type FormatPair,
  forEachPair,
  formatPairs,
  idle,
  pairsAtOnce,
  paths,
  readAnswer,
  streams,
  trustOfSuite,
} from './trust-stage.ts'

// Misbehaving clients, part F of docs/reference/trust-cases.md.

/** A refusal before the upstream is called depends on the path alone: in the ordinary run one call of Chat and one of Messages. */
const onePerDialect = sampled(formatPairs, 3)
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

anyDatabase('clients that misbehave, beside ordinary requests', (_fresh, kind: DatabaseKind) => {
  const trust = trustOfSuite(kind)

  /** A case channel to a simulated provider, which the test programs by the model of the channel. */
  async function simulated(pair: FormatPair) {
    const upstream = await upstreamOfTest()
    const lane = await trust.lane(pair, upstream.url)
    return { upstream, lane }
  }

  const bytesOf = (lane: CaseChannel, stream: boolean, headers: Record<string, string> = {}) =>
    requestBytes(lane.key, JSON.stringify(lane.body(stream)), headers, paths[lane.pair.asks])

  /** Sends raw bytes to the server. */
  const raw = (bytes: string | Buffer) => speak(trust.server, bytes)

  /** The HTTP server at the address, so that tests can set timeouts that are short enough to wait for. */
  async function httpServer(): Promise<Server> {
    return new Promise((resolve) => {
      const look = (message: unknown) => {
        // The message that Node documents for this diagnostics channel.
        const { server, request } = message as { server: Server; request: IncomingMessage }
        if (request.url !== '/find-me') return
        unsubscribe('http.server.request.start', look)
        resolve(server)
      }
      subscribe('http.server.request.start', look)
      void fetch(`${trust.server.url}/find-me`)
    })
  }

  const openConnections = async () => {
    const server = await httpServer()
    return new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))
  }

  it('[T123] a caller that disconnects before the first byte aborts the upstream and pays the prompt, in one row', () =>
    trust.underLoad(() =>
      forEachPair(async (pair) => {
        for (const stream of [true, false]) {
          const { upstream, lane } = await simulated(pair)
          upstream.program(lane.model, { delayMs: 3000 })
          const caller = raw(bytesOf(lane, stream))
          await eventually('the upstream is asked', () => upstream.journal.length === 1)
          caller.socket.destroy()
          await eventually('it is charged', async () => (await lane.charged()).length > 0)
          const rows = await lane.charged()
          expect(rows).toHaveLength(1)
          expect(rows[0]).toMatchObject({ completion: 0, other: { interrupted: 'client' } })
          expect(rows[0]?.prompt).toBeGreaterThan(0)
          expect(rows[0]?.quota).toBe(rows[0]?.prompt)
          const [entry] = await upstream.waitFor(1)
          expect(entry?.aborted).toBe(true)
        }
      }),
    ))

  it('[T123] a caller that disconnects in the middle of a stream pays the partial reply, and one at its end pays once', () =>
    trust.underLoad(async () => {
      const lanes: CaseChannel[] = []
      await forEachPair(async (pair) => {
        for (const pauseMs of [0, 1, 5]) {
          for (const leaveAfter of ['word1', 'word20', 'word40']) {
            const { upstream, lane } = await simulated(pair)
            upstream.program(lane.model, { words: 40, pauseMs })
            const caller = raw(bytesOf(lane, true))
            await caller.until((text) => text.includes(leaveAfter))
            caller.socket.destroy()
            lanes.push(lane)
          }
        }
      })
      await idle(trust.server)
      expect(lanes).toHaveLength(9 * pairsAtOnce)
      for (const lane of lanes) {
        const rows = await lane.charged()
        expect(rows).toHaveLength(1)
        const [row] = rows
        expect(row?.quota).toBe((row?.prompt ?? 0) + (row?.completion ?? 0))
        expect(row?.completion).toBeGreaterThan(0)
        if (!row?.other.interrupted) expect([row?.prompt, row?.completion]).toEqual([3, 40])
      }
    }))

  // These tests do not depend on the database, so they run on one only.
  if (kind === 'sqlite')
    describe('independent of the database', () => {
      it('[T126] slow readers apply back-pressure to the upstream, and others are served', () =>
        trust.underLoad(async () => {
          const lanes: CaseChannel[] = []
          const sent: { bytes: number }[] = []
          const callers: ReturnType<typeof raw>[] = []
          const events = 60
          await forEachPair(async (pair) => {
            const { upstream, lane } = await simulated(pair)
            upstream.program(lane.model, (_entry, response) => {
              sent.push(writeMuch(response, pair, events))
              return undefined
            })
            const own = Array.from({ length: 5 }, () => raw(bytesOf(lane, true)))
            await Promise.all(own.map((caller) => caller.until((text) => text.includes('xxxx'))))
            for (const { socket } of own) socket.pause()
            callers.push(...own)
            lanes.push(lane)
          })
          await wait(1500)
          expect(sent).toHaveLength(5 * pairsAtOnce)
          expect(Math.max(...sent.map(({ bytes }) => bytes))).toBeLessThan(events * 1_000_000)
          for (const { socket } of callers) socket.destroy()
          await idle(trust.server)
          for (const lane of lanes) {
            const rows = await lane.charged()
            expect(rows).toHaveLength(5)
            for (const row of rows) expect(row.quota).toBe(row.prompt + row.completion)
          }
        }))

      it('[T128] a body that arrives byte by byte, or never ends, is cut at the request timeout', () =>
        trust.underLoad(async () => {
          const server = await httpServer()
          const { requestTimeout, headersTimeout } = server
          // Node applies the shorter of both timeouts to the head.
          server.headersTimeout = 1000
          const { upstream, lane } = await simulated(formatPairs[0] as FormatPair)
          server.requestTimeout = 1000
          const bytes = bytesOf(lane, true)
          const slow = raw(bytes.slice(0, -80))
          const chunked = raw(
            `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${lane.key}\r\ntransfer-encoding: chunked\r\n\r\n`,
          )
          const login = raw(
            'POST /api/user/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
          )
          const timer = setInterval(() => {
            slow.socket.write(' ')
            chunked.socket.write('1\r\n \r\n')
            login.socket.write(' ')
          }, 200)
          try {
            for (const caller of [slow, chunked, login]) {
              expect(await caller.until(() => false)).toMatch(/^(HTTP\/1\.1 4\d\d|$)/)
            }
          } finally {
            clearInterval(timer)
            Object.assign(server, { requestTimeout, headersTimeout })
          }
          expect(upstream.journal).toHaveLength(0)
          expect(await lane.settled()).toEqual([])
        }))

      it('[T127] headers that arrive byte by byte are cut at their timeout, and delay no one', () =>
        trust.underLoad(async () => {
          const server = await httpServer()
          const { headersTimeout } = server
          expect(headersTimeout).toBeLessThanOrEqual(15_000)
          server.headersTimeout = 1500
          const sockets = Array.from({ length: 500 }, () => raw('POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-slow: '))
          const timer = setInterval(() => {
            for (const { socket } of sockets) socket.write('a')
          }, 500)
          try {
            const took: number[] = []
            const { lane } = await simulated(formatPairs[3] as FormatPair)
            for (let round = 0; round < 20; round++) {
              const startedMs = performance.now()
              expect((await lane.ask(round % 2 === 0)).status).toBe(200)
              took.push(performance.now() - startedMs)
            }
            expect(took.sort((a, b) => a - b)[10]).toBeLessThan(scaledByLoad(1000))
            for (const caller of sockets) expect(await caller.until(() => false)).toMatch(/^(HTTP\/1\.1 408|$)/)
          } finally {
            clearInterval(timer)
            server.headersTimeout = headersTimeout
          }
        }))

      it('[T129] a body beyond its limit is refused before it is read, with and without a length, on every kind of route', () =>
        trust.underLoad(async () => {
          const { upstream, lane } = await simulated(formatPairs[0] as FormatPair)
          const mb = 1024 * 1024
          const routes: [string, string, number][] = [
            ['POST /v1/chat/completions', `authorization: Bearer ${lane.key}\r\n`, 32 * mb],
            ['POST /v1/messages', `x-api-key: ${lane.key}\r\n`, 32 * mb],
            ['POST /v1/embeddings', `authorization: Bearer ${lane.key}\r\n`, 32 * mb],
            ['POST /api/user/login', '', 64 * 1024],
          ]
          for (const [line, auth, limit] of sampled(routes, 3)) {
            const head = `${line} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${auth}`
            for (const length of [limit + 1, 1e15]) {
              const declared = raw(`${head}content-length: ${length}\r\n\r\n{`)
              expect([line, length, (await declared.until((text) => text.includes('\r\n\r\n'))).slice(0, 12)]).toEqual([
                line,
                length,
                'HTTP/1.1 413',
              ])
            }
            const piece = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 32), Buffer.from('\r\n')])
            const sendWhile = async (goesOn: (told: boolean, sent: number) => boolean) => {
              const endless = raw(`${head}transfer-encoding: chunked\r\n\r\n`)
              let sent = 0
              let isTold = false
              const pump = () => {
                while (!endless.isClosed && goesOn(isTold, sent)) {
                  sent += 65_536
                  if (!endless.socket.write(piece)) return void endless.socket.once('drain', pump)
                }
              }
              // After the head, which is written when the connection is open.
              endless.socket.once('connect', pump)
              const told = await endless.until((text) => text.includes('\r\n\r\n'))
              isTold = true
              const all = await endless.until(() => false)
              return { told: told.slice(0, 12), answers: all.match(/HTTP\/1\.1 /g)?.length, sent }
            }
            const polite = await sendWhile((isTold) => !isTold)
            expect([line, polite.told, polite.answers, polite.sent < limit + 16 * mb]).toEqual([line, 'HTTP/1.1 413', 1, true])
            // Many clients read only when they have sent everything, and then must not find the connection reset.
            const slow = await sendWhile((_isTold, sent) => sent < limit + 16 * mb)
            expect([line, slow.told, slow.answers]).toEqual([line, 'HTTP/1.1 413', 1])
            const rude = await sendWhile(() => true)
            expect([line, rude.told, rude.answers, rude.sent < limit + 48 * mb]).toEqual([line, 'HTTP/1.1 413', 1, true])
          }
          // Without a key, no part of a body is read.
          for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/images/edits']) {
            const unknown = raw(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 600000\r\n\r\n{`)
            expect(await unknown.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 401/)
          }
          expect(upstream.journal).toHaveLength(0)
          expect(await lane.settled()).toEqual([])
        }))

      it('[T130] compressed bodies are inflated up to the limit and no further, and only once', () =>
        trust.underLoad(async () => {
          const bomb = Buffer.alloc(64 * 1024 * 1024, 32)
          const packers: [string, Buffer][] = [
            ['gzip', gzipSync(bomb)],
            ['deflate', deflateSync(bomb)],
            ['br', brotliCompressSync(bomb, { params: { 1: 1 } })],
            ['zstd', zstdCompressSync(bomb)],
          ]
          const unknown = ['gzip, gzip', 'br, gzip', 'compress', 'gzip;q=1', '\u00e9']
          for (const pair of onePerDialect) {
            const { upstream, lane } = await simulated(pair)
            const send = async (encoding: string, body: Buffer, type = 'application/json') => {
              const response = await fetch(trust.server.url + paths[pair.asks], {
                method: 'POST',
                headers: { authorization: `Bearer ${lane.key}`, 'content-type': type, 'content-encoding': encoding },
                body: new Uint8Array(body),
              })
              const answer = { status: response.status, headers: response.headers, text: await response.text() }
              expect(readAnswer(pair.asks, answer).ending).toBe('error')
              return answer.status
            }
            for (const [encoding, packed] of packers) expect([encoding, await send(encoding, packed)]).toEqual([encoding, 413])
            expect(await send('gzip', packers[0]?.[1] as Buffer, 'multipart/form-data; boundary=x')).toBe(413)
            for (const encoding of unknown)
              expect([encoding, await send(encoding, gzipSync(gzipSync('{}')))]).toEqual([encoding, 415])
            expect(await send('gzip', gzipSync(gzipSync('{}')))).toBe(400)
            expect(upstream.journal).toHaveLength(0)
            expect(await lane.settled()).toEqual([])
          }
        }))

      it('[T131] [T135] bytes that two readers could take for different requests are refused, and close the connection', () =>
        trust.underLoad(async () => {
          const { upstream, lane } = await simulated(formatPairs[0] as FormatPair)
          const inner = bytesOf(lane, false)
          for (const line of ['POST /v1/chat/completions', 'POST /v1/messages', 'POST /api/user/login']) {
            const head = `${line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${lane.key}\r\n`
            const cases: [string, string][] = [
              ['CL.TE', `${head}content-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`],
              ['TE.CL', `${head}transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n5c\r\n${inner}\r\n0\r\n\r\n`],
              ['TE.TE', `${head}transfer-encoding: chunked\r\ntransfer-encoding: x\r\n\r\n0\r\n\r\n${inner}`],
              ['TE with a tab', `${head}transfer-encoding:\tchunked, identity\r\n\r\n0\r\n\r\n${inner}`],
              ['TE xchunked', `${head}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`],
              ['two lengths', `${head}content-length: 0\r\ncontent-length: 9\r\n\r\n${inner}`],
              ['a length with a sign', `${head}content-length: +5\r\n\r\n${inner}`],
              ['a list of lengths', `${head}content-length: 5, 5\r\n\r\n${inner}`],
              ['a space before the colon', `${head}content-length : 0\r\n\r\n${inner}`],
              ['a bare line feed', `${head}x-a: b\ncontent-length: 0\r\n\r\n${inner}`],
              ['a bare carriage return', `${head}x-a: b\rcontent-length: 0\r\n\r\n${inner}`],
              ['a NUL', `${head}x-a: b\0\r\ncontent-length: 0\r\n\r\n${inner}`],
              ['a chunk of a negative size', `${head}transfer-encoding: chunked\r\n\r\n-1\r\n${inner}`],
              ['a chunk of an endless size', `${head}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n${inner}`],
              ['a chunk extension with a line feed', `${head}transfer-encoding: chunked\r\n\r\n0;a\nb\r\n\r\n${inner}`],
              ['a space before the method', ` ${head}content-length: 0\r\n\r\n`],
              ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
              ['HTTP/2 from the start', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
              ['HTTP/9.9', head.replace('HTTP/1.1', 'HTTP/9.9').concat('\r\n')],
            ]
            for (const [name, bytes] of cases) {
              const caller = raw(Buffer.from(bytes, 'latin1'))
              const got = await Promise.race([caller.until(() => false), wait(6000).then(() => 'open')])
              expect([line, name, got]).toEqual([line, name, expect.stringMatching(/^(HTTP\/1\.1 4\d\d|$)/)])
              expect([line, name, (got.match(/HTTP\/1\.1 \d/g) ?? []).length <= 1]).toEqual([line, name, true])
            }
          }
          expect(upstream.journal).toHaveLength(0)
          expect(await lane.settled()).toEqual([])
        }))

      it('[T133] [T134] headers with arbitrary names, in any number and length, have no effect or are refused', () =>
        trust.underLoad(async () => {
          for (const pair of onePerDialect) {
            const { upstream, lane } = await simulated(pair)
            const hop = raw(
              bytesOf(lane, true, {
                connection: 'authorization, x-api-key, content-type, x-request-id',
                'keep-alive': 'timeout=1',
                te: 'trailers',
                trailer: 'x-evil',
                'proxy-authorization': 'Basic eDp5',
                'proxy-connection': 'keep-alive',
                'x-forwarded-host': 'evil.test',
                forwarded: 'host=evil.test',
                cookie: 'session=evil',
                constructor: 'x',
                toString: 'x',
                hasOwnProperty: 'x',
              }).replace('\r\n', '\r\n__proto__: x\r\nx-bytes: \xe9\xff\r\n'),
            )
            expect(await hop.until((text) => /\[DONE\]|message_stop/.test(text))).toMatch(/^HTTP\/1\.1 200[\s\S]*request-id: \w+/)
            const { headers = {} } = upstream.journal[0] ?? {}
            const names = Object.keys(headers)
            for (const name of [
              'te',
              'trailer',
              'keep-alive',
              'proxy-authorization',
              'proxy-connection',
              'forwarded',
              'cookie',
              'constructor',
            ])
              expect([name, names.includes(name)]).toEqual([name, false])
            expect(JSON.stringify(headers)).not.toMatch(/evil|eDp5/)
            hop.socket.destroy()

            const many = raw(
              bytesOf(lane, false).replace('\r\n', `\r\n${Array.from({ length: 3000 }, (_, at) => `a${at}: b\r\n`).join('')}`),
            )
            expect(await many.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 4\d\d/)
            const long = raw(bytesOf(lane, false).replace('\r\n', `\r\nx-long: ${'a'.repeat(16 * 1024 + 1)}\r\n`))
            expect(await long.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 431/)
            const address = raw(`POST /${'a'.repeat(17_000)} HTTP/1.1\r\nhost: x\r\n\r\n`)
            expect(await address.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 4\d\d/)
            expect(upstream.journal).toHaveLength(1)
            expect(await lane.settled()).toHaveLength(1)
          }
        }))

      it('[T135] [T139] upgrades and requests without a host get a plain answer', () =>
        trust.underLoad(async () => {
          const { upstream, lane } = await simulated(formatPairs[0] as FormatPair)
          const body = JSON.stringify(lane.body(false))
          const upgrade = (headers: string) => `connection: Upgrade, HTTP2-Settings\r\n${headers}`
          const socketKey = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n'
          const cases: [string, string][] = [
            [
              'h2c',
              `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${upgrade('upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n')}authorization: Bearer ${lane.key}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
            ],
            [
              'a WebSocket without a key',
              `GET /v1/realtime?model=x HTTP/1.1\r\nhost: x\r\n${upgrade(`upgrade: websocket\r\n${socketKey}`)}\r\n`,
            ],
            [
              'a WebSocket of another site with a cookie',
              `GET /v1/realtime HTTP/1.1\r\nhost: x\r\norigin: http://evil.test\r\ncookie: session=x\r\n${upgrade(`upgrade: websocket\r\n${socketKey}`)}\r\n`,
            ],
            [
              'a WebSocket of the console',
              `GET /api/status HTTP/1.1\r\nhost: x\r\norigin: http://evil.test\r\n${upgrade(`upgrade: websocket\r\n${socketKey}`)}\r\n`,
            ],
            [
              'a WebSocket with a key',
              `GET /v1/realtime HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${lane.key}\r\nsec-websocket-extensions: permessage-deflate\r\n${upgrade(`upgrade: websocket\r\n${socketKey}`)}\r\n`,
            ],
            ['HTTP/0.9', 'GET /\r\n\r\n'],
            ['no host', 'GET / HTTP/1.1\r\n\r\n'],
            ['CONNECT', 'CONNECT evil.test:443 HTTP/1.1\r\nhost: evil.test:443\r\n\r\n'],
            ['an absolute address', 'GET http://evil.test/v1/models HTTP/1.1\r\nhost: evil.test\r\n\r\n'],
            ['a method that nobody knows', 'BREW /v1/chat/completions HTTP/1.1\r\nhost: x\r\n\r\n'],
            ['TRACE', 'TRACE /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncookie: a=b\r\n\r\n'],
            [
              'Expect of something else',
              `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\ncontent-length: 2\r\n\r\n{}`,
            ],
          ]
          for (const [name, bytes] of cases) {
            const caller = raw(bytes)
            const got = await Promise.race([caller.until((text) => text.includes('\r\n\r\n')), wait(4000).then(() => 'nothing')])
            expect([name, got.slice(0, 60)]).toEqual([name, expect.stringMatching(/^(HTTP\/1\.1 [245]\d\d|$)/)])
            expect([name, got.includes('101 Switching')]).toEqual([name, false])
            if (name === 'HTTP/0.9') expect(got).toMatch(/^HTTP\/1\.1 400/)
            // Data after a refused protocol upgrade is ignored.
            if (!caller.isClosed) caller.socket.write(Buffer.alloc(100_000, 0x81))
            caller.socket.destroy()
          }
          expect((await lane.settled()).length).toBeLessThanOrEqual(1)
          expect(upstream.journal.length).toBeLessThanOrEqual(1)
        }))

      it('[T139] a caller that floods a WebSocket with fragments, pings or large messages is closed, free of charge', () =>
        trust.underLoad(async () => {
          const upstream = await realtimeUpstream()
          const lane = await trust.lane(formatPairs[0] as FormatPair, upstream.url)
          const floods: [string, (socket: WebSocket) => void, number][] = [
            [
              'crumbs',
              (socket) => {
                for (let count = 0; count < 10_000; count++) socket.send('x', { fin: false })
              },
              1008,
            ],
            [
              'pings',
              (socket) => {
                for (let count = 0; count < 10_000; count++) socket.ping()
              },
              1006,
            ],
            ['a frame of 100 MB', (socket) => socket.send(Buffer.alloc(100 * 1024 * 1024, 'a')), 1009],
          ]
          for (const [name, flood, code] of floods) {
            const client = caller(trust.server.url, lane.key, { path: `/v1/realtime?model=${lane.model}` })
            await client.hears('session.created')
            flood(client.socket)
            expect([name, (await client.closed()).code]).toEqual([name, code])
          }
          await eventually('the upstreams are let go', () => upstream.talks.every(({ socket }) => socket.readyState === 3))
          const compressing = speak(
            trust.server,
            `GET /v1/realtime?model=${lane.model} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${lane.key}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-extensions: permessage-deflate\r\n\r\n`,
          )
          const answer = await compressing.until((text) => text.includes('\r\n\r\n'))
          expect(answer).toMatch(/^HTTP\/1\.1 101/)
          expect(answer.toLowerCase()).not.toContain('permessage-deflate')
          compressing.socket.destroy()
          expect(await lane.settled()).toEqual([])
        }))

      it('[T137] [T138] connections that break off in the middle of a request, or send nothing, leave nothing behind', () =>
        trust.underLoad(async () => {
          const before = await openConnections()
          const lanes = await Promise.all(formatPairs.map(async (pair) => (await simulated(pair)).lane))
          const { port, hostname } = new URL(trust.server.url)
          const sockets = new Set<Socket>()
          onTestFinished(() => {
            for (const socket of sockets) socket.destroy()
          })
          const open = (bytes: string) =>
            new Promise<Socket>((resolve) => {
              const socket = connect(Number(port), hostname, () => {
                if (bytes !== '') socket.write(bytes)
                resolve(socket)
              })
              sockets.add(socket)
              socket.on('error', () => resolve(socket))
            })
          for (let round = 0; round < 20; round++) {
            const batch = await Promise.all(
              Array.from({ length: 50 }, (_, index) => {
                // The remainder is a valid index of the list.
                const bytes = bytesOf(lanes[index % lanes.length] as CaseChannel, index % 2 === 0)
                return open(bytes.slice(0, (bytes.length * (1 + (index % 5))) / 5))
              }),
            )
            if (round % 2) await wait(10)
            for (const socket of batch) round % 3 ? socket.destroy() : socket.resetAndDestroy()
          }
          const idle = await Promise.all(Array.from({ length: 1000 }, () => open('')))
          expect((await (lanes[0] as CaseChannel).ask(true)).status).toBe(200)
          for (const socket of idle) socket.destroy()
          await eventually('the connections are gone', async () => (await openConnections()) <= before + 20)
          for (const lane of lanes) for (const row of await lane.settled()) expect(row.quota).toBe(row.prompt + row.completion)
        }))
    })
})

/** Writes events of a megabyte with back-pressure, and returns the amount. */
function writeMuch(response: ServerResponse, pair: FormatPair, events: number): { bytes: number } {
  const { head, text, tail } = streams[pair.speaks]
  const sent = { bytes: 0 }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(head)
  const event = text('x'.repeat(100_000))
  let left = events * 10
  const pump = () => {
    while (left-- > 0) {
      sent.bytes += event.length
      if (!response.write(event)) return void response.once('drain', pump)
    }
    response.end(tail)
  }
  pump()
  return sent
}
