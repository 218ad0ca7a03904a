import { readFileSync } from 'node:fs'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, httpUpstream, stage, upstreamKey } from './stage.ts'

const model = 'gemini-2.0-flash'
const fixtures = new URL('../../src/server/gateway/protocols/gemini-generate/fixtures/', import.meta.url)
const fixture = (name: string) => readFileSync(new URL(name, fixtures), 'utf8')
const hello = { contents: [{ role: 'user', parts: [{ text: 'one two three' }] }] }

const sse = 'text/event-stream'

/** Answers with a fixture: `whole` to `generateContent`, `stream` to `streamGenerateContent`. */
const answering = (stream: string, whole = 'nonstream.json') =>
  answeringUpstream(({ path: asked }) => (asked.includes(':stream') ? { bytes: fixture(stream), type: sse } : fixture(whole)))

const channel = { type: 24, models: `${model},gemini-3.7-flash,tunedModels/mine` }

const path = (method: string, query = '') => `/v1beta/models/${model}:${method}${query}`
const sharedStage = sharedStages('sqlite', { ModelPrice: { 'tunedModels/mine': 1 } })

async function door(upstream: string, more: Record<string, unknown> = {}) {
  const at = await sharedStage(upstream, { ...channel, ...more })
  return { ...at, path }
}

anyDatabase('Gemini through the gateway', (_fresh, kind) => {
  it('is answered and streamed to the official client, and every charge agrees', async () => {
    const { url, heard } = await answering('text.sse')
    const { server, token } = await stage(kind, url, { channel })
    const client = new GoogleGenAI({ apiKey: token.key, httpOptions: { baseUrl: server.url, retryOptions: { attempts: 1 } } })

    const answer = await client.models.generateContent({ model, contents: 'one two three' })
    expect(answer.text).toBe('The harbor is calm.')
    let streamed = ''
    for await (const chunk of await client.models.generateContentStream({ model, contents: 'one two three' }))
      streamed += chunk.text
    expect(streamed).toBe('The harbor is calm.')
    expect((await client.models.get({ model })).name).toBe(`models/${model}`)
    await expect(client.models.generateContent({ model: 'no-such', contents: 'x' })).rejects.toMatchObject({ status: 404 })

    expect(heard.map((entry) => entry.path)).toEqual([
      `/v1beta/models/${model}:generateContent`,
      `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    ])
    expect(heard.every(({ headers }) => headers['x-goog-api-key'] === upstreamKey && headers.authorization === undefined)).toBe(
      true,
    )
    const { logs } = await books(server)
    expect(logs.map((row) => [row.prompt_tokens, row.completion_tokens, row.is_stream])).toEqual([
      [21, 18, 0],
      [21, 6, 1],
    ])
    await requireBalancedBooks(server)
  })

  it('is translated for callers of Chat; callers of Gemini get answers of a Chat model', async () => {
    const { url, heard } = await answering('parallel_calls.sse')
    const { server, token } = await stage(kind, url, { channel })
    const chat = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const runner = chat.chat.completions.stream({ model, messages: [{ role: 'user', content: 'tides?' }] })
    const { choices } = await runner.finalChatCompletion()
    expect(choices[0]?.finish_reason).toBe('tool_calls')
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { id: 'call_fx1', function: { arguments: '{"port":"Rye"}' } },
      { id: 'call_fx2', function: { arguments: '{"port":"Hythe"}' } },
    ])
    expect(heard[0]?.body).toMatchObject({ contents: [{ role: 'user', parts: [{ text: 'tides?' }] }] })

    const openai = await upstreamOfTest({ models: ['gpt-4o-mini'] })
    await addChannel(server, { url: openai.url, models: 'gpt-4o-mini' })
    const google = new GoogleGenAI({ apiKey: token.key, httpOptions: { baseUrl: server.url, retryOptions: { attempts: 1 } } })
    const request = { model: 'gpt-4o-mini', contents: 'one two three' }
    const answer = await google.models.generateContent(request)
    expect([answer.text, answer.modelVersion]).toEqual(['You said: one two three', 'gpt-4o-mini'])
    let streamed = ''
    for await (const chunk of await google.models.generateContentStream(request)) streamed += chunk.text
    expect(streamed).toBe('You said: one two three')
    await requireBalancedBooks(server)
  })
})

describe('the addresses of Gemini', () => {
  it('are accepted in every form that clients write', async () => {
    const { url, heard } = await answering('text.sse')
    const { ask, server } = await stage('sqlite', url, { channel })
    await setOptions(server, { SelfUseModeEnabled: true })
    const paths = [
      `/v1/models/${model}:generateContent`,
      `/v1beta/models/${model}%3AgenerateContent`,
      `/v1beta/models/models/${model}:generateContent`,
      `/v1beta/publishers/google/models/${model}:generateContent`,
      `/v1beta/models/publishers%2Fgoogle%2Fmodels%2F${model}:generateContent/`,
      `/v1beta/v1beta/models/${model}:generateContent?x=y`,
      '/v1beta/tunedModels/mine:generateContent',
    ]
    for (const path of paths) expect([path, (await ask(hello, path)).status]).toEqual([path, 200])
    expect(new Set(heard.map((entry) => entry.path))).toEqual(
      new Set([`/v1beta/models/${model}:generateContent`, '/v1beta/tunedModels/mine:generateContent']),
    )
  })

  it('[29] never treat another method as a generation', async () => {
    const { url, heard } = await answering('text.sse')
    const { ask, path, server, charged } = await door(url)
    const statusOf = async (method: string) => JSON.parse((await ask(hello, path(method))).text).error.status
    for (const method of ['embedContent', 'batchEmbedContents', 'predict', 'batchGenerateContent'])
      expect([method, await statusOf(method)]).toEqual([method, 'INVALID_ARGUMENT'])
    for (const method of ['asyncBatchEmbedContent', 'predictLongRunning'])
      expect([method, await statusOf(method)]).toEqual([method, 'UNIMPLEMENTED'])
    await ask(hello, path('countTokens'))
    const wrong = await fetch(server.url + path('generateContent'))
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    expect(heard.filter((entry) => /generate/i.test(entry.path))).toEqual([])
    expect(await charged()).toEqual([])
  })

  it('[34] [33] accept the key in a header of Google, in the query, or as a bearer token, and do not pass it on', async () => {
    const { url, heard } = await answering('text.sse')
    const { server, token, path } = await door(url)
    const post = (query: string, headers: Record<string, string>, to = path('generateContent')) =>
      fetch(`${server.url}${to}${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(hello),
      })
    expect((await post('', { 'x-goog-api-key': token.key })).status).toBe(200)
    expect((await post(`?key=${token.key}`, {})).status).toBe(200)
    expect((await post(`?key=${token.key}`, { 'x-goog-api-key': 'placeholder' })).status).toBe(200)
    expect((await post('', { authorization: `bearer  ${token.key}` })).status).toBe(200)
    const missing = await post('', {})
    expect([missing.status, (await missing.json()).error.status]).toEqual([401, 'UNAUTHENTICATED'])
    expect((await post(`?key=${token.key}`, {}, '/v1/chat/completions')).status).toBe(401)
    expect(JSON.stringify(heard)).not.toContain(token.key.slice(3))
  })

  it('when several keys are sent, the first place in the order of Google decides', async () => {
    const { url } = await answering('text.sse')
    const { server, token } = await door(url)
    const other = await addToken(server, { name: 'other' })
    await fetch(`${server.url}${path('generateContent')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': other.key, authorization: `Bearer ${token.key}` },
      body: JSON.stringify(hello),
    })
    expect((await books(server)).logs.map((row) => row.token_name)).toEqual(['other'])
  })

  it('[240] list the models in the shape of Gemini', async () => {
    const { url } = await answering('text.sse')
    const { server, token } = await door(url)
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(server.url + path, { headers: { 'x-goog-api-key': token.key, ...headers } })
      return { status: response.status, body: await response.json() }
    }
    const { body } = await get('/v1beta/models?pageSize=50')
    expect(body.models.map(({ name }: { name: string }) => name).sort()).toEqual([
      `models/${model}`,
      'models/gemini-3.7-flash',
      'tunedModels/mine',
    ])
    expect((await get(`/v1beta/models/${model}`)).body).toMatchObject({ name: `models/${model}` })
    expect((await get('/v1/models')).body).toHaveProperty('models')
    expect((await get('/v1/models', { 'anthropic-version': '2023-06-01' })).body).toHaveProperty('first_id')
    const { models, nextPageToken } = (await get('/v1beta/models?pageSize=2')).body
    expect([models.length, (await get(`/v1beta/models?pageSize=2&pageToken=${nextPageToken}`)).body.models.length]).toEqual([
      2, 1,
    ])
    const anthropic = async (query: string) => (await get(`/v1/models?${query}`, { 'anthropic-version': '2023-06-01' })).body
    const first = await anthropic('limit=2')
    const second = await anthropic(`limit=2&after_id=${first.last_id}`)
    expect([first.has_more, first.data.length, second.has_more, second.data.length]).toEqual([true, 2, false, 1])
    expect(await anthropic(`limit=1&before_id=${second.first_id}`)).toMatchObject({ first_id: first.last_id, has_more: true })
    const unknown = await get('/v1beta/models/none')
    expect([unknown.status, unknown.body.error.status]).toEqual([404, 'NOT_FOUND'])
  })
})

describe('an image by its address', () => {
  it('[171] is never fetched from the internal network, directly or by a redirect', async () => {
    const { url, heard } = await answering('text.sse')
    let fetched = 0
    const inside = await httpUpstream((_request, response) => {
      fetched++
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
    })
    const { ask } = await door(url)
    for (const address of [`${inside}/a.png`, 'http://localhost:1/a.png', 'http://169.254.169.254/latest/meta-data']) {
      const content = [{ type: 'image_url', image_url: { url: address } }]
      const answer = await ask({ model, messages: [{ role: 'user', content }] })
      expect([address, answer.status]).toEqual([address, 400])
    }
    expect([fetched, heard.length]).toEqual([0, 0])
  })
})

describe('a Gemini stream that passes through', () => {
  it.each(['text.sse', 'thoughts.sse', 'function_call.sse', 'unicode.sse', 'prompt_blocked.sse', 'empty_content.sse'])(
    '[264] [256] %s: byte for byte',
    async (name) => {
      const { url } = await answering(name)
      const { ask, path, server, charged } = await door(url)
      const answer = await ask(hello, path('streamGenerateContent', '?alt=sse'))
      expect([answer.status, answer.text]).toEqual([200, fixture(name)])
      expect(await charged()).toHaveLength(1)
      await requireBalancedBooks(server)
    },
  )

  it('[30] is one JSON array without alt=sse', async () => {
    const { url } = await answering('text.sse')
    const { ask, path } = await door(url)
    const answer = await ask(hello, path('streamGenerateContent'))
    expect(answer.headers.get('content-type')).toBe('application/json; charset=UTF-8')
    const events = fixture('text.sse')
      .split('\r\n\r\n')
      .filter((event) => event !== '')
      .map((event) => event.slice('data: '.length))
    expect(answer.text).toBe(`[${events.join(',\r\n')}\n]`)
  })

  it('[30] [25] is a valid array when it breaks midway, with an error whose code is a number', async () => {
    const { url } = await answering('error_midstream.sse')
    const { ask, path, charged } = await door(url)
    const answer = await ask(hello, path('streamGenerateContent'))
    expect(JSON.parse(answer.text)).toMatchObject([{ candidates: [{}] }, { error: { code: 503, status: 'UNAVAILABLE' } }])
    expect(await charged()).toHaveLength(1)
  })

  it('[12] ends with an error when it has no finish reason', async () => {
    const first = `${fixture('text.sse').split('\r\n\r\n')[0]}\r\n\r\n`
    const { url } = await answeringUpstream({ bytes: first, type: sse })
    const { ask, path } = await door(url)
    const { text } = await ask(hello, path('streamGenerateContent', '?alt=sse'))
    expect(text.startsWith(first)).toBe(true)
    expect(JSON.parse(text.slice(first.length + 'data: '.length))).toMatchObject({ error: { code: expect.any(Number) } })
  })

  it('names the requested model in the answer, and the mapped one in the upstream URL alone', async () => {
    const { url, heard } = await answering('text.sse')
    const { ask, path } = await door(url, { model_mapping: JSON.stringify({ [model]: 'gemini-3.7-flash' }) })
    const { text } = await ask(hello, path('streamGenerateContent', '?alt=sse'))
    expect(text).toBe(fixture('text.sse').replaceAll('gemini-3.7-flash', model))
    const whole = await ask(hello, path('generateContent'))
    expect(JSON.parse(whole.text).modelVersion).toBe(model)
    expect(heard.map((entry) => entry.path)).toEqual([
      '/v1beta/models/gemini-3.7-flash:streamGenerateContent?alt=sse',
      '/v1beta/models/gemini-3.7-flash:generateContent',
    ])
    expect(heard.every(({ bytes }) => bytes.toString() === JSON.stringify(hello))).toBe(true)
  })

  it('[16] is made from one whole answer', async () => {
    const { url } = await answeringUpstream(fixture('nonstream.json'))
    const { ask, path } = await door(url)
    const { text } = await ask(hello, path('streamGenerateContent', '?alt=sse'))
    expect(text).toBe(`data: ${JSON.stringify(JSON.parse(fixture('nonstream.json')))}\r\n\r\n`)
  })

  it('[15] becomes one whole answer for a caller that did not request a stream', async () => {
    const { url } = await answeringUpstream({ bytes: fixture('thoughts.sse'), type: sse })
    const { ask, path } = await door(url)
    const { candidates, usageMetadata } = JSON.parse((await ask(hello, path('generateContent'))).text)
    expect(candidates).toMatchObject([
      {
        content: {
          role: 'model',
          parts: [
            { text: 'Comparing two ports.', thought: true },
            { text: 'Rye is higher.', thoughtSignature: 'CiQBfixture==' },
          ],
        },
        finishReason: 'STOP',
      },
    ])
    expect(usageMetadata.thoughtsTokenCount).toBe(35)
  })
})

describe('refusals by Gemini', () => {
  const failing = (body: string, status: number) => answeringUpstream({ bytes: body, status })

  it('[255] a refused key is a fault of the channel: another channel answers, and the caller gets no error', async () => {
    const bad = await failing(fixture('error_400.json'), 400)
    const good = await answering('text.sse')
    const { server, ask } = await stage('sqlite', bad.url, { channel: { ...channel, priority: 10 } })
    await addChannel(server, { url: good.url, ...channel })
    await setOptions(server, { RetryTimes: 1 })
    expect((await ask(hello, path('generateContent'))).status).toBe(200)
    expect([bad.heard.length, good.heard.length]).toEqual([1, 1])
  })

  it('[255] a refused key is not reported as a mistake of the caller when there is no other channel', async () => {
    const { url } = await failing(fixture('error_400.json'), 400)
    const { ask, path } = await door(url)
    const answer = await ask(hello, path('generateContent'))
    expect([answer.status, JSON.parse(answer.text).error.status]).toEqual([503, 'FAILED_PRECONDITION'])
  })

  it('[257] report the time after which to retry', async () => {
    const error = {
      code: 429,
      message: 'quota',
      status: 'RESOURCE_EXHAUSTED',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12s' }],
    }
    const { url } = await failing(JSON.stringify({ error }), 429)
    const { ask, path } = await door(url)
    const answer = await ask(hello, path('generateContent'))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '12'])
    expect(JSON.parse(answer.text).error).toMatchObject({
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      details: [{ retryDelay: '12s' }],
    })
  })

  it('[256] a blocked prompt is a complete answer, unchanged and for a caller of Chat', async () => {
    const blocked = fixture('prompt_blocked.sse').slice('data: '.length)
    const { url } = await answeringUpstream(blocked)
    const { ask, path, logs } = await door(url)
    expect(JSON.parse((await ask(hello, path('generateContent'))).text)).toEqual(JSON.parse(blocked))
    const chat = await ask({ model, messages: [{ role: 'user', content: 'x' }] })
    expect(JSON.parse(chat.text)).toMatchObject({ choices: [{ message: { content: '' }, finish_reason: 'content_filter' }] })
    expect((await logs()).map((row) => row.prompt_tokens)).toEqual([21, 21])
  })

  it("a caller's error keeps the upstream's text", async () => {
    const error = { code: 400, message: 'contents is required', status: 'INVALID_ARGUMENT' }
    const { url } = await failing(JSON.stringify({ error }), 400)
    const { ask, path } = await door(url)
    const answer = await ask(hello, path('generateContent'))
    expect([answer.status, JSON.parse(answer.text).error]).toMatchObject([400, { code: 400, status: 'INVALID_ARGUMENT' }])
    expect(answer.text).toContain('contents is required')
    expect((await ask({ contents: [] }, path('generateContent'))).status).toBe(400)
  })
})
