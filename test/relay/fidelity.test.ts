import { describe, expect, it } from 'vitest'
import { serverOfTest } from '../helpers/app.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, ask, chat, claude, event, model, piece, settledCharges, stage } from './stage.ts'

const sharedStage = sharedStages('sqlite', { ModelPrice: { 'meta/llama-3:free@x': 1 } })

/** Pass-through keeps every byte. Numbers are those of the list of edge cases. */
async function open(channel: Record<string, unknown> = {}) {
  const upstream = await upstreamOfTest()
  const staged = await sharedStage(upstream.url, channel)
  return { upstream, ...staged }
}

const answering = async (bytes: string, type = 'text/event-stream', status = 200) =>
  (await answeringUpstream({ bytes, type, status })).url

describe('the address and the key', () => {
  it('[28] a doubled prefix, a trailing slash and unknown query keys are served', async () => {
    const { ask, upstream } = await open()
    for (const path of ['/v1/v1/chat/completions', '/v1/chat/completions/', '/v1/chat/completions?beta=true'])
      expect([path, (await ask(chat(), path)).status]).toEqual([path, 200])
    expect(upstream.journal).toHaveLength(3)
  })

  it('[31] a model with a slash in its name is found', async () => {
    const { server, token } = await open({ models: `${model},meta/llama-3:free@x` })
    const response = await fetch(`${server.url}/v1/models/meta/llama-3:free@x`, {
      headers: { authorization: `Bearer ${token.key}` },
    })
    expect([response.status, ((await response.json()) as { id: string }).id]).toEqual([200, 'meta/llama-3:free@x'])
  })

  it('[32] [33] the scheme may be in lower case with more spaces; a placeholder does not hide a valid key', async () => {
    const { server, token } = await open({ type: 14, models: claude })
    const body = { model: claude, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }
    const headers: Record<string, string>[] = [
      { authorization: `bearer  ${token.key}` },
      { authorization: 'Bearer undefined', 'x-api-key': token.key },
    ]
    for (const sent of headers) expect((await ask(server, 'sk-none', body, '/v1/messages', sent)).status).toBe(200)
  })

  it('[35] a wrong key is refused in the dialect of the path', async () => {
    const { server } = await open()
    const shapes = {
      '/v1/chat/completions': 'code',
      '/v1/messages': 'type',
      [`/v1beta/models/${model}:generateContent`]: 'status',
    }
    for (const [path, member] of Object.entries(shapes)) {
      const refused = await ask(server, 'sk-wrong', chat(), path)
      expect([path, refused.status, member in JSON.parse(refused.text).error]).toEqual([path, 401, true])
    }
  })
})

describe('requests that pass through', () => {
  it('[262] [273] keep number-like keys, long integers and spaces unchanged, and only the last of repeated models', async () => {
    const { ask, upstream, server } = await open({ models: `${model},gpt-4o` })
    const sent = `{"model":"${model}", "metadata":{"2":"a","1":"b"},  "seed":12345678901234567890,"temperature":1.0,"messages":[{"role":"user","content":"hi"}]}`
    await ask(sent)
    expect(upstream.journal[0]?.body.toString()).toBe(sent)
    await ask(sent.replace('}]}', `}],"model":"gpt-4o"}`))
    expect(upstream.journal[1]?.body.toString().match(/"model":"[^"]*"/g)).toEqual(['"model":"gpt-4o"'])
    expect((await books(server)).logs.at(-1)?.model_name).toBe('gpt-4o')
  })

  it('[261] [263] carry unknown fields and beta headers to their own vendor, and no beta headers to others', async () => {
    const { server, token, upstream } = await open({ type: 14, models: claude })
    const sent = `{"model":"${claude}","max_tokens":5,"x_new":{"deep":[1.0]},"messages":[{"role":"user","content":"hi"}]}`
    await ask(server, token.key, sent, '/v1/messages', { 'anthropic-beta': 'one-2026,two-2026' })
    expect(upstream.journal[0]?.body.toString()).toBe(sent)
    expect(upstream.journal[0]?.headers['anthropic-beta']).toBe('one-2026,two-2026')
    await addChannel(server, { url: upstream.url, models: model })
    await ask(server, token.key, sent.replace(claude, model).replace('"x_new":{"deep":[1.0]},', ''), '/v1/messages', {
      'anthropic-beta': 'one-2026',
    })
    expect(upstream.journal.at(-1)?.headers['anthropic-beta']).toBeUndefined()
  })
})

describe('answers that pass through', () => {
  it('[58] [265] keep several choices, unknown events and unknown members', async () => {
    const stream = [
      event({ id: 'c', choices: [{ index: 1, delta: { role: 'assistant', content: 'b' } }], x_new: { a: 1.0 } }),
      'event: vendor.news\ndata: {"anything":1}\n\n',
      event({ id: 'c', choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] }),
      event({ id: 'c', choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }),
      event('[DONE]'),
    ].join('')
    const { ask } = await sharedStage(await answering(stream))
    expect((await ask(chat({ n: 2, stream: true, stream_options: { include_usage: true } }))).text).toBe(stream)
  })

  it('[274] an error after the end is not passed on', async () => {
    const stream = piece('a') + piece('', 'stop') + event('[DONE]') + event({ error: { message: 'late' } })
    const { ask } = await sharedStage(await answering(stream))
    const { text } = await ask(chat({ stream: true }))
    expect([text.endsWith('data: [DONE]\n\n'), text.includes('late')]).toEqual([true, false])
  })

  it('[212] [213] are charged by the total if the upstream reports only that, and counted here if it reports no usage', async () => {
    const body = (usage?: object) =>
      JSON.stringify({
        id: 'c',
        choices: [{ index: 0, message: { role: 'assistant', content: 'four five six' }, finish_reason: 'stop' }],
        usage,
      })
    const { ask, server } = await stage(
      'sqlite',
      await answering(body({ prompt_tokens: 3, total_tokens: 10 }), 'application/json'),
    )
    await ask(chat())
    const silent = await stage('sqlite', await answering(body(), 'application/json'))
    await silent.ask(chat())
    await settledCharges(server)
    expect((await books(server)).logs[0]).toMatchObject({ prompt_tokens: 3, completion_tokens: 7 })
    const [counted] = (await books(silent.server)).logs
    expect(counted?.completion_tokens).toBeGreaterThan(1)
    expect(JSON.parse(counted?.other ?? '{}').estimated).toBe(true)
    await requireBalancedBooks(server)
  })
})

describe('refusals of an upstream', () => {
  it('[259] [260] that are the fault of the caller keep their code, and no other channel is tried', async () => {
    for (const code of ['content_filter', 'context_length_exceeded']) {
      const refusing = await answering(
        JSON.stringify({ error: { message: 'It is too long', type: 'invalid_request_error', code } }),
        'application/json',
        400,
      )
      const other = await upstreamOfTest()
      const server = await serverOfTest('sqlite')
      await addChannel(server, { url: refusing, models: model, priority: 9 })
      await addChannel(server, { url: other.url, models: model })
      await setOptions(server, { RetryTimes: 3 })
      const { key } = await addToken(server)
      const answer = await ask(server, key, chat())
      expect([answer.status, JSON.parse(answer.text).error.code, other.journal.length]).toEqual([400, code, 0])
      expect((await books(server)).channels.every(({ status }) => status === 1)).toBe(true)
    }
  })
})

describe('a reply of Chat with calls that its host ends by stop', () => {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const chunk = (delta: object, finish_reason: string | null) =>
    event({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason }] })
  const streamed = chunk({ role: 'assistant', tool_calls: [call] }, null) + chunk({}, 'stop') + event('[DONE]')
  const whole = `{"id":"c", "object":"chat.completion","created":1,"model":"${model}","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[${JSON.stringify(call)}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`
  const asked = { tools: [{ type: 'function', function: { name: 'f' } }] }

  it.each([
    ['whole', false, whole, 'application/json'],
    ['streamed', true, streamed, 'text/event-stream'],
  ] as const)(
    '[51] [264] ends by tool_calls when it is %s, and by its own bytes for a strict token',
    async (_, stream, text, type) => {
      const { server, ask: askPlain } = await sharedStage(await answering(text, type))
      const plain = await askPlain(chat({ ...asked, stream }))
      expect(plain.text).toBe(text.replace('"finish_reason":"stop"', '"finish_reason":"tool_calls"'))
      const strict = await addToken(server, { strict_translation: true })
      expect((await ask(server, strict.key, chat({ ...asked, stream }))).text).toBe(text)
    },
  )

  it.each([
    ['a whole reply to a stream', true, whole, 'application/json'],
    ['a stream to a whole reply', false, streamed, 'text/event-stream'],
  ] as const)('[51] ends by tool_calls when its host sends %s', async (_, stream, text, type) => {
    const { ask: askPlain } = await sharedStage(await answering(text, type))
    const answer = await askPlain(chat({ ...asked, stream }))
    expect(answer.text).toContain('"finish_reason":"tool_calls"')
    expect(answer.text).not.toContain('"finish_reason":"stop"')
  })
})
