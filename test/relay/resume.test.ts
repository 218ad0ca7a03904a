import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { RunningAnswer } from '../../src/contract/entities/running-answer.ts'
import { serverOfTest, startServer, type TestServer } from '../helpers/app.ts'
import { eachDatabase, freshDatabase } from '../helpers/databases.ts'
import { faultProxy } from '../helpers/fault-proxy.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { fixture } from '../helpers/upstream.ts'
import { chat, claude, eventually, httpUpstream, model, post, stage } from './stage.ts'

/** Streams that are cut, and continued from the last event that their caller has seen. */

/** A vendor that sends the first half of a stream of events, and the rest when it is told to. */
async function pausingVendor(stream: string, { beforeOutput = false } = {}) {
  // Behind the first output, which commits the answer.
  const border = beforeOutput ? 0 : stream.indexOf('\n\n', stream.length * 0.6) + 2
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const seen = { calls: 0, left: 0 }
  const url = await httpUpstream(async (request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    await once(request, 'end')
    seen.calls++
    response.on('close', () => {
      if (!response.writableFinished) seen.left++
    })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(stream.slice(0, border))
    await opened
    if (!response.destroyed) response.end(stream.slice(border))
  })
  return { url, seen, open: () => open(), whole: stream }
}

interface Read {
  readonly text: string
  /** The id of the last event. */
  readonly id: string
}

const idLine = /^id: ([\w-]+\.\d+)\n/gm
const withoutIds = (text: string) => text.replaceAll(idLine, '')
const lastId = (text: string) => [...text.matchAll(idLine)].at(-1)?.[1] ?? ''

/** Reads at least this many events of an answer, then closes the connection. */
async function readThenLeave(response: Response, leave: AbortController, events: number): Promise<Read> {
  let text = ''
  const reader = response.body?.getReader()
  while (reader && [...text.matchAll(idLine)].length < events) {
    const { value, done } = await reader.read()
    if (done) break
    text += Buffer.from(value).toString()
  }
  leave.abort()
  await reader?.cancel().catch(() => {})
  // Only whole events were seen.
  const seen = text.slice(0, text.lastIndexOf('\n\n') + 2)
  return { text: seen, id: lastId(seen) }
}

const resumable = { 'x-sluice-resume': '1' }

interface Sent {
  readonly path: string
  readonly body: unknown
  readonly headers?: Record<string, string>
}

async function cutOff(
  { server, key }: { server: Pick<TestServer, 'url'>; key: string },
  { path, body, headers }: Sent,
  events = 1,
) {
  const leave = new AbortController()
  const response = await post(server, key, body, path, { headers: { ...resumable, ...headers }, signal: leave.signal })
  expect(response.status).toBe(200)
  return readThenLeave(response, leave, events)
}

const charges = async (server: TestServer) => (await books(server)).ledger.filter((row) => row.kind === 'charge')
const codeOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string } }
  return [response.status, error.code]
}

const streams = {
  chat: { path: '/v1/chat/completions', body: chat({ stream: true }), model, type: 1, file: 'openai-chat/text.sse' },
  responses: {
    path: '/v1/responses',
    body: { model, input: 'one', stream: true },
    model,
    type: 1,
    file: 'openai-responses/text.sse',
  },
  messages: {
    path: '/v1/messages',
    body: { model: claude, max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'one' }] },
    ...{ model: claude, type: 14, file: 'anthropic/text.sse' },
  },
  gemini: {
    path: '/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'one' }] }] },
    ...{ model: 'gemini-2.0-flash', type: 24, file: 'gemini-generate/text.sse' },
  },
} as const

/** The official SDKs try a call again whose connection broke before its answer; each counts what it reads. */
const sdkStreams = {
  'openai, Chat': {
    asked: streams.chat,
    async read(url: string, apiKey: string) {
      const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, defaultHeaders: resumable, maxRetries: 9 })
      let count = 0
      for await (const _ of await client.chat.completions.create({
        model,
        stream: true,
        messages: [{ role: 'user', content: 'one' }],
      }))
        count++
      return count
    },
  },
  'openai, Responses': {
    asked: streams.responses,
    async read(url: string, apiKey: string) {
      const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, defaultHeaders: resumable, maxRetries: 9 })
      let count = 0
      for await (const _ of await client.responses.create({ model, input: 'one', stream: true })) count++
      return count
    },
  },
  '@anthropic-ai/sdk': {
    asked: streams.messages,
    async read(url: string, apiKey: string) {
      const client = new Anthropic({ apiKey, baseURL: url, defaultHeaders: resumable, maxRetries: 9 })
      let count = 0
      for await (const _ of await client.messages.create({
        model: claude,
        max_tokens: 100,
        stream: true,
        messages: [{ role: 'user', content: 'one' }],
      }))
        count++
      return count
    },
  },
}

eachDatabase('a stream that its caller may resume', (_fresh, kind) => {
  async function staged({ model: name, type, file }: { model: string; type: number; file: string }) {
    const vendor = await pausingVendor(fixture(file).toString('latin1').replaceAll('\r\n', '\n'))
    const made = await stage(kind, vendor.url, { channel: { type, models: name } })
    return { ...made, vendor, key: made.token.key }
  }

  it.each(Object.entries(streams))(
    'continues after a cut from the last event, in %s: every byte, one charge',
    async (_name, asked) => {
      const { server, vendor, key } = await staged(asked)
      const first = await cutOff({ server, key }, asked)
      const live = server.app.resumableReplies.live(first.id.split('.')[0] ?? '')
      await eventually('the caller is gone', () => live?.isFollowed === false)
      expect(vendor.seen).toEqual({ calls: 1, left: 0 })
      vendor.open()
      const rest = await post(server, key, asked.body, asked.path, { headers: { 'last-event-id': first.id } })
      expect([rest.status, rest.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
      const text = first.text + (await rest.text())
      const numbers = [...text.matchAll(idLine)].map(([, id = '']) => Number(id.split('.')[1]))
      expect(numbers).toEqual(numbers.map((_, at) => at + 1))

      // The same answer as who does not resume gets, with one more header.
      const plain = await pausingVendor(vendor.whole)
      plain.open()
      await addChannel(server, { type: asked.type, url: plain.url, models: asked.model, priority: 9 })
      const unmarked = await post(server, key, asked.body, asked.path)
      expect(withoutIds(text)).toBe(await unmarked.text())
      expect(vendor.seen).toEqual({ calls: 1, left: 0 })
      await eventually('both calls are charged', async () => (await charges(server)).length === 2)
      const [one, other] = await charges(server)
      expect(one?.amount).toBe(other?.amount)
      await requireBalancedBooks(server)
    },
  )

  it('is stopped after the grace, and charged for what it had; the rest is not made up', async () => {
    const { server, vendor, key } = await staged(streams.chat)
    await setOptions(server, { 'resume.grace_seconds': '1' })
    const { id } = await cutOff({ server, key }, streams.chat)
    await eventually('the vendor is left', () => vendor.seen.left === 1)
    await eventually('the part is charged', async () => (await charges(server)).length === 1)
    const kept = await fetch(`${server.url}/v1/requests/${id.split('.')[0]}/events`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const text = await kept.text()
    expect(text).toContain('data: ')
    expect(text).toContain('The answer broke off before its end')
    await requireBalancedBooks(server)
  })

  it('belongs to its token and its request', async () => {
    const { server, vendor, key } = await staged(streams.chat)
    const { id } = await cutOff({ server, key }, streams.chat)
    const stranger = await addToken(server, { name: 'other' })
    const ask = (who: string, body: unknown, event = id) =>
      post(server, who, body, streams.chat.path, { headers: { 'last-event-id': event } })
    expect(await codeOf(await ask(stranger.key, streams.chat.body))).toEqual([404, 'resume_unknown'])
    expect(await codeOf(await ask(key, chat({ stream: true, seed: 7 })))).toEqual([422, 'resume_other_request'])
    expect(await codeOf(await ask(key, streams.chat.body, 'unknown-request.3'))).toEqual([404, 'resume_unknown'])
    vendor.open()
    expect(vendor.seen.calls).toBe(1)
  })

  it('is stopped by its owner, and by nobody else', async () => {
    const { server, vendor, key } = await staged(streams.chat)
    const { id } = await cutOff({ server, key }, streams.chat)
    const stranger = await addToken(server, { name: 'other' })
    const cancel = (who: string) => post(server, who, {}, `/v1/requests/${id.split('.')[0]}/cancel`)
    expect((await cancel(stranger.key)).status).toBe(404)
    expect(vendor.seen.left).toBe(0)
    expect(await (await cancel(key)).json()).toMatchObject({ cancelled: true })
    await eventually('the vendor is left', () => vendor.seen.left === 1)
    await eventually('the part is charged', async () => (await charges(server)).length === 1)
    await requireBalancedBooks(server)
  })

  it('is joined by an automatic retry from its beginning, and by no regeneration', async () => {
    const { server, vendor, key } = await staged(streams.chat)
    const first = await cutOff({ server, key }, streams.chat)
    const retrying = post(server, key, streams.chat.body, streams.chat.path, { headers: { 'x-stainless-retry-count': '1' } })
    await eventually('the retry follows', async () => (await retrying).status === 200)
    const again = post(server, key, streams.chat.body, streams.chat.path, {})
    await eventually('a regeneration is a new call', () => vendor.seen.calls === 2)
    vendor.open()
    const text = await (await retrying).text()
    expect(text.startsWith(first.text)).toBe(true)
    expect(withoutIds(text)).toBe(await (await again).text())
    await eventually('two calls are charged', async () => (await charges(server)).length === 2)
    await requireBalancedBooks(server)
  })

  const moments = ['while it runs', 'after its end'] as const
  it.each(moments.flatMap((moment) => Object.keys(sdkStreams).map((sdk) => [sdk, moment] as const)))(
    'is not paid twice when the SDK %s loses its connection, and tries again by itself %s',
    async (sdk, moment) => {
      const { asked, read } = sdkStreams[sdk as keyof typeof sdkStreams]
      const whole = fixture(asked.file).toString('latin1').replaceAll('\r\n', '\n')
      const vendor = await pausingVendor(whole, { beforeOutput: true })
      const { server, token } = await stage(kind, vendor.url, { channel: { type: asked.type, models: asked.model } })
      const { hostname, port } = new URL(server.url)
      const proxy = await faultProxy({ host: hostname, port: Number(port) })
      const { resumableReplies } = server.app
      const listed = async () => (await resumableReplies.list()).map(({ request_id: id }) => resumableReplies.live(id))
      const reading = read(`http://127.0.0.1:${proxy.port}`, token.key)
      await eventually('the vendor is asked', () => vendor.seen.calls === 1)
      proxy.cut()
      await eventually('the connection is lost', async () => (await listed())[0]?.isFollowed === false)
      if (moment === 'after its end') {
        vendor.open()
        await eventually('the answer has ended', async () => (await listed()).length === 0)
      }
      proxy.heal()
      if (moment === 'while it runs') {
        await eventually('the SDK follows the answer that it has lost', async () => (await listed())[0]?.isFollowed === true)
        vendor.open()
      }
      expect(await reading).toBeGreaterThan(0)
      expect(vendor.seen).toEqual({ calls: 1, left: 0 })
      await eventually('it is charged', async () => (await charges(server)).length > 0)
      expect(await charges(server)).toHaveLength(1)
      await requireBalancedBooks(server)
    },
  )

  it('is followed by a repeat with its key, while it runs and after its end', async () => {
    const { server, vendor, key } = await staged(streams.chat)
    const keyed = { 'idempotency-key': 'order-8' }
    const first = await cutOff({ server, key }, { ...streams.chat, headers: { ...keyed, 'x-sluice-resume': '0' } })
    const request = first.id.split('.')[0] ?? ''
    await eventually('the caller is gone', () => server.app.resumableReplies.live(request)?.isFollowed === false)
    const repeating = post(server, key, streams.chat.body, streams.chat.path, { headers: keyed })
    expect((await repeating).headers.get('x-sluice-original-request-id')).toBe(request)
    vendor.open()
    const text = await (await repeating).text()
    expect(text.startsWith(first.text)).toBe(true)
    expect(withoutIds(text)).toContain('data: [DONE]')
    const replayed = await post(server, key, streams.chat.body, streams.chat.path, { headers: keyed })
    expect([replayed.headers.get('idempotent-replayed'), await replayed.text()]).toEqual(['true', text])
    expect(vendor.seen).toEqual({ calls: 1, left: 0 })
    expect(await charges(server)).toHaveLength(1)
    const { logs } = await books(server)
    expect(logs.map(({ other }) => JSON.parse(other).went_on_alone)).toEqual([true])
  })

  it('is asked for by a key of the own choice, or by the token, not by a key that an SDK made up', async () => {
    const { server, vendor, key } = await staged(streams.chat)
    const open = async (headers: Record<string, string>, who = key) => {
      const leave = new AbortController()
      const { headers: got } = await post(server, who, chat({ stream: true, seed: Math.random() }), '/v1/chat/completions', {
        headers,
        signal: leave.signal,
      })
      leave.abort()
      return got.get('x-sluice-resumable')
    }
    const { key: own } = await addToken(server, { name: 'resuming', resumable: true })
    expect(await open({})).toBeNull()
    expect(await open({ 'idempotency-key': 'stainless-node-retry-1' })).toBeNull()
    expect(await open({ 'idempotency-key': 'order-7' })).toBe('1')
    expect(await open({}, own)).toBe('1')
    await setOptions(server, { 'resume.enabled': 'false' })
    expect(await open({ ...resumable })).toBeNull()
    vendor.open()
  })

  it('of Responses is continued by the id of the response and the number of its last event', async () => {
    const { server, vendor, key } = await staged(streams.responses)
    const { text } = await cutOff({ server, key }, streams.responses, 3)
    const response = /"id": ?"(resp_[\w-]+)"/.exec(text)?.[1]
    const read = (query: string) =>
      fetch(`${server.url}/v1/responses/${response}?stream=true${query}`, { headers: { authorization: `Bearer ${key}` } })
    const running = read('&starting_after=2')
    vendor.open()
    const rest = await (await running).text()
    expect([...rest.matchAll(idLine)][0]?.[1]).toMatch(/\.4$/)
    expect(rest).toContain('response.completed')
    const whole = await (await read('')).text()
    expect(whole.endsWith(rest)).toBe(true)
    expect(withoutIds(whole)).toContain('response.created')
    expect(await charges(server)).toHaveLength(1)
  })

  it('is followed by several readers at once, while it runs and after its end', async () => {
    const { server, vendor, key } = await staged(streams.chat)
    const { id } = await cutOff({ server, key }, streams.chat)
    const request = id.split('.')[0]
    const read = (query = '') =>
      fetch(`${server.url}/v1/requests/${request}/events${query}`, { headers: { authorization: `Bearer ${key}` } }).then((each) =>
        each.text(),
      )
    const running = [read(), read('?starting_after=1')]
    vendor.open()
    const [whole = '', rest = ''] = await Promise.all(running)
    expect(withoutIds(whole)).toContain('data: [DONE]')
    expect(whole.endsWith(rest)).toBe(true)
    expect(await read()).toBe(whole)
    expect(await charges(server)).toHaveLength(1)
  })
})

it('a stream is resumed on another node, also after the end of the first', { timeout: 60_000 }, async () => {
  const vendor = await pausingVendor(fixture('openai-chat/text.sse').toString('latin1').replaceAll('\r\n', '\n'))
  const { server, token } = await stage('postgres', vendor.url)
  const other = await serverOfTest('postgres', { database: server.database })
  const first = await cutOff({ server, key: token.key }, streams.chat)
  await vi.waitFor(async () => {
    const rows = await server.app.db.selectFrom('reply_pieces').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(rows[0]?.sealed).toMatch(/^v1\./)
  })
  const resumed = post(other, token.key, streams.chat.body, streams.chat.path, { headers: { 'last-event-id': first.id } })
  vendor.open()
  const text = first.text + (await (await resumed).text())
  expect(text).toContain('data: [DONE]')
  const again = await post(other, token.key, streams.chat.body, streams.chat.path, { headers: { 'last-event-id': first.id } })
  expect(first.text + (await again.text())).toBe(text)
  expect(vendor.seen).toEqual({ calls: 1, left: 0 })
  expect(await charges(server)).toHaveLength(1)
  await requireBalancedBooks(server)
})

it('a stream goes on while its node is drained, and its caller continues on another node', { timeout: 60_000 }, async () => {
  const database = await freshDatabase('postgres', 'started')
  const [leaving, staying] = await Promise.all([startServer('postgres', { database }), startServer('postgres', { database })])
  onTestFinished(async () => {
    await staying.stop()
    await database.drop()
  })
  const vendor = await pausingVendor(fixture('openai-chat/text.sse').toString('latin1').replaceAll('\r\n', '\n'))
  await addChannel(leaving, { url: vendor.url, models: model })
  const { key } = await addToken(leaving)
  const open = (headers: Record<string, string>) => post(leaving, key, streams.chat.body, streams.chat.path, { headers })
  const [first, unasked] = await Promise.all([open(resumable), open({})])
  const stopping = leaving.stop(100)
  const read = async (response: Response) => {
    let text = ''
    const decoder = new TextDecoder()
    try {
      for await (const piece of response.body ?? []) text += decoder.decode(piece as Uint8Array, { stream: true })
    } catch {
      // The connection was closed.
    }
    return text
  }
  const [seen, told] = await Promise.all([read(first), read(unasked)])
  expect(told).toContain('server_stopping')
  expect(seen).not.toContain('server_stopping')
  const whole = seen.slice(0, seen.lastIndexOf('\n\n') + 2)
  const resumed = post(staying, key, streams.chat.body, streams.chat.path, { headers: { 'last-event-id': lastId(whole) } })
  expect((await resumed).status).toBe(200)
  vendor.open()
  const text = whole + (await (await resumed).text())
  expect(withoutIds(text)).toContain('data: [DONE]')
  await stopping
  expect(await charges(staying)).toHaveLength(2)
  const { logs } = await books(staying)
  const marks = logs.filter(({ type }) => type === 2).map(({ other }) => JSON.parse(other))
  expect(marks.map(({ interrupted, went_on_alone }) => [interrupted, went_on_alone]).sort()).toEqual(
    [
      ['node', undefined],
      [undefined, true],
    ].sort(),
  )
  await requireBalancedBooks(staying)
})

it('a running stream is listed for its user and for admins, watched by its owner in the console, and stopped there', async () => {
  const vendor = await pausingVendor(fixture('openai-chat/text.sse').toString('latin1').replaceAll('\r\n', '\n'))
  const { server, token } = await stage('sqlite', vendor.url)
  const first = await cutOff({ server, key: token.key }, streams.chat)
  const request = first.id.split('.')[0] ?? ''
  const running = (line: string) => server.call<RunningAnswer[]>(line)
  const shown = { request_id: request, username: 'root', model, token_name: 'test' }
  expect(await running('GET /api/log/self/running')).toMatchObject([shown])
  expect(await running('GET /api/log/running')).toMatchObject([shown])
  const watching = server.raw(`GET /pg/requests/${request}/events`)
  await eventually('it is watched', async () => (await watching).status === 200)
  const stop = (id: string) => server.raw(`POST /api/log/running/${id}/stop`)
  expect(await (await stop('unknown')).json()).toMatchObject({ code: 'not_found' })
  expect(await (await stop(request)).json()).toMatchObject({ success: true })
  await eventually('the vendor is left', () => vendor.seen.left === 1)
  expect(withoutIds(await (await watching).text()).startsWith(withoutIds(first.text))).toBe(true)
  await eventually('nothing runs', async () => (await running('GET /api/log/running')).length === 0)
  await eventually('the part is charged', async () => (await charges(server)).length === 1)
})

it('a stream beyond what is stored for a key goes on without its caller, and is continued', async () => {
  const words = Array.from({ length: 300 }, (_, index) => `word${index} `)
  const chunk = (delta: object) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, ...delta }] })}\n\n`
  const pieces = words.map((content) => chunk({ delta: { content } })).join('')
  const vendor = await pausingVendor(`${pieces}${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`)
  const { server, token } = await stage('sqlite', vendor.url)
  await setOptions(server, { 'idempotency.reply_kilobytes': '1' })
  const keyed = { ...streams.chat, headers: { 'idempotency-key': 'long-1', 'x-sluice-resume': '0' } }
  const first = await cutOff({ server, key: token.key }, keyed, 20)
  const request = first.id.split('.')[0] ?? ''
  await eventually('the caller is gone', () => server.app.resumableReplies.live(request)?.isFollowed === false)
  vendor.open()
  await eventually('it has ended', () => server.app.resumableReplies.live(request) === undefined)
  const rest = await post(server, token.key, keyed.body, keyed.path, { headers: { 'last-event-id': first.id } })
  expect(withoutIds(first.text + (await rest.text())).endsWith('data: [DONE]\n\n')).toBe(true)
  expect(vendor.seen).toEqual({ calls: 1, left: 0 })
  expect(await charges(server)).toHaveLength(1)
})
