import { request as httpRequest, type IncomingMessage } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import type { RecordedBody, RecordedCall } from '../../src/contract/entities/recording.ts'
import { sliceLength } from '../../src/server/base/lib/bytes/text-slices.ts'
import { seconds } from '../../src/server/base/lib/time/clock.ts'
import type { TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { answeringUpstream, chat, completion, httpUpstream, model, stage, upstreamKey } from './stage.ts'

async function recordToken(server: TestServer, kind: 'token' | 'user', target: number): Promise<void> {
  await server.call('PUT /api/recording/rules', { kind, target, until: seconds(server.app.now()) + 3600 })
  await server.app.recordings.rules.refresh()
}

async function recordingOf(server: TestServer, id: string | null): Promise<RecordedCall> {
  await expect.poll(() => server.app.metrics.relayOpen.get().then(({ values }) => values[0]?.value)).toBe(0)
  await server.app.recordings.flush()
  return server.call(`GET /api/recording/call/${id}`)
}

const bodiesOf = ({ caller, upstream }: RecordedCall): (RecordedBody | undefined)[] =>
  [caller, ...upstream].flatMap(({ request, reply }) => [request.body, reply?.body])

/** Counts, in each step of the event loop, the slices in which the pattern with `secret` is searched for. */
function watchSearches(secret: string) {
  const searched = new Map<number, Set<string>>()
  let steps = 0
  let isOver = false
  const own = RegExp.prototype.exec
  const nextStep = () => {
    steps++
    if (!isOver) setImmediate(nextStep)
  }
  setImmediate(nextStep)
  const stop = () => {
    isOver = true
    RegExp.prototype.exec = own
  }
  RegExp.prototype.exec = function exec(text: string) {
    // Texts of heads, and what is left at the end of a body, are short.
    if (text.length > 20_000 && this.source.includes(secret)) searched.set(steps, (searched.get(steps) ?? new Set()).add(text))
    return own.call(this, text)
  }
  onTestFinished(stop)
  return { searched, stop }
}

/** Sends exactly these headers. */
function post(url: string, headers: Record<string, string>, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      url,
      { method: 'POST', headers: { ...headers, 'content-length': Buffer.byteLength(body) } },
      (reply) => {
        reply.resume().once('end', () => resolve(reply))
      },
    )
    sent.once('error', reject).end(body)
  })
}

anyDatabase('secrets in recordings', (_fresh, kind) => {
  it('of 100 headers, 262 kB each way and five attempts: each body is searched once, one slice of 64 KiB in a step of the event loop', async () => {
    const bytes = 262_000
    const padded = (make: (text: string) => string) => make('lorem ipsum, '.repeat(30_000).slice(0, bytes - make('').length))
    const failing = padded((message) => JSON.stringify({ error: { message } }))
    const answering = padded((padding) => completion({ padding }))
    let attempts = 0
    const url = await httpUpstream((request, response) => {
      request.resume().on('end', () => {
        const isLast = ++attempts === 5
        // An answer that is cut off at its last byte.
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': isLast ? bytes : bytes + 1 })
        if (isLast) response.end(answering)
        else response.write(failing, () => response.destroy())
      })
    })
    const { server, token } = await stage(kind, url)
    for (let index = 1; index < 5; index++) await addChannel(server, { url, models: model, key: `another-channel-key-${index}` })
    await setOptions(server, { RetryTimes: 4 })
    await recordToken(server, 'token', token.id)
    const asked = padded((content) => JSON.stringify(chat({ messages: [{ role: 'user', content }] })))

    const headers: Record<string, string> = {
      host: new URL(server.url).host,
      connection: 'close',
      authorization: `Bearer ${token.key}`,
      'content-type': 'application/json',
    }
    // The 100th is the length.
    for (let index = 0; index < 95; index++) headers[`x-token-${index}`] = `lorem ipsum, ${index} `.repeat(7)
    const { searched, stop } = watchSearches(upstreamKey)
    const reply = await post(`${server.url}/v1/chat/completions`, headers, asked)
    expect([reply.statusCode, attempts]).toEqual([200, 5])
    const call = await recordingOf(server, String(reply.headers['x-request-id']))
    stop()

    // The caller's request, which every attempt sends, five answers, and the one that the caller got.
    const slices = 7 * Math.ceil(bytes / sliceLength)
    expect([...searched.values()].map(({ size }) => size)).toEqual(Array.from({ length: slices }, () => 1))
    const carried = 1024
    for (const [text] of searched.values()) expect(text?.length).toBeLessThanOrEqual(sliceLength + carried)

    expect(call.caller.request.headers.filter(([, value]) => value === '[redacted]')).toHaveLength(96)
    const sent = { text: asked, encoding: 'text', bytes, is_cut: false }
    expect(call.caller.request.body).toEqual(sent)
    expect(call.upstream.map(({ request }) => request.body)).toEqual(Array.from({ length: 5 }, () => sent))
    expect(call.upstream.map((exchange) => exchange.reply?.body.text)).toEqual([failing, failing, failing, failing, answering])
    expect(call.caller.reply?.body.text).toBe(answering)
  })

  it('a caller who repeats the prompt wherever callers put secrets changes nothing in the bodies', async () => {
    const words = 'please-keep-these-words'
    const { url } = await answeringUpstream(({ headers }) => completion({ padding: `${words} ${headers.session_id}` }))
    const { server, token, ask } = await stage(kind, url)
    await recordToken(server, 'token', token.id)
    const told = await ask(chat({ user: words }), `/v1/chat/completions?key=${words}&token=${words}`, {
      'x-secret': words,
      'x-api-key': words,
      'api-key': words,
      'x-goog-api-key': words,
      'proxy-authorization': `Basic ${words}`,
      cookie: `session=${words}; other=${words}`,
      // Passed on to the upstream.
      session_id: words,
    })
    expect(told.status).toBe(200)
    const call = await recordingOf(server, told.headers.get('x-request-id'))
    expect(call.upstream[0]?.request.headers).toContainEqual(['session_id', '[redacted]'])
    expect(JSON.stringify([call.caller.request.headers, call.caller.request.url])).not.toContain(words)
    expect(bodiesOf(call).map((body) => body?.text)).toEqual([
      JSON.stringify(chat({ user: words })),
      told.text,
      JSON.stringify(chat({ user: words })),
      completion({ padding: `${words} ${words}` }),
    ])
  })

  it('the key of the caller, and keys, tokens, signatures and overrides of each channel tried, are masked in every body and form', async () => {
    const overridden = 'secret-of-an-override/"1"'
    const pair = 'id-of-zhipu.secretofzhipu'
    const seen: string[] = []
    const repeats = async (status: number) => {
      const { url } = await answeringUpstream(({ headers: { authorization = '', 'x-vendor-token': own = '' } }) => {
        const made = authorization.replace('Bearer ', '')
        seen.push(...[made, String(own)].filter((secret) => secret !== ''))
        const told = [made, own, token.key, token.key.slice(3)].flatMap((one) => [one, encodeURIComponent(String(one))])
        // The first one is cut by the first slice.
        const before = 'x'.repeat(sliceLength - JSON.stringify({ error: { message: '' } }).length - 5)
        return { json: { error: { message: `${before} ${told.join(' ')}` } }, status, headers: { 'x-echo': `of ${made}` } }
      })
      return url
    }
    const { server, token, ask } = await stage(kind, await repeats(503), {
      channel: { priority: 9, setting: JSON.stringify({ header_override: { 'x-vendor-token': overridden } }) },
    })
    await addChannel(server, { url: await repeats(500), models: model, type: 16, key: pair })
    await setOptions(server, { RetryTimes: 1 })
    await recordToken(server, 'token', token.id)
    const told = await ask(chat({ user: `${token.key} ${encodeURIComponent(token.key)}` }))
    const call = await recordingOf(server, told.headers.get('x-request-id'))
    expect(call.upstream).toHaveLength(2)
    expect(seen).toEqual([upstreamKey, overridden, expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)])
    const text = JSON.stringify(call)
    for (const secret of [...seen, pair, token.key.slice(3)]) {
      expect(text, secret).not.toContain(secret)
      expect(text, secret).not.toContain(JSON.stringify(secret).slice(1, -1))
      expect(text, secret).not.toContain(encodeURIComponent(secret))
    }
    expect(call.upstream[0]?.reply?.body.text).toMatch(/x \[redacted\] \[redacted\] .*\[redacted\]"\}\}$/)
  })

  it('the session of the playground is masked in its bodies', async () => {
    const { url } = await answeringUpstream(completion())
    const { server } = await stage(kind, url)
    await recordToken(server, 'user', 1)
    const session = await server.app.sessions.create({ userId: 1, address: '127.0.0.1', userAgent: 'test' })
    const told = await server.raw('POST /pg/chat/completions', chat({ user: `a ${session} b` }), { cookie: `session=${session}` })
    expect(told.status).toBe(200)
    await told.text()
    const call = await recordingOf(server, told.headers.get('x-request-id'))
    expect(call.caller.request.body.text).toBe(JSON.stringify(chat({ user: 'a [redacted] b' })))
    expect(JSON.stringify(call)).not.toContain(session)
  })
})
