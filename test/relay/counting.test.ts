import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { countTokens as tokensOf } from 'gpt-tokenizer/encoding/o200k_base'
import OpenAI from 'openai'
import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, ask, chat, claude, event, httpUpstream, model, piece, stage } from './stage.ts'

const gemini = 'gemini-2.0-flash'
const tools = [
  {
    name: 'get_tide',
    description: 'The tide of a port',
    input_schema: { type: 'object' as const, properties: { port: { type: 'string' } } },
  },
]
const messages = [{ role: 'user' as const, content: 'How is the harbor?' }]
const refusal = { error: { type: 'not_found_error', message: 'no such route' } }

anyDatabase('a token count', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  it('[147] is answered by a channel of the vendor, through the official SDK, and costs nothing', async () => {
    const { url, heard: asked } = await answeringUpstream({ json: { input_tokens: 411 } })
    const { server, token } = await sharedStage(url, { type: 14, models: claude })
    const client = new Anthropic({ apiKey: token.key, baseURL: server.url, maxRetries: 0 })
    expect(await client.messages.countTokens({ model: claude, system: 'Be brief.', messages, tools })).toEqual({
      input_tokens: 411,
    })
    expect(asked).toMatchObject([
      { path: '/v1/messages/count_tokens', body: { model: claude, system: 'Be brief.', messages, tools } },
    ])
    expect(Object.keys(asked[0]?.body ?? {}).sort()).toEqual(['messages', 'model', 'system', 'tools'])
    const { ledger, logs, holds } = await books(server)
    expect([ledger.filter((row) => row.kind === 'charge'), logs, holds]).toEqual([[], [], []])
    await requireBalancedBooks(server)
  })

  it('is answered by vendors of Gemini and Responses too, under the mapped name', async () => {
    const google = await answeringUpstream({ json: { totalTokens: 31, cachedContentTokenCount: 4 } })
    const first = await sharedStage(google.url, { type: 24, models: 'mine', model_mapping: `{"mine":"${gemini}"}` })
    const genai = new GoogleGenAI({ apiKey: first.token.key, httpOptions: { baseUrl: first.server.url } })
    const told = await genai.models.countTokens({ model: 'mine', contents: 'How is the harbor?' })
    expect(told).toMatchObject({ totalTokens: 31, cachedContentTokenCount: 4 })
    expect(google.heard).toMatchObject([
      { path: `/v1beta/models/${gemini}:countTokens`, body: { generateContentRequest: { model: `models/${gemini}` } } },
    ])

    const openai = await answeringUpstream({ json: { object: 'response.input_tokens', input_tokens: 17 } })
    const second = await sharedStage(openai.url)
    const client = new OpenAI({ apiKey: second.token.key, baseURL: `${second.server.url}/v1`, maxRetries: 0 })
    const counted = await client.responses.inputTokens.count({ model, input: 'How is the harbor?', instructions: 'Be brief.' })
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: 17 })
    expect(openai.heard).toMatchObject([{ path: '/v1/responses/input_tokens', body: { model, instructions: 'Be brief.' } }])
  })
})

anyDatabase('a token count of a model of another vendor', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  it('is translated for a vendor that has a count endpoint', async () => {
    const { url, heard: asked } = await answeringUpstream({ json: { totalTokens: 52 } })
    const { ask } = await sharedStage(url, { type: 24, models: gemini })
    const answer = await ask({ model: gemini, system: 'Be brief.', messages, tools }, '/v1/messages/count_tokens')
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { input_tokens: 52 }])
    const request = asked[0]?.body.generateContentRequest
    expect(request).toMatchObject({ systemInstruction: { parts: [{ text: 'Be brief.' }] } })
    expect(JSON.stringify(request)).toContain('get_tide')
  })

  it('[147] is made here, with instructions and tools, when no channel can count: never an error', async () => {
    const { url, heard: asked } = await answeringUpstream({ status: 500, json: {} })
    const { server, ask } = await sharedStage(url, { type: 43, models: 'deepseek-chat' })
    const count = async (body: object) => {
      const answer = await ask({ model: 'deepseek-chat', ...body }, '/v1/messages/count_tokens')
      expect([answer.status, answer.headers.get('x-sluice-estimated')]).toEqual([200, 'true'])
      return JSON.parse(answer.text).input_tokens as number
    }
    const plain = await count({ messages })
    expect(plain).toBeGreaterThan(6)
    expect(plain).toBeLessThan(15)
    expect(await count({ messages, system: 'word '.repeat(500) })).toBeGreaterThan(plain + 400)
    expect(await count({ messages, tools })).toBeGreaterThan(plain + 300)
    const png = Buffer.from(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x04\0`, 'latin1').toString('base64')
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
    expect(await count({ messages: [{ role: 'user', content: [image] }] })).toBeGreaterThan(700)
    expect(asked).toEqual([])
    expect((await books(server)).logs).toEqual([])
  })
})

anyDatabase('a token count whose upstream cannot count', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  it('[270] falls back to a local count, and pauses calls to an upstream without a count endpoint', async () => {
    const { url, heard: asked } = await answeringUpstream({ status: 404, json: refusal })
    const { server, token } = await sharedStage(url, { type: 14, models: claude })
    for (let round = 0; round < 3; round++) {
      const answer = await ask(server, token.key, { model: claude, messages }, '/v1/messages/count_tokens')
      expect(answer.status).toBe(200)
      expect(JSON.parse(answer.text).input_tokens).toBeGreaterThan(5)
    }
    expect(asked).toHaveLength(1)
    expect((await books(server)).channels[0]?.status).toBe(1)
  })

  it('tries another channel before the local count, and does not count a failure against a channel', async () => {
    const broken = await answeringUpstream({ status: 529, json: {} })
    const good = await answeringUpstream({ json: { input_tokens: 12 } })
    const { server, ask } = await sharedStage(broken.url, { type: 14, models: claude, priority: 9 })
    await addChannel(server, { url: good.url, type: 14, models: claude })
    for (let round = 0; round < 2; round++)
      expect(JSON.parse((await ask({ model: claude, messages }, '/v1/messages/count_tokens')).text)).toEqual({ input_tokens: 12 })
    expect([broken.heard.length, good.heard.length]).toEqual([2, 2])
  })

  it('goes to the channel that the strategy of the group chooses', async () => {
    const [dear, cheap] = [
      await answeringUpstream({ json: { input_tokens: 1 } }),
      await answeringUpstream({ json: { input_tokens: 2 } }),
    ]
    const { server, ask } = await stage(kind, dear.url, { channel: { type: 14, models: claude, setting: '{"cost_ratio":2}' } })
    await addChannel(server, { url: cheap.url, type: 14, models: claude, setting: '{"cost_ratio":1}' })
    await setOptions(server, { GroupRouting: '{"default":"cheapest"}' })
    for (let round = 0; round < 8; round++)
      expect(JSON.parse((await ask({ model: claude, messages }, '/v1/messages/count_tokens')).text)).toEqual({ input_tokens: 2 })
  })

  it('passes over a channel whose concurrency is used up, and takes a place of it itself', async () => {
    const [small, other] = [
      await answeringUpstream({ json: { input_tokens: 1 } }),
      await answeringUpstream({ json: { input_tokens: 2 } }),
    ]
    const setting = '{"max_concurrency":1}'
    const { server, ask } = await stage(kind, small.url, { channel: { type: 14, models: claude, priority: 9, setting } })
    await addChannel(server, { url: other.url, type: 14, models: claude })
    const { traffic, channels } = server.app
    const busy = channels.current.candidates('default', claude)[0]?.[0]
    if (!busy) throw new Error('The channel is missing')
    const counted = async () => JSON.parse((await ask({ model: claude, messages }, '/v1/messages/count_tokens')).text)
    const run = traffic.begin(busy, { id: 'a running call', model: claude, inputTokens: 0, isPinned: false })
    await run.refusal
    expect(await counted()).toEqual({ input_tokens: 2 })
    run.abandoned()
    expect(await counted()).toEqual({ input_tokens: 1 })
    expect(traffic.running(busy)).toBe(0)
  })

  it('[29] is refused like any call: unknown models, keys, methods and bodies, in the dialect', async () => {
    const { url, heard: asked } = await answeringUpstream({ json: {} })
    const { server, token } = await sharedStage(url, { type: 24, models: gemini })
    const path = (name: string) => `/v1beta/models/${name}:countTokens`
    const body = { contents: [{ parts: [{ text: 'Hi' }] }] }
    const told = async (answer: Promise<{ status: number; text: string }>) => {
      const { status, text } = await answer
      return [status, JSON.parse(text).error.status ?? JSON.parse(text).error.type]
    }
    expect(await told(ask(server, token.key, body, path('nope')))).toEqual([404, 'NOT_FOUND'])
    expect(await told(ask(server, 'sk-wrong', body, path(gemini)))).toEqual([401, 'UNAUTHENTICATED'])
    expect(await told(ask(server, token.key, {}, path(gemini)))).toEqual([400, 'INVALID_ARGUMENT'])
    const messages = await told(ask(server, token.key, { model: gemini, messages: [] }, '/v1/messages/count_tokens'))
    expect(messages).toEqual([400, 'invalid_request_error'])
    expect((await fetch(server.url + path(gemini))).status).toBe(405)
    expect(asked).toEqual([])
    // An answer without a count is ignored: the prompt is counted here.
    const counted = JSON.parse((await ask(server, token.key, body, path(gemini))).text)
    expect(counted.totalTokens).toBeGreaterThan(0)
    expect(asked).toHaveLength(1)
  })

  it('counts towards request limits, but not towards token limits', async () => {
    const { url } = await answeringUpstream({ json: { input_tokens: 9 } })
    const { server, token } = await stage(kind, url, { channel: { type: 14, models: claude } })
    await setOptions(server, { UserRequestLimits: { '*': [{ seconds: 60, requests: 2, tokens: 1, concurrency: 0 }] } })
    const count = () => ask(server, token.key, { model: claude, messages }, '/v1/messages/count_tokens')
    expect([(await count()).status, (await count()).status, (await count()).status]).toEqual([200, 200, 429])
  })
})

anyDatabase('a token count of models in a cloud', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  it('sends Bedrock the request that it would send for an answer', async () => {
    const { url, heard: asked } = await answeringUpstream({ json: { inputTokens: 77 } })
    const { ask } = await sharedStage(url, { type: 33, key: 'a|b|us-east-1', models: claude })
    const answer = await ask({ model: claude, messages, service_tier: 'auto' }, '/v1/messages/count_tokens')
    expect(JSON.parse(answer.text)).toEqual({ input_tokens: 77 })
    expect(asked[0]?.path).toBe('/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0/count-tokens')
    expect(asked[0]?.headers.authorization).toMatch(/^AWS4-HMAC-SHA256/)
    const [{ body }] = asked as unknown as [{ body: { input: { invokeModel: { body: string } } } }]
    expect(JSON.parse(Buffer.from(body.input.invokeModel.body, 'base64').toString())).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 1024,
      messages,
    })
  })

  it('calls Vertex at its own addresses', async () => {
    const { url, heard: asked } = await answeringUpstream({ json: { totalTokens: 5 } })
    const { ask } = await sharedStage(url, { type: 41, key: `AIza${'x'.repeat(35)}`, other: 'global', models: gemini })
    const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
    expect(JSON.parse((await ask(body, `/v1beta/models/${gemini}:countTokens`)).text)).toEqual({ totalTokens: 5 })
    expect(asked[0]).toMatchObject({ path: `/v1/publishers/google/models/${gemini}:countTokens`, body })
    expect(asked[0]?.body.generateContentRequest).toBeUndefined()
  })
})

/** Typical prompts and answers: each as long as a page, and one longer than the part that is counted exactly. */
const texts: Readonly<Record<string, string>> = {
  english: `The tide comes in at six, and with it the boats; nobody on the quay says much before the coffee is ready. `.repeat(
    30,
  ),
  chinese:
    '潮水在清晨六点涨上来，渔船也跟着回港；码头上的人，在咖啡煮好之前，都不怎么说话。今天的风很小，海面像一面镜子。'.repeat(30),
  unbroken: '潮水在清晨六点涨上来渔船也跟着回港码头上的人在咖啡煮好之前都不怎么说话今天的风很小海面像一面镜子'.repeat(30),
  code: 'export function tideOf(port: string, at: Date): number {\n  const hours = (at.getTime() - epoch) / 3_600_000\n  return Math.sin(hours / 12.42) * (ranges[port] ?? 2.5)\n}\n\n'.repeat(
    20,
  ),
  table: '| port | high | low |\n|------|-----:|----:|\n| Brest | 7.12 m | 1.04 m |\n| 青岛 | 4.8 m | 0.3 m |\n'.repeat(25),
  emoji: 'Fair winds 🌊⛵️ and 👩‍👩‍👧 following seas 🇫🇷! Привет, мир. こんにちは、世界。مرحبا بالعالم '.repeat(25),
  long: 'A page of the log of the harbor master, who writes down every ship, its length, its flag and its cargo. '.repeat(1500),
}

anyDatabase('a stream whose upstream reports no usage', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  it('[T158] is counted within one in a hundred of the tokenizer, and its row reports that it was counted here', async () => {
    const url = await httpUpstream(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const said = texts[JSON.parse(body).messages[0].content.slice(0, -1)] ?? ''
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      // Split anywhere, as upstreams do.
      for (let at = 0; at < said.length; at += 997) response.write(piece(said.slice(at, at + 997)))
      response.end(piece('', 'stop') + event('[DONE]'))
    })
    // The longest text exceeds the output limit of the default model.
    const longWriter = 'o3-mini'
    const { server, ask } = await sharedStage(url, { models: longWriter })
    const names = Object.keys(texts)
    for (const name of names)
      expect(
        (await ask(chat({ model: longWriter, stream: true, messages: [{ role: 'user', content: `${name}?` }] }))).text,
      ).toContain('[DONE]')
    const { logs } = await books(server)
    for (const [index, name] of names.entries()) {
      const expected = tokensOf(texts[name] ?? '', { disallowedSpecial: new Set() })
      const counted = logs[index]?.completion_tokens ?? 0
      expect(Math.abs(counted - expected) / expected, `${name}: ${counted} for ${expected}`).toBeLessThan(0.01)
      expect(JSON.parse(logs[index]?.other ?? '{}').estimated, name).toBe(true)
    }
    await requireBalancedBooks(server)
  })
})
