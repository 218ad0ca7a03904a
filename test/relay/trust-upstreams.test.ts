import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { anyDatabase, type DatabaseKind } from '../helpers/databases.ts'
import { books } from '../helpers/seed.ts'
import { sampled } from '../helpers/torture.ts'
import { requireMostAnswered } from './half-failing.ts'
import { answering as answeringTurns, caller, realtimeUpstream } from './realtime-stage.ts'
import { answerBytes, eventually, httpUpstream, tcpUpstream, upstreamKey } from './stage.ts'
import {
  type CaseChannel,
  type FormatPair,
  forEachPair,
  formatPairs,
  healthyAnswer,
  readAnswer,
  reported,
  trustOfSuite,
  wholeOf,
} from './trust-stage.ts'
import { mixedToolCalls, readToolCalls } from './trust-tools.ts'

// Misbehaving upstreams, part E of docs/reference/trust-cases.md.

const sse = 'text/event-stream'
const nowhere = 'http://127.0.0.1:1'
const inEachWayAndForm = (work: (pair: FormatPair, stream: boolean) => Promise<void>) =>
  forEachPair(async (pair) => {
    await Promise.all([true, false].map((stream) => work(pair, stream)))
  })
const usual = [{ ...reported, quota: reported.prompt + reported.completion }]

type Answering = (response: ServerResponse, body: { stream?: boolean }, request: IncomingMessage) => void

/** Calls `write` to answer, after the request was read. */
const answering = (write: Answering) =>
  httpUpstream((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => write(response, JSON.parse(Buffer.concat(chunks).toString() || '{}'), request))
    response.on('error', () => {})
  })

const healthy = ({ speaks }: FormatPair, said = 'four five six') =>
  answering((response, body) => {
    const answer = healthyAnswer(speaks, body, said)
    response.writeHead(200, { 'content-type': answer.type }).end(answer.body)
  })

/** Answers with the last programmed reply. */
async function changing() {
  let write: Answering = (response) => response.end()
  const url = await answering((...asked) => write(...asked))
  return {
    url,
    will(next: Answering) {
      write = next
    },
    says(body: string | Buffer, headers: Record<string, string> = {}, status = 200) {
      write = (response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
    },
  }
}

const replying = (body: string | Buffer, headers: Record<string, string> = {}, status = 200) =>
  answering((response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body))

/** Sends these events, then calls `then` with the open answer. */
const streaming = (events: string, then: (response: ServerResponse) => void) =>
  answering((response) => {
    response.writeHead(200, { 'content-type': sse })
    response.write(events, () => then(response))
  })

anyDatabase('upstreams that fail, beside ordinary requests', (_fresh, kind: DatabaseKind) => {
  const trust = trustOfSuite(kind)
  const retries = (times: number) => trust.setOption('RetryTimes', String(times))

  describe('connections', () => {
    const broken: [string, () => Promise<string>, Record<string, number>][] = [
      ['[T090] refuses connections', async () => nowhere, {}],
      ['[T091] accepts and says nothing', () => tcpUpstream(() => {}), { headers_timeout_ms: 300 }],
      ['[T091] accepts and resets', () => tcpUpstream((socket) => void socket.resetAndDestroy()), {}],
      ['[T091] resets when it was asked', () => tcpUpstream((socket) => socket.once('data', () => socket.resetAndDestroy())), {}],
      [
        '[T091] resets behind its headers',
        () =>
          tcpUpstream((socket) =>
            socket.once('data', () =>
              socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 900\r\n\r\n', () =>
                setTimeout(() => socket.resetAndDestroy(), 20),
              ),
            ),
          ),
        {},
      ],
      [
        '[T092] sends its headers byte by byte',
        () =>
          tcpUpstream((socket) =>
            socket.once('data', () => {
              let at = 0
              const bytes = `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(500)}`
              const timer = setInterval(() => socket.write(bytes[at++] ?? 'a'), 50)
              socket.once('close', () => clearInterval(timer))
            }),
          ),
        { headers_timeout_ms: 400 },
      ],
    ]
    it.each(broken)(
      '%s: the next channel answers, with one charge; without one, the caller gets a plain error, free of charge',
      (_name, open, setting) =>
        trust.underLoad(async () => {
          const url = await open()
          const alone: CaseChannel[] = []
          await retries(0)
          await inEachWayAndForm(async (pair, stream) => {
            const lane = await trust.lane(pair, url, { setting })
            const answer = await lane.ask(stream)
            expect(answer.status).toBeGreaterThanOrEqual(500)
            expect(readAnswer(pair.asks, answer).ending).toBe('error')
            expect(answer.text).not.toContain('127.0.0.1')
            alone.push(lane)
          })
          await retries(2)
          await inEachWayAndForm(async (pair, stream) => {
            const first = await trust.lane(pair, url, { setting, priority: 9 })
            const second = await trust.lane(pair, await healthy(pair), {}, first)
            const good = await first.ask(stream)
            expect(readAnswer(pair.asks, good)).toMatchObject({ said: 'four five six', ending: 'done' })
            const [charge, ...more] = await first.charged()
            expect([charge, more]).toMatchObject([usual[0], []])
            expect(charge?.other.admin_info).toMatchObject({ use_channel: [first.channelId, second.channelId].map(String) })
          })
          for (const lane of alone) expect(await lane.charged()).toEqual([])
        }),
    )
  })

  it('[T093] a whole answer that stalls or is cut ends in time, and either the partial reply or its successor is charged once', () =>
    trust.underLoad(async () => {
      await retries(2)
      await forEachPair(async (pair) => {
        const body = wholeOf(pair.speaks, 'four five six')
        const begun = body.slice(0, body.indexOf(' six'))
        let closed = 0
        const stalling = await answering((response) => {
          response.once('close', () => closed++)
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).write(begun)
        })
        const breaking = await answering((response) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
          response.write(begun, () => setTimeout(() => response.destroy(), 20))
        })
        const speechless = await answering((response) => {
          response.writeHead(200, { 'content-type': 'application/json' }).write(body.slice(0, body.indexOf('four')))
        })
        const setting = { idle_timeout_ms: 300 }
        const ask = async (url: string) => {
          const lane = await trust.lane(pair, url, { setting })
          const answer = await lane.ask(false)
          expect([answer.status, readAnswer(pair.asks, answer).ending]).toEqual([502, 'error'])
          return lane.charged()
        }
        for (const rows of await Promise.all([ask(stalling), ask(breaking)])) {
          expect(rows).toMatchObject([{ completion: 2, other: { interrupted: 'upstream', estimated: true } }])
          expect(rows[0]?.prompt).toBeGreaterThan(0)
          expect(rows[0]?.quota).toBe((rows[0]?.prompt ?? 0) + 2)
          // It was called once.
          expect(rows[0]?.other.admin_info).toMatchObject({ use_channel: [expect.any(String)], attempts: [{}] })
        }
        expect(await ask(speechless)).toEqual([])
        await eventually('the upstream is let go', () => closed === 1)

        const first = await trust.lane(pair, stalling, { setting, priority: 9 })
        await trust.lane(pair, await healthy(pair), {}, first)
        expect(readAnswer(pair.asks, await first.ask(false))).toMatchObject({ said: 'four five six', ending: 'done' })
        expect(await first.charged()).toMatchObject(usual)
      })
    }))

  it('[T094] [T096] [T097] endless silence, comments or output ends at its timeout, charged by the partial reply', () =>
    trust.underLoad(() =>
      forEachPair(async (pair, { head, text }) => {
        let closed = 0
        const ever = (begin: string, piece: string) =>
          streaming(begin, (response) => {
            const timer = setInterval(() => response.write(piece), 20)
            response.once('close', () => {
              clearInterval(timer)
              closed++
            })
          })
        const idle = { setting: { idle_timeout_ms: 300 } }
        const total = { setting: { total_timeout_ms: 1000 } }
        const began = head + text('four five ')
        const cases: [string, Promise<string>, Record<string, unknown>, number][] = [
          ['silence', streaming(began, (response) => response.once('close', () => closed++)), idle, 1],
          ['comments', ever(began, ': still here\n\n'), total, 1],
          ['comments alone', ever(': still here\n\n', ': still here\n\n'), total, 0],
          ['words', ever(began, text('six ')), total, 1],
          ['bytes of a comment', ever(began, ':'), total, 1],
        ]
        const ended = await Promise.all(
          cases.map(async ([name, url, setting, charges]) => {
            const lane = await trust.lane(pair, await url, setting)
            const answer = await lane.ask(true)
            const { said, ending } = readAnswer(pair.asks, answer)
            expect([name, ending, said.startsWith(charges ? 'four five ' : '')]).toEqual([name, 'error', true])
            return { name, lane, charges, words: said.trim().split(' ').length }
          }),
        )
        for (const { name, lane, charges, words } of ended) {
          const rows = await lane.charged()
          expect([name, rows.length]).toEqual([name, charges])
          for (const row of rows) {
            expect(row.other.interrupted).toBe('upstream')
            expect(row.completion).toBeGreaterThanOrEqual(Math.min(words, 2))
            expect(row.prompt).toBeGreaterThan(0)
            expect(row.quota).toBe(row.prompt + row.completion)
          }
        }
        await eventually('the upstreams are let go', () => closed === cases.length)
      }),
    ))

  it('[T098] an upstream that keeps the socket open after the end delays no one, and is closed', () =>
    trust.underLoad(() =>
      forEachPair(async (pair, { head, text, tail }) => {
        let closed = 0
        const url = await streaming(head + text('four five six') + tail, (response) => response.once('close', () => closed++))
        const lane = await trust.lane(pair, url)
        const answer = await lane.ask(true)
        // The upstream is released a second after the end, so the answer has arrived within that second.
        expect(closed).toBe(0)
        expect(readAnswer(pair.asks, answer)).toMatchObject({ said: 'four five six', ending: 'done' })
        await eventually('the socket is released', () => closed === 1)
        expect(await lane.charged()).toMatchObject(usual)
      }),
    ))

  it("[T108] an error after the first output is reported in the caller's dialect, and the partial reply is charged", () =>
    trust.underLoad(() =>
      forEachPair(async (pair, { head, text, error }) => {
        const url = await replying(head + text('four five ') + error('overloaded') + text('six'), { 'content-type': sse })
        const lane = await trust.lane(pair, url)
        const read = readAnswer(pair.asks, await lane.ask(true))
        expect(read).toMatchObject({ said: 'four five ', ending: 'error' })
        const [row] = await lane.charged()
        expect(row?.other.interrupted).toBe('upstream')
        expect(row?.completion).toBeLessThan(7)
        expect(row?.quota).toBe((row?.prompt ?? 0) + (row?.completion ?? 0))
      }),
    ))

  it('[T121] a realtime upstream that refuses, vanishes or floods is bounded, and each turn is paid once', () =>
    trust.underLoad(async () => {
      const path = (lane: CaseChannel) => ({ path: `/v1/realtime?model=${lane.model}` })
      const pair = formatPairs[0] as FormatPair
      const usage = { input_tokens: reported.prompt, output_tokens: reported.completion, total_tokens: 18 }
      const refusing = await realtimeUpstream(undefined, { refuses: { status: 403, body: { error: { message: 'no' } } } })
      const refused = await trust.lane(pair, refusing.url)
      const turnedAway = caller(trust.server.url, refused.key, path(refused))
      expect((await turnedAway.refused()).status).toBe(503)
      expect(await refused.settled()).toEqual([])

      const answers = answeringTurns({ usage })
      const misdeeds: Record<string, (socket: WebSocket) => void> = {
        vanishes: (socket) => socket.terminate(),
        'sends what is too large': (socket) => socket.send(`{"type":"${'x'.repeat(25 * 1024 * 1024)}"}`),
        'sends in crumbs': (socket) => {
          for (let count = 0; count < 5000; count++) socket.send('x', { fin: false })
        },
        'pings without end': (socket) => {
          for (let count = 0; count < 10_000; count++) socket.ping()
        },
        'sends no frames at all': (socket) => {
          // The connection under the WebSocket.
          ;(socket as unknown as { _socket: Socket })._socket.write(Buffer.alloc(100_000, 0xff))
        },
      }
      for (const [name, misdeed] of Object.entries(misdeeds)) {
        const upstream = await realtimeUpstream((talk, event) => {
          answers(talk, event)
          if (event.type === 'input_audio_buffer.clear') misdeed(talk.socket)
        })
        const lane = await trust.lane(pair, upstream.url)
        const client = caller(trust.server.url, lane.key, path(lane))
        await client.hears('session.created')
        client.say({ type: 'response.create' })
        await client.hears('response.done')
        expect([name, await lane.charged()]).toMatchObject([name, usual])
        client.say({ type: 'input_audio_buffer.clear' })
        expect([name, (await client.closed()).code]).toEqual([name, 1011])
        await eventually(`the upstream that ${name} is let go`, () => upstream.talks[0]?.socket.readyState === 3)
        expect([name, await lane.settled()]).toMatchObject([name, usual])
      }

      // A frame of sixteen megabytes is acceptable audio.
      const loud = await realtimeUpstream((talk, event) => {
        answers(talk, event)
        if (event.type === 'input_audio_buffer.clear')
          talk.say({ type: 'response.output_audio.delta', response_id: 'none', delta: 'A'.repeat(16 * 1024 * 1024) })
      })
      const lane = await trust.lane(pair, loud.url)
      const client = caller(trust.server.url, lane.key, path(lane))
      await client.hears('session.created')
      client.say({ type: 'input_audio_buffer.clear' })
      expect((await client.hears('response.output_audio.delta')).delta).toHaveLength(16 * 1024 * 1024)
      client.say({ type: 'response.create' })
      await client.hears('response.done')
      client.socket.close(1000)
      expect((await lane.settled()).filter((row) => row.quota === 18)).toHaveLength(1)
    }))

  // These tests do not depend on the database, so they run on one only.
  if (kind === 'sqlite')
    describe('independent of the database', () => {
      it('[T100] the text of a stream arrives completely, for any framing and splitting', () =>
        trust.underLoad(() =>
          forEachPair(async (pair, { head, text, tail }) => {
            const said = 'vier 五 🙂 \u2028 "six"\\n'
            const plain = head + text('vier 五 ') + text('🙂 ') + text('\u2028 "six"\\n') + tail
            const framings: [string, string, number][] = [
              ['as it is', plain, 0],
              ['byte by byte', plain, 1],
              ['in threes, through the letters', plain, 3],
              ['CRLF', plain.replaceAll('\n', '\r\n'), 7],
              ['CR', plain.replaceAll('\n', '\r'), 9],
              ['LF and CRLF mixed', plain.replace(/\n\n/g, '\n\r\n'), 5],
              ['a byte order mark', `\ufeff${plain}`, 1],
              ['no space behind the colon', plain.replaceAll('data: ', 'data:'), 11],
              ['id and retry', plain.replaceAll('data: ', 'id: 7\nretry: 10\nfoo: bar\nfoo\ndata: '), 13],
              ['comments between', plain.replaceAll('\n\n', '\n\n: hello\n\n:\n\n'), 0],
              ['data of several lines', plain.replaceAll('data: {', 'data: {\ndata: '), 0],
              ['ten thousand empty lines', `${'\n'.repeat(10_000)}${plain.replaceAll('\n\n', `\n\n${'\n'.repeat(2000)}`)}`, 0],
            ]
            for (const [name, framed, size] of framings) {
              const bytes = Buffer.from(framed)
              const url = await answering((response) => {
                response.socket?.setNoDelay(true)
                response.writeHead(200, { 'content-type': sse })
                if (size === 0) return void response.end(bytes)
                let at = 0
                const next = () => {
                  if (at >= bytes.length) return void response.end()
                  response.write(bytes.subarray(at, at + size))
                  at += size
                  setImmediate(next)
                }
                next()
              })
              const lane = await trust.lane(pair, url)
              const answer = await lane.ask(true)
              expect([name, readAnswer(pair.asks, answer)]).toEqual([name, { said, ending: 'done', message: '' }])
              expect([name, await lane.charged()]).toMatchObject([name, usual])
            }
          }),
        ))

      it('[T102] [T104] [T108] an invalid answer, or an error under a status of success, is an error and free', () =>
        trust.underLoad(() =>
          forEachPair(async (pair, { head, error }) => {
            const whole = wholeOf(pair.speaks, 'four five six')
            const zip = { 'content-encoding': 'gzip' }
            const cases: [string, string | Buffer, Record<string, string>][] = [
              ['HTML', '<!doctype html><h1>hello</h1>', { 'content-type': 'text/html' }],
              ['nothing', '', {}],
              ['null', 'null', {}],
              ['a list', '[]', {}],
              ['a number', '7', {}],
              ['half of a JSON', whole.slice(0, 60), {}],
              ['binary', Buffer.from([0, 159, 146, 150, 255, 10, 10]), { 'content-type': 'application/octet-stream' }],
              ['another charset', Buffer.from(`${whole}`, 'utf16le'), { 'content-type': 'application/json; charset=utf-16' }],
              ['half of a gzip', gzipSync(whole).subarray(0, 40), zip],
              ['no gzip', whole, zip],
              ['gzip in gzip', gzipSync(gzipSync(whole)), { 'content-encoding': 'gzip, gzip' }],
              ['gzip that is said a thousand times', gzipSync(whole), { 'content-encoding': Array(1000).fill('gzip').join(',') }],
              ['brotli that says gzip', brotliCompressSync(whole), zip],
              ['gzip that says nothing', gzipSync(whole), {}],
              ['an error in the body', error('overloaded').replace(/^[\s\S]*?data: /, ''), {}],
              ['an error in the events', error('overloaded'), { 'content-type': sse }],
              ['an error behind the head', head + error('overloaded'), { 'content-type': sse }],
              ['a head and the end', head, { 'content-type': sse }],
            ]
            const inForm = async (stream: boolean) => {
              const upstream = await changing()
              const lane = await trust.lane(pair, upstream.url)
              // In the ordinary run each is an answer that is passed on in one form, and translated in the other.
              for (const [name, body, headers] of sampled(cases, 2, Number(stream === (pair.asks === pair.speaks)))) {
                upstream.says(body, headers)
                lane.forgive()
                const answer = await lane.ask(stream)
                expect([name, stream, answer.status >= 500, answer.text]).toEqual([name, stream, true, answer.text])
                expect(readAnswer(pair.asks, answer).ending).toBe('error')
                expect([name, await lane.charged()]).toEqual([name, []])
              }
            }
            await Promise.all([inForm(true), inForm(false)])
          }),
        ))

      it('[T105] no redirect is followed, and no other host sees the key', () =>
        trust.underLoad(() =>
          forEachPair(async (pair) => {
            const seen: string[] = []
            const canary = await httpUpstream((request, response) => {
              seen.push(`${request.url} ${request.headers.authorization ?? request.headers['x-api-key'] ?? ''}`)
              response.end(wholeOf(pair.speaks, 'stolen'))
            })
            const upstream = await changing()
            const lane = await trust.lane(pair, upstream.url)
            const locations = [canary, canary.replace('127.0.0.1', 'localhost'), `//${canary.slice(7)}/v1`]
            for (const [nth, status] of [300, 301, 302, 303, 307, 308].entries()) {
              for (const location of sampled(locations, 3, nth)) {
                upstream.says('', { location }, status)
                lane.forgive()
                const answer = await lane.ask(status % 2 === 0)
                expect([answer.status, readAnswer(pair.asks, answer).ending]).toEqual([502, 'error'])
                expect(answer.headers.get('location')).toBeNull()
                expect(await lane.charged()).toEqual([])
              }
            }
            expect(seen).toEqual([])
          }),
        ))

      it('[T111] headers of the upstream that would steer the caller are not passed on', () =>
        trust.underLoad(() =>
          forEachPair(async (pair) => {
            const steering = {
              'www-authenticate': 'Bearer realm="http://evil.test"',
              'proxy-authenticate': 'Basic realm="evil"',
              'alt-svc': 'h2="evil.test:443"',
              refresh: '0; url=http://evil.test',
              'set-cookie': 'evil=1',
              'access-control-allow-credentials': 'true',
              link: '<http://evil.test>; rel=preload',
              'x-accel-redirect': '/etc/passwd',
            }
            const upstream = await changing()
            const lane = await trust.lane(pair, upstream.url, { auto_ban: 0 })
            for (const status of [200, 401, 407, 500]) {
              upstream.will((response, body) => {
                const answer = healthyAnswer(pair.speaks, body, 'four')
                response.writeHead(status, { 'content-type': answer.type, ...steering }).end(status === 200 ? answer.body : '{}')
              })
              for (const stream of [true, false]) {
                lane.forgive()
                const answer = await lane.ask(stream)
                expect(answer.status === 200).toBe(status === 200)
                expect([...answer.headers.keys()].filter((name) => name in steering)).toEqual([])
                expect(JSON.stringify([...answer.headers])).not.toContain('evil')
              }
            }
          }),
        ))

      it('[T112] a key, an address or an organisation that the upstream repeats is never passed on', () =>
        trust.underLoad(() =>
          forEachPair(async (pair, { head, text, error }) => {
            const said: ((lane: { url: string }) => string)[] = [
              ({ url }) =>
                JSON.stringify({
                  error: { message: `Bad key ${upstreamKey} of org-canary-7 at ${url}`, type: upstreamKey, code: upstreamKey },
                }),
              ({ url }) => error(`Bad key ${upstreamKey} of org-canary-7 at ${url}`).replace(/^[\s\S]*?data: /, ''),
              ({ url }) => `plain words: ${upstreamKey} org-canary-7 ${url}`,
            ]
            const secrets = new RegExp(`${upstreamKey}|org-canary-7|127\\.0\\.0\\.1`)
            const own = await changing()
            const lane = await trust.lane(pair, own.url, { openai_organization: 'org-canary-7', auto_ban: 0 })
            for (const [nth, status] of [200, 400, 401, 403, 429, 500].entries()) {
              for (const write of sampled(said, 3, nth)) {
                own.says(write(own), {}, status)
                for (const stream of [true, false]) {
                  lane.forgive()
                  const answer = await lane.ask(stream)
                  expect(answer.status).toBeGreaterThanOrEqual(400)
                  expect(answer.text).not.toMatch(secrets)
                }
              }
            }
            own.says(head + text('four ') + error(`Bad key ${upstreamKey} at ${own.url}`), { 'content-type': sse })
            lane.forgive()
            const answer = await lane.ask(true)
            expect(readAnswer(pair.asks, answer)).toMatchObject({ said: 'four ', ending: 'error' })
            expect(answer.text).not.toMatch(secrets)
            expect(JSON.stringify(await lane.charged())).not.toContain(new URL(own.url).host)
            expect(JSON.stringify(await trust.server.app.db.selectFrom('logs').selectAll().execute())).not.toContain(upstreamKey)
          }),
        ))

      it('[T109] tool calls in interleaved chunks, with gaps and in thousands, are assembled correctly', () =>
        trust.underLoad(() =>
          forEachPair(async (pair) => {
            const events = mixedToolCalls(pair.speaks)
            const url = await replying(events, { 'content-type': sse })
            const lane = await trust.lane(pair, url)
            const { text } = await lane.ask(true, pair.asks === 'openai' ? { stream_options: { include_usage: true } } : {})
            if (pair.asks === pair.speaks) expect(text).toBe(events)
            expect(readToolCalls(pair.asks, text)).toEqual([
              { id: 'call_a', name: 'first', input: { n: 'x'.repeat(10_000) } },
              { id: 'call_c', name: 'third', input: { k: 1 } },
            ])
            expect(await lane.charged()).toMatchObject(usual)
          }),
        ))

      it('[T106] each status has its defined effect on the caller, the next channel and this one', () =>
        trust.underLoad(async () => {
          await trust.setOption('AutomaticDisableChannelEnabled', 'true')
          // Status of the upstream, of the answer without another channel, whether another channel is tried, whether the channel is
          // disabled.
          const table: [number, number, boolean, boolean][] = [
            [400, 400, false, false],
            [401, 503, true, true],
            [403, 503, true, false],
            [404, 503, true, false],
            [408, 504, true, false],
            [429, 429, true, false],
            [500, 502, true, false],
            [502, 502, true, false],
            [503, 503, true, false],
            [504, 504, true, false],
            [524, 504, true, false],
          ]
          const inOurWays = (work: (pair: FormatPair) => Promise<void>) =>
            forEachPair(
              work,
              formatPairs.filter(({ asks }) => asks === 'openai'),
            )
          const no = '{"error":{"message":"no","type":"x"}}'
          const later = { 'retry-after': '99999999' }

          await retries(0)
          await inOurWays(async (pair) => {
            const upstream = await changing()
            const unbanned = await trust.lane(pair, upstream.url, { auto_ban: 0 })
            const mapping = JSON.stringify(Object.fromEntries(table.map(([status]) => [status, '418'])))
            const mapped = await trust.lane(pair, upstream.url, { auto_ban: 0, status_code_mapping: mapping })
            for (const [status, told, , isDisabled] of table) {
              upstream.says(no, later, status)
              const lane = await trust.lane(pair, upstream.url)
              for (const one of [lane, unbanned]) {
                one.forgive()
                const answer = await one.ask(one === lane)
                expect([status, answer.status]).toEqual([status, told])
                expect(Number(answer.headers.get('retry-after') ?? 0)).toBeLessThanOrEqual(3600)
              }
              if (isDisabled) await eventually('the channel is disabled', async () => (await statusOf(lane.channelId)) === 3)
              else expect([status, await statusOf(lane.channelId)]).toEqual([status, 1])
              expect([status, await statusOf(unbanned.channelId)]).toEqual([status, 1])
              mapped.forgive()
              expect([status, (await mapped.ask(false)).status]).toEqual([status, 418])
            }
            for (const lane of [unbanned, mapped]) expect(await lane.charged()).toEqual([])
          })

          await retries(1)
          await inOurWays(async (pair) => {
            const upstream = await changing()
            const first = await trust.lane(pair, upstream.url, { auto_ban: 0, priority: 9 })
            await trust.lane(pair, await healthy(pair), {}, first)
            let answered = 0
            for (const [status, told, isRetried] of table) {
              upstream.says(no, later, status)
              first.forgive()
              expect([status, (await first.ask(false)).status]).toEqual([status, isRetried ? 200 : told])
              if (isRetried) answered++
              expect([status, await first.charged()]).toMatchObject([status, Array(answered).fill(usual[0])])
            }
          })
        }))
    })

  const statusOf = async (id: number) => (await books(trust.server)).channels.find((row) => row.id === id)?.status

  it('[T115] when all channels fail, attempts are bounded and nothing is charged', () =>
    trust.underLoad(async () => {
      await retries(3)
      await inEachWayAndForm(async (pair, stream) => {
        let hits = 0
        const url = await answering((response) => {
          hits++
          response.writeHead(500).end('{}')
        })
        const first = await trust.lane(pair, url)
        for (let more = 0; more < 7; more++) await trust.lane(pair, url, {}, first)
        const answer = await first.ask(stream)
        expect([answer.status >= 500, readAnswer(pair.asks, answer).ending, hits]).toEqual([true, 'error', 4])
        expect(await first.charged()).toEqual([])
      })
    }))

  it('[T117] of many simultaneous failures one disables the channel and notifies, and other channels stay enabled', () =>
    trust.underLoad(async () => {
      await retries(0)
      await trust.setOption('AutomaticDisableChannelEnabled', 'true')
      const pair = formatPairs[2] as FormatPair
      const url = await replying(
        '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
        {},
        401,
      )
      const lane = await trust.lane(pair, url)
      const other = await trust.lane(pair, await healthy(pair))
      const statuses = await Promise.all(
        Array.from({ length: 300 }, async (_, index) => (await lane.ask(index % 2 === 0)).status),
      )
      expect(new Set(statuses)).toEqual(new Set([503]))
      await eventually('the channel is disabled', async () => (await statusOf(lane.channelId)) === 3)
      expect((await other.ask(false)).status).toBe(200)
      expect(await statusOf(other.channelId)).toBe(1)
      const notices = await trust.server.app.db
        .selectFrom('audit')
        .selectAll()
        .where('target', '=', `channel:${lane.channelId}`)
        .execute()
      expect(notices.filter((row) => row.action === 'channel.auto-disable')).toHaveLength(1)
      expect(await lane.charged()).toEqual([])
    }))

  it('[T116] four channels that each fail half of the time answer nearly all requests, each charged once', () =>
    trust.underLoad(async () => {
      await retries(3)
      await forEachPair((pair) => requireMostAnswered(trust, pair, { rounds: 10, together: 10, goodLeast: 85 }))
    }))

  it('[T091] a socket that hangs up inside the chunks of an answer leaves nothing behind', () =>
    trust.underLoad(() =>
      forEachPair(async (pair) => {
        const url = await tcpUpstream((socket: Socket) =>
          socket.once('data', () => socket.write(answerBytes('{"a":', { 'content-length': '900' }), () => socket.destroy())),
        )
        const lane = await trust.lane(pair, url)
        expect((await lane.ask(false)).status).toBe(502)
        expect(await lane.charged()).toEqual([])
      }),
    ))
})
