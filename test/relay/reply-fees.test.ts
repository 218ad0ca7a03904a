import { describe, expect, it } from 'vitest'
import { sharedScenes, streamed, vendor } from './paid-stage.ts'

/**
 * Fees by request and by piece that only the reply tells, by https://docs.perplexity.ai/docs/getting-started/pricing and
 * https://docs.x.ai/developers/pricing, read 2026-11. Each token costs one unit here.
 */
const sharedScene = sharedScenes({
  sonar: 1,
  'sonar-pro': 1,
  'sonar-deep-research': 1,
  'grok-4.7': 1,
  qwen: 1,
  'gpt-6.1-sol': 1,
  'gpt-image-2.6': 1,
})

const unitsOf = (usd: number) => usd * 500_000
const counts = { prompt_tokens: 20, completion_tokens: 80, total_tokens: 100 }
const research = { ...counts, citation_tokens: 10_000, num_search_queries: 20, reasoning_tokens: 90_000 }
const xaiTools = { web_search_calls: 3, x_search_calls: 2, code_interpreter_calls: 0, file_search_calls: 0 }

const chats: readonly (readonly [what: string, model: string, more: object, usage: object, tokens: number, usd: number])[] = [
  ['the request of Sonar', 'sonar', {}, { ...counts, search_context_size: 'low' }, 100, 0.005],
  [
    'a wider search of Sonar',
    'sonar',
    { web_search_options: { search_context_size: 'high' } },
    { ...counts, search_context_size: 'high' },
    100,
    0.012,
  ],
  ['the request of Sonar Pro', 'sonar-pro', {}, { ...counts, search_context_size: 'medium' }, 100, 0.01],
  [
    'Pro Search, which the cost tells',
    'sonar-pro',
    { web_search_options: { search_type: 'auto' } },
    { ...counts, search_context_size: 'low', cost: { request_cost: 0.014 } },
    100,
    0.014,
  ],
  [
    'Pro Search that was not used',
    'sonar-pro',
    { web_search_options: { search_type: 'auto' } },
    { ...counts, search_context_size: 'low', cost: { request_cost: 0.006 } },
    100,
    0.006,
  ],
  ['citations, searches and reasoning of deep research', 'sonar-deep-research', {}, research, 100, 0.02 + 0.1 + 0.27],
  [
    'pieces without a price of other models',
    'sonar',
    {},
    { ...counts, search_context_size: 'low', num_search_queries: 2 },
    100,
    0.005,
  ],
  [
    'searches of Alibaba',
    'qwen',
    { enable_search: true },
    { ...counts, plugins: { search: { count: 2, strategy: 'turbo' } } },
    100,
    0.02,
  ],
  [
    'tools of xAI',
    'grok-4.7',
    { tools: [{ type: 'web_search' }] },
    { ...counts, server_side_tool_usage_details: xaiTools },
    100,
    0.025,
  ],
]

describe.each(chats)('a reply of Chat with %s', (_what, model, more, usage, tokens, usd) => {
  const request = { model, messages: [{ role: 'user', content: 'hi' }], ...more }
  const choice = { index: 0, finish_reason: 'stop' }
  const whole = { choices: [{ ...choice, message: { role: 'assistant', content: 'hi' } }], usage }
  const events = [
    { choices: [{ ...choice, finish_reason: null, delta: { content: 'h' } }], usage },
    { choices: [{ ...choice, delta: { content: 'i' } }], usage },
  ]

  it('costs its fees, whole and streamed, native and translated, within what was held', async () => {
    for (const stream of [false, true]) {
      const { url } = await vendor(stream ? () => streamed(events, 'data: [DONE]\n\n') : whole)
      const { ask, last } = await sharedScene(url)
      const { status, text } = await ask({ ...request, stream })
      expect(status, text).toBe(200)
      const { quota, other } = await last()
      expect([stream, quota]).toEqual([stream, tokens + unitsOf(usd)])
      expect(other.above_hold).toBeUndefined()
      expect(other.held).toBeGreaterThanOrEqual(quota ?? 0)
    }
    if ('web_search_options' in more || 'tools' in more || 'enable_search' in more) return
    const { url } = await vendor(whole)
    const { ask, last } = await sharedScene(url)
    const { status, text } = await ask({ model, max_tokens: 500, messages: request.messages }, '/v1/messages')
    expect(status, text).toBe(200)
    expect((await last()).quota).toBe(tokens + unitsOf(usd))
  })
})

describe('fees of Responses', () => {
  const reply = (usage: object, more: object = {}) => ({
    ...{ id: 'r', object: 'response', created_at: 1, status: 'completed', model: 'grok-4.7', output: [] },
    usage: { input_tokens: 20, output_tokens: 80, total_tokens: 100, ...usage },
    ...more,
  })

  it("are counted by the vendor's own numbers, each at its price", async () => {
    const { url } = await vendor(reply({ server_side_tool_usage_details: xaiTools }))
    const { ask, last } = await sharedScene(url)
    const tools = [{ type: 'web_search' }, { type: 'x_search' }]
    expect((await ask({ model: 'grok-4.7', input: 'hi', tools }, '/v1/responses')).status).toBe(200)
    expect(await last()).toMatchObject({ quota: 100 + unitsOf(0.025), other: { searches: 3, tool_calls: { x_search: 2 } } })
  })

  it('windows of responses in the background cost 30 and 40 % less, only where they apply', async () => {
    const { url } = await vendor(reply({}, { model: 'gpt-6.1-sol' }))
    const { ask, last } = await sharedScene(url)
    const charge = async (more: object) => {
      const { status, text } = await ask({ model: 'gpt-6.1-sol', input: 'hi', ...more }, '/v1/responses')
      expect(status, text).toBe(200)
      return last()
    }
    const window = (completion_window: string) => ({ background: true, background_options: { completion_window } })
    expect(await charge(window('2h'))).toMatchObject({ quota: 70, other: { tier_asked: 'background_2h', tier_factor: 0.7 } })
    expect(await charge(window('8h'))).toMatchObject({ quota: 60, other: { tier_asked: 'background_8h', tier_factor: 0.6 } })
    expect((await charge(window('soonest'))).quota).toBe(100)
    expect((await charge({ ...window('2h'), background: false })).quota).toBe(100)
  })
})

it('the author of an SVG is charged beside its picture', async () => {
  const usage = {
    input_tokens: 10,
    output_tokens: 40,
    total_tokens: 50,
    input_tokens_details: { image_tokens: 0, text_tokens: 10 },
  }
  const svg_usage = { model: 'gpt-svg', input_tokens: 500, output_tokens: 700, reasoning_tokens: 200, total_tokens: 1200 }
  const { url } = await vendor({ created: 1, data: [{ b64_json: 'AA' }], usage, svg_usage })
  const { ask, last } = await sharedScene(url)
  const { status, text } = await ask({ model: 'gpt-image-2.6', prompt: 'a cat', output_format: 'svg' }, '/v1/images/generations')
  expect(status, text).toBe(200)
  const { quota, other } = await last()
  expect(quota).toBe(50 + 1200)
  expect(other.usage_implausible).toBeUndefined()
})
