import { describe, expect, it } from 'vitest'
import { scene, sharedScenes, streamed, vendor } from './paid-stage.ts'

const sharedScene = sharedScenes()

const unitsOf = (usd: number) => usd * 500_000

describe('tools of Responses that are billed for each use', () => {
  const reply = (output: readonly object[], more: object = {}) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'gpt-5',
    output,
    usage: { input_tokens: 100, output_tokens: 11, total_tokens: 111 },
    ...more,
  })
  const request = (...tools: object[]) => ({ model: 'gpt-5', input: 'hi', tools })
  const code = (container_id: string) => ({ type: 'code_interpreter_call', id: container_id, container_id, status: 'completed' })
  const picture = (quality: string) => ({ type: 'image_generation_call', id: 'ig', status: 'completed', quality, result: 'AA' })

  it.each([
    [[{ type: 'file_search', vector_store_ids: ['v'] }], [{ type: 'file_search_call' }, { type: 'file_search_call' }], 0.005],
    [[{ type: 'code_interpreter', container: { type: 'auto' } }], [code('a'), code('a'), code('b')], 0.06],
    [[{ type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } }], [code('a')], 0.12],
    [[{ type: 'code_interpreter', container: { type: 'auto' } }], [], 0],
    [
      [{ type: 'shell', environment: { type: 'container_auto' } }],
      [{ type: 'shell_call', environment: { type: 'container_reference', container_id: 'c' } }],
      0.03,
    ],
    [[{ type: 'shell', environment: { type: 'local' } }], [{ type: 'shell_call', environment: { type: 'local' } }], 0],
    [[{ type: 'web_search' }], [{ type: 'web_search_call', action: { type: 'search' } }], 0.01],
    [[{ type: 'web_search_preview_2025_03_11' }], [{ type: 'web_search_call', action: { type: 'search' } }], 0.01],
    [[{ type: 'image_generation' }], [picture('low'), picture('medium'), picture('auto')], 0.016 + 0.063 + 0.25],
    [[{ type: 'image_generation' }], [picture('xhigh')], 0.25],
    [
      [
        { type: 'function', name: 'file_search', parameters: {} },
        { type: 'mcp', server_label: 'm' },
      ],
      [],
      0,
    ],
  ])('%j with %j cost their price in addition to the tokens', async (tools, output, usd) => {
    const { url } = await vendor(reply(output))
    const { ask, last } = await sharedScene(url)
    const { status, text } = await ask(request(...tools), '/v1/responses')
    expect(status, text).toBe(200)
    expect((await last()).quota).toBe(111 + Math.ceil(unitsOf(usd)))
  })

  it("charge an image tool's text, image and cached input separately, and its SVG output", async () => {
    const drawing = {
      ...{ input_tokens: 1000, input_tokens_details: { image_tokens: 600, text_tokens: 400 } },
      ...{ cached_tokens: 300, cached_tokens_details: { cached_image_tokens: 200, cached_text_tokens: 100 } },
      ...{ output_tokens: 4000, output_tokens_details: { image_tokens: 3900, text_tokens: 100 } },
    }
    const svg_usage = { model: 'gpt-svg', input_tokens: 50, output_tokens: 70, reasoning_tokens: 20, total_tokens: 120 }
    const { url } = await vendor(reply([{ ...picture('high'), svg_usage }], { tool_usage: { image_gen: drawing } }))
    const { ask, set, last } = await scene('sqlite', url)
    await set('ToolPrice', { image_generation: 0 })
    await set('CacheRatio', { 'gpt-5': 0.5 })
    await set('ImageRatio', { 'gpt-5': 2 })
    await set('ImageCacheRatio', { 'gpt-5': 0.7 })
    await set('ImageCompletionRatio', { 'gpt-5': 3 })
    await ask(request({ type: 'image_generation' }), '/v1/responses')
    const input = 100 + 300 + 50
    const output = 11 + 100 + 70
    expect(await last()).toMatchObject({
      quota: input + 100 * 0.5 + 200 * 0.7 + 400 * 2 + output + 3900 * 3,
      other: {
        ...{ input_tokens: input, cache_tokens: 100, cached_image: 200, image_cache_ratio: 0.7, image_input: 400 },
        ...{ output_tokens: output, image_output: 3900 },
      },
    })
  })

  it('charge an image by its price or by its tokens, not by both', async () => {
    const drawing = { image_gen: { input_tokens: 20, output_tokens: 4000, input_tokens_details: { image_tokens: 0 } } }
    const { url } = await vendor(reply([picture('high')], { tool_usage: drawing }))
    const { ask, set, last } = await scene('sqlite', url)
    await ask(request({ type: 'image_generation' }), '/v1/responses')
    expect((await last()).quota).toBe(131 + unitsOf(0.25))
    await set('ToolPrice', { image_generation: 0 })
    await ask(request({ type: 'image_generation' }), '/v1/responses')
    expect((await last()).quota).toBe(131 + 4000)
  })

  it('are charged for a stream that ends before its usage', async () => {
    const made = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item })
    const searched = { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search' } }
    const events = [
      { type: 'response.created', response: { ...reply([]), status: 'in_progress' } },
      made(0, picture('medium')),
      made(1, searched),
      made(2, code('a')),
      made(3, code('a')),
      { type: 'response.output_text.delta', item_id: 'm', output_index: 4, content_index: 0, delta: 'ok' },
    ]
    const { url } = await vendor(() => streamed(events, '', true))
    const { ask, last } = await sharedScene(url)
    const tools = [
      { type: 'image_generation' },
      { type: 'web_search' },
      { type: 'code_interpreter', container: { type: 'auto' } },
    ]
    await ask({ ...request(...tools), stream: true }, '/v1/responses')
    const { quota, tokens, other } = await last()
    expect(other).toMatchObject({
      interrupted: 'upstream',
      searches: 1,
      tool_calls: { image_generation_medium: 1, code_interpreter: 1 },
    })
    expect(quota).toBe(Number(tokens[0]) + Number(tokens[1]) + unitsOf(0.063 + 0.01 + 0.03))
  })

  it('are refused by name when they have no price, with the setting that allows them', async () => {
    const { url, asked } = await vendor(reply([]))
    const { ask, set } = await scene('sqlite', url)
    await set('ToolPrice', { telescope: 0 })
    const refused = await ask(request({ type: 'file_search' }), '/v1/responses')
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('file_search')
    expect(refused.text).toContain('ToolPrice')
    expect(asked).toEqual([])
    const hidden = { model: 'gpt-5', input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'microscope' }] }] }
    expect((await ask(hidden, '/v1/responses')).text).toContain('microscope')
    expect((await ask(request({ type: 'telescope' }), '/v1/responses')).status).toBe(200)
  })
})

describe('tools of Messages that are billed for each use', () => {
  const reply = (usage: object = {}, more: object = {}) => ({
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
  const request = (tools: readonly object[], more: object = {}) => ({
    model: 'claude-opus-4-6',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hi '.repeat(400) }],
    tools,
    ...more,
  })
  const container = { container: { id: 'container_1', expires_at: '2026-11-23T00:00:00Z' } }
  const runs = { type: 'code_execution_20250825', name: 'code_execution' }

  it.each([
    [[{ type: 'web_search_20250305', name: 'web_search' }], { server_tool_use: { web_search_requests: 3 } }, {}, 0.03],
    [[{ type: 'web_fetch_20250910', name: 'web_fetch' }], { server_tool_use: { web_fetch_requests: 3 } }, {}, 0],
    [[runs], {}, container, 0.05],
    [[runs], {}, {}, 0],
    [[runs, { type: 'web_fetch_20260209', name: 'web_fetch' }], {}, container, 0],
    [
      [
        { type: 'bash_20250124', name: 'bash' },
        { name: 'code_execution', input_schema: { type: 'object' } },
      ],
      {},
      {},
      0,
    ],
  ])('%j cost their price in addition to the tokens', async (tools, usage, more, usd) => {
    const { url } = await vendor(reply(usage, more))
    const { ask, last } = await sharedScene(url, { type: 14 })
    expect((await ask(request(tools), '/v1/messages')).status).toBe(200)
    expect((await last()).quota).toBe(111 + unitsOf(usd))
  })

  it('are charged for a stream that ends before its usage', async () => {
    const use = (index: number, id: string, name: string) => ({
      ...{ type: 'content_block_start', index, content_block: { type: 'server_tool_use', id, name, input: {} } },
    })
    const events = [
      { type: 'message_start', message: reply({ output_tokens: 1 }, { content: [] }) },
      use(0, 'srvtoolu_1', 'web_search'),
      use(1, 'srvtoolu_2', 'web_search'),
      use(2, 'srvtoolu_3', 'bash_code_execution'),
      { type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'ok' } },
    ]
    const { url } = await vendor(() => streamed(events, '', true))
    const { ask, last } = await sharedScene(url, { type: 14 })
    await ask(request([runs, { type: 'web_search_20250305', name: 'web_search' }], { stream: true }), '/v1/messages')
    const { quota, tokens, other } = await last()
    expect(other).toMatchObject({ interrupted: 'upstream', searches: 2, tool_calls: { code_execution: 1 } })
    expect(quota).toBe(Number(tokens[0]) + Number(tokens[1]) + unitsOf(0.02 + 0.05))
  })

  it('are refused by name without a price, as are other models without one, in the form of the dialect', async () => {
    const { url, asked } = await vendor(reply())
    const { ask } = await sharedScene(url, { type: 14 })
    const unknown = await ask(request([{ type: 'telescope_20270101', name: 'telescope' }]), '/v1/messages')
    expect([unknown.status, JSON.parse(unknown.text)]).toMatchObject([
      400,
      { type: 'error', error: { type: 'invalid_request_error' } },
    ])
    expect(unknown.text).toContain('telescope')
    const adviser = await ask(request([{ type: 'advisor_20260301', name: 'advisor', model: 'claude-unknown' }]), '/v1/messages')
    expect([adviser.status, adviser.text]).toEqual([400, expect.stringContaining('claude-unknown')])
    const helper = await ask(request([], { fallbacks: [{ model: 'claude-unknown' }] }), '/v1/messages')
    expect([helper.status, helper.text]).toEqual([400, expect.stringContaining('claude-unknown')])
    expect(asked).toEqual([])
  })

  it('count a compaction by the same model as tokens of the call, and charge a fallback model at its own price', async () => {
    const part = (type: string, model: string | null, input_tokens: number, output_tokens: number) => ({
      ...{ type, model, input_tokens, output_tokens },
    })
    const compacted = [part('compaction', null, 500, 50), part('message', null, 100, 11)]
    const stepped = [part('message', 'claude-opus-4-6', 100, 0), part('fallback_message', 'claude-haiku-4-5-20251001', 100, 11)]
    let usage: object = { iterations: compacted }
    const { url } = await vendor(() => ({ type: 'application/json', text: JSON.stringify(reply(usage)) }))
    const { ask, set, last } = await scene('sqlite', url, { type: 14 })
    await set('ModelRatio', { 'claude-opus-4-6': 1, 'claude-haiku-4-5': 0.1 })
    await ask(request([]), '/v1/messages')
    expect(await last()).toMatchObject({ quota: 661, tokens: [600, 61] })
    usage = { iterations: stepped }
    await ask(request([], { fallbacks: [{ model: 'claude-haiku-4-5' }] }), '/v1/messages')
    expect(await last()).toMatchObject({
      quota: 100 + 12,
      tokens: [100, 0],
      other: { iterations: [{ model: 'claude-haiku-4-5' }] },
    })
  })
})

describe('audio that tools of Gemini read', () => {
  it('is charged as audio, for callers of other protocols too', async () => {
    const usageMetadata = {
      ...{ promptTokenCount: 100, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 100 }] },
      ...{ toolUsePromptTokenCount: 40, toolUsePromptTokensDetails: [{ modality: 'AUDIO', tokenCount: 40 }] },
      ...{ candidatesTokenCount: 11, totalTokenCount: 151 },
    }
    const candidates = [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }]
    const { url } = await vendor({ candidates, usageMetadata, modelVersion: 'gemini-2.5-pro' })
    const { ask, set, last } = await scene('sqlite', url, { type: 24 })
    await set('AudioRatio', { 'gemini-2.5-pro': 3 })
    await ask({ model: 'gemini-2.5-pro', messages: [{ role: 'user', content: 'hi' }] }, '/v1/chat/completions')
    expect(await last()).toMatchObject({ quota: 100 + 40 * 3 + 11, other: { input_tokens: 100, audio_input: 40 } })
  })
})

describe('tools of Gemini that are billed for each use', () => {
  const reply = (grounding: object) => ({
    candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP', groundingMetadata: grounding }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 11, totalTokenCount: 111 },
    modelVersion: 'gemini-2.5-pro',
  })

  it.each([
    [[{ googleSearch: {} }], { webSearchQueries: ['a', 'b'] }, 0.035],
    [[{ google_maps: {} }], { groundingChunks: [{ maps: { uri: 'https://maps.example' } }] }, 0.025],
    [[{ googleSearch: { searchTypes: { imageSearch: {} } } }], { imageSearchQueries: ['a', 'b'] }, 0.028],
    [[{ enterpriseWebSearch: {} }], { webSearchQueries: ['a'] }, 0.045],
    [[{ codeExecution: {} }, { urlContext: {} }, { functionDeclarations: [] }], {}, 0],
  ])('%j with %j cost their price in addition to the tokens', async (tools, grounding, usd) => {
    const { url } = await vendor(reply(grounding))
    const { ask, last } = await sharedScene(url, { type: 24 })
    const body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], tools }
    expect((await ask(body, '/v1beta/models/gemini-2.5-pro:generateContent')).status).toBe(200)
    expect((await last()).quota).toBe(111 + unitsOf(usd))
  })

  it('are refused by name when they have no price', async () => {
    const { url, asked } = await vendor(reply({}))
    const { ask } = await sharedScene(url, { type: 24 })
    const body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], tools: [{ parallelAiSearch: {} }] }
    const { status, text } = await ask(body, '/v1beta/models/gemini-2.5-pro:generateContent')
    expect([status, text]).toEqual([400, expect.stringContaining('parallel_ai_search')])
    expect(asked).toEqual([])
  })
})

describe('tools of Chat that are billed for each use', () => {
  const reply = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-5',
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 11, total_tokens: 111 },
  }

  it.each([
    ['gpt-4o-search-preview', {}, 0.025],
    ['gpt-5-search-api', {}, 0.01],
    ['gpt-5', { web_search_options: {} }, 0.01],
    ['gpt-5', { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }, 0.005],
    ['gpt-5', { tools: [{ type: 'function', function: { name: 'web_search' } }] }, 0],
  ])('%s with %j costs a search for each request, which replies of Chat do not count', async (model, more, usd) => {
    const { url } = await vendor({ ...reply, model })
    const models = 'gpt-5,gpt-4o-search-preview,gpt-5-search-api'
    const { ask, set, last } = await scene('sqlite', url, { models })
    await set('ModelRatio', Object.fromEntries(models.split(',').map((name) => [name, 1])))
    await set('CompletionRatio', Object.fromEntries(models.split(',').map((name) => [name, 1])))
    expect((await ask({ model, messages: [{ role: 'user', content: 'hi' }], ...more })).status).toBe(200)
    expect((await last()).quota).toBe(111 + unitsOf(usd))
  })

  it('are charged for a search that was requested in Responses and sent to a model of Chat', async () => {
    const { url } = await vendor({ ...reply, model: 'gpt-4o-search-preview' })
    const { ask, set, last } = await scene('sqlite', url, { type: 40, models: 'gpt-4o-search-preview' })
    await set('ModelRatio', { 'gpt-4o-search-preview': 1 })
    await set('CompletionRatio', { 'gpt-4o-search-preview': 1 })
    const body = { model: 'gpt-4o-search-preview', input: 'hi', tools: [{ type: 'web_search' }] }
    const { status, text } = await ask(body, '/v1/responses')
    expect(status, text).toBe(200)
    expect((await last()).quota).toBe(111 + unitsOf(0.01))
  })
})
