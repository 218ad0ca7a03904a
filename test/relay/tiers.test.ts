import { describe, expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addToken, requireBalancedBooks } from '../helpers/seed.ts'
import { prices, scene, sharedScenes, streamed, vendor } from './paid-stage.ts'
import { ask as send } from './stage.ts'

const sharedScene = sharedScenes()

const chatReply = (more: object = {}) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-5',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 11, total_tokens: 111 },
  ...more,
})
const chat = (more: object = {}) => ({ model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }], ...more })

describe('a tier of Chat', () => {
  it.each([
    ['priority', 'priority', 222, 2],
    ['fast', 'priority', 222, 2],
    ['priority', 'default', 111, undefined],
    ['priority', undefined, 222, 2],
    ['priority', 'a-new-word', 222, 2],
    ['flex', 'flex', 56, 0.5],
    [undefined, 'priority', 111, undefined],
    ['default', 'default', 111, undefined],
  ])(
    'requested as %s and served as %s is charged as served, never more than the requested tier',
    async (asked, served, quota, factor) => {
      const { url, asked: bodies } = await vendor(chatReply(served ? { service_tier: served } : {}))
      const { ask, last } = await sharedScene(url)
      const { status } = await ask(chat(asked ? { service_tier: asked } : {}))
      expect(status).toBe(200)
      expect(bodies[0]?.service_tier).toBe(asked)
      const row = await last()
      expect(row.quota).toBe(quota)
      expect(row.other.tier_factor).toBe(factor)
      if (asked === 'priority' && served) expect(row.other).toMatchObject({ tier_asked: 'priority', tier_served: served })
    },
  )

  it('is read from a stream', async () => {
    const chunk = (more: object) => ({
      ...chatReply(),
      object: 'chat.completion.chunk',
      usage: null,
      service_tier: 'priority',
      ...more,
    })
    const { url } = await vendor(() =>
      streamed(
        [
          chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'ok' }, finish_reason: null }] }),
          chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
          chunk({ choices: [], usage: chatReply().usage }),
        ],
        'data: [DONE]\n\n',
      ),
    )
    const { ask, last } = await sharedScene(url)
    await ask(chat({ service_tier: 'priority', stream: true }))
    expect(await last()).toMatchObject({ quota: 222, other: { tier_factor: 2, tier_served: 'priority' } })
  })

  it('without a factor is removed from the request, with a receipt', async () => {
    const { url, asked } = await vendor(chatReply({ service_tier: 'default' }))
    const { ask, last } = await sharedScene(url)
    for (const body of [chat({ service_tier: 'ultrafast' }), chat({ model: 'gpt-x', service_tier: 'ultrafast' })]) {
      const { status, headers } = await ask(body)
      expect([status, headers.get('x-sluice-dropped')]).toEqual([200, 'service_tier'])
      expect(asked.at(-1)).not.toHaveProperty('service_tier')
      expect(await last()).toMatchObject({ quota: 111, other: { dropped: ['service_tier'] } })
    }
  })

  it('without a factor causes a refusal when the token is strict', async () => {
    const { url, asked } = await vendor(chatReply())
    const { server } = await scene('sqlite', url)
    const { key } = await addToken(server, { strict_translation: true })
    const { status, text } = await send(server, key, chat({ service_tier: 'ultrafast' }))
    expect([status, text]).toEqual([400, expect.stringContaining('service_tier')])
    expect(asked).toEqual([])
  })

  it('has the factor that the operator sets, by name and by model', async () => {
    const { url } = await vendor(chatReply({ service_tier: 'ultrafast' }))
    const { ask, set, last } = await scene('sqlite', url)
    await set('TierFactor', { ultrafast: 3, 'ultrafast/gpt-5*': 4.5 })
    await ask(chat({ service_tier: 'ultrafast' }))
    expect((await last()).quota).toBe(500)
    await ask(chat({ model: 'gpt-x', service_tier: 'ultrafast' }))
    expect((await last()).quota).toBe(333)
  })

  it('multiplies a price per call, but not searches or tools', async () => {
    const { url } = await vendor(chatReply({ service_tier: 'priority' }))
    const { ask, set, last } = await scene('sqlite', url)
    await set('ModelPrice', { 'gpt-5': 0.02 })
    await ask(chat({ service_tier: 'priority', web_search_options: {} }))
    expect(await last()).toMatchObject({ quota: 2 * 10_000 + 5000, other: { searches: 1, tier_factor: 2 } })
  })
})

const response = (more: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-5',
  output: [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'ok', annotations: [] }] }],
  usage: { input_tokens: 100, output_tokens: 11, total_tokens: 111 },
  ...more,
})

const responses = { models: Object.keys(prices).join(',') }

describe('a tier of Responses', () => {
  it.each([true, false])('is charged as served, streamed: %s', async (stream) => {
    const whole = response({ service_tier: 'priority' })
    const completed = { type: 'response.completed', sequence_number: 0, response: whole }
    const { url } = await vendor(() =>
      stream ? streamed([completed], '', true) : { type: 'application/json', text: JSON.stringify(whole) },
    )
    const { ask, last } = await sharedScene(url, responses)
    const { status } = await ask({ model: 'gpt-5', input: 'hi', service_tier: 'priority', stream }, '/v1/responses')
    expect(status).toBe(200)
    expect(await last()).toMatchObject({ quota: 222, other: { tier_factor: 2 } })
  })

  it('is sent to Chat only if it has a factor, and is charged as Chat reports it', async () => {
    const { url, asked } = await vendor(chatReply({ service_tier: 'priority' }))
    const { ask, last } = await sharedScene(url, { type: 40 })
    const { headers } = await ask({ model: 'gpt-5', input: 'hi', service_tier: 'ultrafast' }, '/v1/responses')
    expect(asked.at(-1)).not.toHaveProperty('service_tier')
    expect(headers.get('x-sluice-dropped')).toContain('service_tier')
    expect((await last()).quota).toBe(111)
    await ask({ model: 'gpt-5', input: 'hi', service_tier: 'priority' }, '/v1/responses')
    expect(asked.at(-1)).toMatchObject({ service_tier: 'priority' })
    expect((await last()).quota).toBe(222)
  })
})

const message = (usage: object = {}, more: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-6',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 100, output_tokens: 11, ...usage },
  ...more,
})
const messages = (more: object = {}) => ({
  model: 'claude-opus-4-6',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
})

describe('tiers of Messages', () => {
  it.each([
    [{ speed: 'fast' }, { speed: 'fast', service_tier: 'standard' }, 666],
    [{ speed: 'fast' }, { speed: 'standard' }, 111],
    [{ speed: 'fast' }, { service_tier: 'standard' }, 666],
    [{ inference_geo: 'us' }, { inference_geo: 'us' }, 123],
    [{ speed: 'fast', inference_geo: 'us' }, { speed: 'fast', inference_geo: 'us' }, 733],
    [{ speed: 'fast', inference_geo: 'us' }, { speed: 'standard', inference_geo: 'us' }, 123],
    [{ service_tier: 'auto' }, { service_tier: 'priority' }, 111],
    [{}, { speed: 'fast', inference_geo: 'us' }, 111],
  ])('requested as %j and served as %j are charged member by member', async (asked, served, quota) => {
    const { url } = await vendor(message(served))
    const { ask, last } = await sharedScene(url, { type: 14 })
    expect((await ask(messages(asked), '/v1/messages')).status).toBe(200)
    expect((await last()).quota).toBe(quota)
  })

  it('are read from the beginning and the end of a stream', async () => {
    const { url } = await vendor(() =>
      streamed(
        [
          { type: 'message_start', message: message({ output_tokens: 1, speed: 'fast', inference_geo: 'us' }, { content: [] }) },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ok' } },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 11 } },
          { type: 'message_stop' },
        ],
        '',
        true,
      ),
    )
    const { ask, last } = await sharedScene(url, { type: 14 })
    await ask(messages({ stream: true, speed: 'fast', inference_geo: 'us' }), '/v1/messages')
    expect(await last()).toMatchObject({ quota: 733, other: { tier_factor: 6.6, tier_asked: 'fast us' } })
  })

  it('lose only the member without a factor', async () => {
    const { url, asked } = await vendor(message())
    const { ask, last } = await sharedScene(url, { type: 14 })
    const body = messages({ model: 'claude-haiku-4-5', speed: 'fast', inference_geo: 'us', service_tier: 'standard_only' })
    const { headers } = await ask(body, '/v1/messages')
    expect(headers.get('x-sluice-dropped')).toBe('speed')
    expect(asked[0]).toMatchObject({ inference_geo: 'us', service_tier: 'standard_only' })
    expect(asked[0]).not.toHaveProperty('speed')
    expect((await last()).quota).toBe(123)
  })
})

describe('a tier of Gemini', () => {
  const reply = (usage: object) => ({
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110, ...usage },
    modelVersion: 'gemini-2.5-pro',
  })
  const body = (more: object) => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }], ...more })

  it.each([
    [{ serviceTier: 'priority' }, { serviceTier: 'priority' }, 'generateContent', 198],
    [{ service_tier: 'PRIORITY' }, { trafficType: 'ON_DEMAND_PRIORITY' }, 'generateContent', 198],
    [{ serviceTier: 'priority' }, { trafficType: 'ON_DEMAND' }, 'generateContent', 110],
    [{ serviceTier: 'flex' }, { serviceTier: 'flex' }, 'generateContent', 55],
    [{ serviceTier: 'priority' }, { serviceTier: 'priority' }, 'streamGenerateContent?alt=sse', 198],
  ])('requested as %j and served as %j by %s is charged as served', async (asked, served, method, quota) => {
    const { url } = await vendor(() =>
      method.startsWith('stream') ? streamed([reply(served)]) : { type: 'application/json', text: JSON.stringify(reply(served)) },
    )
    const { ask, last } = await sharedScene(url, { type: 24 })
    const { status } = await ask(body(asked), `/v1beta/models/gemini-2.5-pro:${method}`)
    expect(status).toBe(200)
    expect((await last()).quota).toBe(quota)
  })

  it('is removed in either spelling when it has no factor', async () => {
    const { url, asked } = await vendor(reply({}))
    const { ask } = await sharedScene(url, { type: 24 })
    for (const name of ['serviceTier', 'service_tier']) {
      const { headers } = await ask(body({ [name]: 'deferred' }), '/v1beta/models/gemini-2.5-pro:generateContent')
      expect(headers.get('x-sluice-dropped')).toBe(name)
      expect(asked.at(-1)).not.toHaveProperty(name)
    }
  })
})

anyDatabase('a call with surcharges of its vendor', (_fresh, kind) => {
  it('is charged with its tier, its tools and its other models, and the books balance', async () => {
    const usage = {
      speed: 'fast',
      iterations: [
        { type: 'message', model: null, input_tokens: 100, output_tokens: 11 },
        { type: 'advisor_message', model: 'claude-haiku-4-5', input_tokens: 1000, output_tokens: 10 },
      ],
    }
    const { url } = await vendor(message(usage, { container: { id: 'container_1', expires_at: '2026-11-23T00:00:00Z' } }))
    const { ask, server, last } = await scene(kind, url, { type: 14 })
    const tools = [
      { type: 'advisor_20260301', name: 'advisor', model: 'claude-haiku-4-5' },
      { type: 'code_execution_20250825', name: 'code_execution' },
    ]
    expect((await ask(messages({ speed: 'fast', tools }), '/v1/messages')).status).toBe(200)
    const row = await last()
    expect(row).toMatchObject({
      quota: 111 * 6 + 1010 + 25_000,
      tokens: [100, 11],
      other: {
        tier_factor: 6,
        tool_calls: { code_execution: 1 },
        iterations: [{ model: 'claude-haiku-4-5', input_tokens: 1000 }],
      },
    })
    await requireBalancedBooks(server)
  })
})
