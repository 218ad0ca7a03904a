import { readdirSync, readFileSync } from 'node:fs'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { describe, expect, it } from 'vitest'
import { EventBlocks } from '../../src/server/base/lib/bytes/sse.ts'
import { formats } from '../../src/server/gateway/protocols/index.ts'
import { StreamInterceptor } from '../../src/server/gateway/relay/response/sse-interceptor.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { books, requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, ask, model, settledCharges } from './stage.ts'

const folder = new URL('../../src/server/gateway/protocols/openai-responses/fixtures/', import.meta.url)
const streams = readdirSync(folder).filter((name) => name.endsWith('.sse'))
const path = '/v1/responses'
const input = 'How is the harbor?'

/** A fixture with the model name that the caller requests. */
const fixture = (name: string) => readFileSync(new URL(name, folder), 'utf8').replaceAll('gpt-6-sol', model)
const eventsOf = (text: string) =>
  [...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].map(([, name, data]) => ({ name, data: JSON.parse(data ?? '') }))

/** An upstream that answers every call with this body, in chunks that split every event, and records its requests. */
async function upstream(bytes: string, type = 'text/event-stream', status = 200) {
  const { url, heard: asked } = await answeringUpstream({ bytes, type, status, size: 701 })
  return { url, asked }
}

const clients = [
  ['openai 7', OpenAI],
  // The calls used here are the same in both majors; their types only differ in name.
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
] as const

describe('a stream in Responses', () => {
  const format = formats['openai.responses'].wire.stream
  if (!format) throw new Error('Responses has streams')

  function pass(chunks: readonly Buffer[], renameTo?: string) {
    if (!format) throw new Error('Responses has streams')
    const blocks = new EventBlocks(1 << 24)
    const tap = new StreamInterceptor(format, { hideUsage: false, renameTo })
    let passed = ''
    for (const chunk of chunks) {
      const block = blocks.push(chunk.toString('latin1'))
      if (block !== '') passed += tap.take(block)
    }
    passed += tap.finish(blocks.flush())
    const { arrived } = tap
    return {
      passed: Buffer.from(passed, 'latin1').toString(),
      ending: arrived.isEnded ? Buffer.from(tap.ending(), 'latin1').toString() : '',
      usage: arrived.usage,
      error: arrived.error,
      text: arrived.text(),
    }
  }

  it.each(streams)('%s: has the same bytes, text and usage wherever it is split, and its end is withheld', (name) => {
    const bytes = Buffer.from(fixture(name))
    const whole = pass([bytes])
    for (let cut = 1; cut < bytes.length; cut += 7) {
      expect(pass([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(whole)
    }
    const ones = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
    expect(pass(ones)).toEqual(whole)

    if (whole.error) return expect(whole.ending).toBe('')
    expect(whole.passed + whole.ending).toBe(bytes.toString())
    expect(eventsOf(whole.ending)).toHaveLength(1)
    expect(whole.usage).toBeDefined()
  })

  it.each(streams)('%s: names the requested model in every event, including the last one', (name) => {
    const { passed, ending } = pass([Buffer.from(fixture(name))], 'mine')
    const named = eventsOf(passed + ending).flatMap(({ data }) => (data.response ? [data.response.model] : []))
    expect(new Set(named)).toEqual(new Set(['mine']))
    const back = eventsOf(passed + ending).map(({ data }) => JSON.stringify(data).replace('"model":"mine"', `"model":"${model}"`))
    const sent = eventsOf(fixture(name)).map(({ data }) => JSON.stringify(data))
    expect(back).toEqual(sent.slice(0, back.length))
  })

  it('does not end with a truncated terminal event', () => {
    const bytes = Buffer.from(fixture('text.sse').trimEnd())
    const cut = bytes.subarray(0, bytes.length - 10)
    expect(pass([cut])).toMatchObject({ ending: '', usage: undefined })
    expect(pass([bytes]).ending).toContain('response.completed')
  })

  it('reads the usage with its cached part', () => {
    expect(pass([Buffer.from(fixture('cached_usage.sse'))]).usage).toMatchObject({
      input: 200,
      cacheRead: 2000,
      cacheWrite: 400,
      output: 2,
    })
  })

  it('distinguishes the two forms of an error from an end', () => {
    expect(pass([Buffer.from(fixture('error_event.sse'))]).error).toMatchObject({ code: 'rate_limit_exceeded', status: 429 })
    expect(pass([Buffer.from(fixture('failed.sse'))]).error).toMatchObject({
      code: 'server_error',
      message: 'The model failed to generate a response.',
    })
  })

  it('counts the text of a stream that was cut off', () => {
    const events = fixture('reasoning.sse').split('\n\n').slice(0, -2).join('\n\n')
    expect(pass([Buffer.from(`${events}\n\n`)]).text).toBe('Comparing two ports.Rye is higher.')
    expect(pass([Buffer.from(fixture('function_call.sse'))]).text).toBe('get_tide{"port":"Rye"}')
  })
})

anyDatabase('a call of Responses', (_fresh, kind) => {
  const sharedStage = sharedStages(kind, { ModelRatio: { [model]: 1, mine: 1 } })
  const staged = async (body: string, more: { type?: string; status?: number; channel?: Record<string, unknown> } = {}) => {
    const provider = await upstream(body, more.type, more.status)
    return { ...(await sharedStage(provider.url, more.channel)), asked: provider.asked }
  }

  it('gets the bytes of the upstream, and is charged by its last event', async () => {
    const text = fixture('reasoning.sse')
    const { server, asked, ask } = await staged(text)
    const body = { model, input, stream: true, x_unknown: { b: 1, a: 2 } }
    const answer = await ask(body, path)
    expect(answer.text).toBe(text)
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    expect(asked.map(({ path: asks, body: sent }) => [asks, sent])).toEqual([[path, body]])

    expect(await settledCharges(server)).toHaveLength(1)
    const { logs } = await books(server)
    expect(logs[0]).toMatchObject({ prompt_tokens: 30, completion_tokens: 44, is_stream: 1 })
    expect(JSON.parse(logs[0]?.other ?? '{}')).toMatchObject({ reasoning_tokens: 35 })
    await requireBalancedBooks(server)
  })

  it('gets a whole answer with the requested model name', async () => {
    const channel = { models: 'mine', model_mapping: `{"mine":"${model}"}` }
    const { server, token, asked } = await staged(fixture('nonstream.json'), { type: 'application/json', channel })
    const answer = await ask(server, token.key, { model: 'mine', input: [{ role: 'user', content: input }] }, path)
    expect(JSON.parse(answer.text)).toEqual({ ...JSON.parse(fixture('nonstream.json')), model: 'mine' })
    expect(asked[0]?.body.model).toBe(model)
    expect((await books(server)).logs[0]).toMatchObject({ prompt_tokens: 30, completion_tokens: 44 })
  })

  it('[197] is refused without an input, before any upstream is called', async () => {
    const { asked, ask } = await staged(fixture('nonstream.json'), { type: 'application/json' })
    const cases: [unknown, string][] = [
      [{ model }, 'input'],
      [{ model, input: [] }, 'input'],
      [{ model, input: ['hi'] }, 'input'],
      [{ model, input: 7 }, 'input'],
      [{ input }, 'model'],
      [{ model, input, stream: 'yes' }, 'stream'],
      [{ model, input, max_output_tokens: -1 }, 'max_output_tokens'],
      [{ model, input, stream_options: true }, 'stream_options'],
      [{ model, input, background: true, store: false }, 'background'],
    ]
    for (const [body, field] of cases) {
      const { status, text } = await ask(body, path)
      expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining(field)])
    }
    expect(asked).toEqual([])
    expect((await ask({ model, input }, `${path}/resp_1/cancel`)).status).toBe(404)
    expect((await ask({ model, input }, `${path}/resp_1/fork`)).status).toBe(501)
  })

  it('that fails before any output is free; a later failure is charged and reported', async () => {
    const failed = await staged(fixture('failed.sse'))
    expect((await failed.ask({ model, input, stream: true }, path)).status).toBe(502)
    expect(await settledCharges(failed.server)).toEqual([])

    const some = fixture('text.sse').split('event: response.output_text.done')[0] ?? ''
    const cut = await staged(some)
    const answer = await cut.ask({ model, input, stream: true }, path)
    expect(answer.text.startsWith(some)).toBe(true)
    const [last] = eventsOf(answer.text.slice(some.length))
    expect(last).toMatchObject({
      name: 'error',
      data: { type: 'error', code: 'upstream_failed', error: { type: 'server_error' } },
    })
    expect(await settledCharges(cut.server)).toHaveLength(1)
    await requireBalancedBooks(cut.server)
  })

  for (const [name, Client] of clients) {
    it(`through ${name}: gets streams and whole answers, even when the upstream answers in the other form`, async () => {
      const whole = await staged(fixture('nonstream.json'), { type: 'application/json' })
      const stream = await staged(fixture('parallel_calls.sse'))
      const open = (staged: typeof whole) =>
        new Client({ apiKey: staged.token.key, baseURL: `${staged.server.url}/v1`, maxRetries: 0 })

      const plain = await open(whole).responses.create({ model, input })
      expect(plain.output_text).toBe('Rye is higher.')
      const replayed = await open(whole).responses.stream({ model, input }).finalResponse()
      expect(replayed.output_text).toBe('Rye is higher.')
      expect(replayed.output).toMatchObject(JSON.parse(fixture('nonstream.json')).output)
      const types: string[] = []
      const numbers: number[] = []
      for await (const event of await open(whole).responses.create({ model, input, stream: true })) {
        types.push(event.type)
        numbers.push(event.sequence_number)
      }
      expect(types.at(-1)).toBe('response.completed')
      expect(numbers).toEqual(numbers.map((_, index) => index))

      const streamed = await open(stream).responses.stream({ model, input }).finalResponse()
      expect(streamed.output.map((item) => item.type)).toEqual(['message', 'function_call', 'function_call'])
      const gathered = await open(stream).responses.create({ model, input })
      expect(gathered.output).toMatchObject(streamed.output.map(({ type }) => ({ type })))
      await requireBalancedBooks(whole.server)
      await requireBalancedBooks(stream.server)
    })

    it(`through ${name}: an error inside of a stream is thrown`, async () => {
      const { server, token } = await staged(fixture('text.sse').split('event: response.output_text.done')[0] ?? '')
      const client = new Client({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
      const read = async () => {
        for await (const event of await client.responses.create({ model, input, stream: true }))
          expect(event.type).not.toBe('error')
      }
      await expect(read()).rejects.toThrow(/upstream/)
      await expect(client.responses.stream({ model, input }).finalResponse()).rejects.toThrow(/upstream/)
    })
  }
})
