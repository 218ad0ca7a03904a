import { describe, expect, it } from 'vitest'
import { addToken, books, setOptions } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, ask, chat, claude, completion, model, stage } from './stage.ts'

type Data = Record<string, unknown>

/** On this server models need no price. */
const sharedStage = sharedStages('sqlite', { SelfUseModeEnabled: true })

/** An upstream with a constant reply, and the requests it received. */
async function upstream(reply: string) {
  const sent: Data[] = []
  const { url } = await answeringUpstream(({ body }) => {
    sent.push(body)
    return reply
  })
  return { url, sent }
}

describe('a history that ends in a turn of the model', () => {
  const opus = 'claude-opus-4-6'
  const reply = JSON.stringify({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: opus, stop_reason: 'end_turn', stop_sequence: null },
    content: [{ type: 'text', text: 'high.' }],
    usage: { input_tokens: 20, output_tokens: 5 },
  })
  const question = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Tide?' }] }
  const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'I look it up.' }] }
  const part = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is' }] }

  it.each([false, true])('is followed by a request to continue, which is named (streamed: %s)', async (stream) => {
    const { url, sent } = await upstream(reply)
    const { server, token } = await sharedStage(url, { type: 14, models: opus })
    const again = { model: opus, input: [question, thought, part], stream }
    const answer = await ask(server, token.key, again, '/v1/responses')
    expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, 'input.last'])
    expect(sent[0]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ text: 'It is' }] },
      { role: 'user', content: [{ text: 'Continue.' }] },
    ])
    const strict = await addToken(server, { strict_translation: true })
    const refused = await ask(server, strict.key, again, '/v1/responses')
    expect([refused.status, sent.length]).toEqual([400, 1])
    expect(refused.text).toContain('input.last')
  })

  it('is answered without its reasoning when it has nothing else', async () => {
    const { url, sent } = await upstream(reply)
    const { server, token } = await sharedStage(url, { type: 14, models: opus })
    const answer = await ask(server, token.key, { model: opus, input: [question, thought] }, '/v1/responses')
    expect([answer.status, sent[0]?.messages]).toMatchObject([200, [{ role: 'user', content: [{ text: 'Tide?' }] }]])
  })
})

describe('an output limit that is raised', () => {
  const opus = 'claude-opus-4-5'
  const message = (output_tokens: number) =>
    JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: opus,
      content: [{ type: 'text', text: 'Rye.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 20, output_tokens },
    })

  it.each([
    ['/v1/responses', 'max_output_tokens', { input: 'Hi', max_output_tokens: 128, reasoning: { effort: 'minimal' } }],
    ['/v1/chat/completions', 'max_tokens', { messages: chat().messages, max_tokens: 128, reasoning_effort: 'minimal' }],
  ])('for thinking is named, held and charged as it was sent: %s', async (path, member, body) => {
    const { url, sent } = await upstream(message(1500))
    const { server, token } = await sharedStage(url, { type: 14, models: opus })
    const answer = await ask(server, token.key, { model: opus, ...body }, path)
    expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, member])
    expect(sent[0]).toMatchObject({ max_tokens: 2048 })
    const [row] = (await books(server)).logs
    const { usage_implausible, above_hold, dropped, held } = JSON.parse(row?.other ?? '{}')
    expect(row?.completion_tokens).toBe(1500)
    expect({ usage_implausible, above_hold, dropped }).toEqual({
      usage_implausible: undefined,
      above_hold: undefined,
      dropped: [member],
    })
    expect(held).toBeGreaterThanOrEqual(row?.quota ?? 0)

    const strict = await addToken(server, { strict_translation: true })
    const refused = await ask(server, strict.key, { model: opus, ...body }, path)
    expect([refused.status, sent.length]).toEqual([400, 1])
    expect(refused.text).toContain(member)
  })

  it('to the least that the vendor accepts is named, held and charged as it was sent', async () => {
    const text = [{ type: 'output_text', text: 'Rye.', annotations: [] }]
    const output = [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: text }]
    const usage = { input_tokens: 20, output_tokens: 14, total_tokens: 34 }
    const reply = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'gpt-5-pro', output, usage }
    const { url, sent } = await upstream(JSON.stringify(reply))
    const { server, token } = await sharedStage(url, { models: 'gpt-5-pro' })
    const answer = await ask(server, token.key, chat({ model: 'gpt-5-pro', max_completion_tokens: 5 }))
    expect([answer.status, sent[0]?.max_output_tokens]).toEqual([200, 16])
    expect(answer.headers.get('x-sluice-dropped')).toContain('max_tokens')
    const [row] = (await books(server)).logs
    expect(row?.completion_tokens).toBe(14)
  })
})

describe('members dropped for a channel of the same protocol', () => {
  it.each<[type: number, name: string, more: Data, dropped: string]>([
    [1, 'gpt-5', { temperature: 0.2 }, 'temperature'],
    [1, 'gpt-4o', { reasoning_effort: 'high' }, 'reasoning_effort'],
    [42, 'mistral-large-latest', { logit_bias: { 5: 1 } }, 'logit_bias'],
  ])(
    'are named in header and log row, for type %i and %s with %j; a strict token is refused',
    async (type, name, more, dropped) => {
      const { url, sent } = await upstream(completion({ model: name }))
      const { server, token } = await sharedStage(url, { type, models: name })
      const body = chat({ model: name, ...more })
      const answer = await ask(server, token.key, body)
      expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, dropped])
      expect(sent[0]).not.toHaveProperty(dropped)
      const other = JSON.parse((await books(server)).logs[0]?.other ?? '{}')
      expect(other).toMatchObject({ dropped: [dropped] })
      expect(other).not.toHaveProperty('reasoning_effort')

      const strict = await addToken(server, { strict_translation: true })
      const refused = await ask(server, strict.key, body)
      expect([refused.status, sent.length]).toEqual([400, 1])
      expect(refused.text).toContain(dropped)
      const plain = await ask(server, strict.key, chat({ model: name, tools: [], presence_penalty: 0, max_tokens: 50 }))
      expect([plain.status, plain.headers.get('x-sluice-dropped')]).toEqual([200, null])
    },
  )

  it('are not charged: a search that was left out costs nothing', async () => {
    const large = 'mistral-large-latest'
    const { url, sent } = await upstream(completion({ model: large }))
    const { token, server, charged } = await sharedStage(url, { type: 42, models: large })
    const plain = await ask(server, token.key, chat({ model: large }))
    const answer = await ask(server, token.key, chat({ model: large, web_search_options: {} }))
    expect([plain.status, answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, 200, 'web_search_options'])
    expect(sent[1]).not.toHaveProperty('web_search_options')
    const [one, other] = await charged()
    expect(one).toBeGreaterThan(0)
    expect(other).toBe(one)
  })

  it('are not charged where they go on the way to another protocol', async () => {
    const large = 'mistral-large-latest'
    const { url, sent } = await upstream(completion({ model: large }))
    const { token, server, charged } = await sharedStage(url, { type: 42, models: large })
    const tools = [{ type: 'function', name: 'tide', parameters: { type: 'object' } }]
    const plain = await ask(server, token.key, { model: large, input: 'Hi', tools }, '/v1/responses')
    const asked = { model: large, input: 'Hi', tools: [...tools, { type: 'web_search' }] }
    const answer = await ask(server, token.key, asked, '/v1/responses')
    expect([plain.status, answer.status]).toEqual([200, 200])
    expect(answer.headers.get('x-sluice-dropped')).toContain('web_search')
    expect(sent[1]).not.toHaveProperty('web_search_options')
    const [one, other] = await charged()
    expect(other).toBe(one)
  })

  it('are charged where an override of the channel adds them', async () => {
    const { url, sent } = await upstream(completion())
    const setting = JSON.stringify({ param_override: [{ set: 'web_search_options', to: {} }] })
    const { token, server, charged } = await sharedStage(url, { setting })
    await ask(server, token.key, chat())
    expect(sent[0]).toHaveProperty('web_search_options')
    expect((await charged())[0]).toBeGreaterThan(1000)
  })

  it('are not charged: a tier that was left out costs nothing extra', async () => {
    const gemini = 'gemini-2.0-flash'
    const reply = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Rye.' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 11, totalTokenCount: 111 },
    }
    const { url } = await upstream(JSON.stringify(reply))
    const { server, ask: call } = await stage('sqlite', url, { channel: { type: 24, models: gemini } })
    await setOptions(server, { ModelRatio: { [gemini]: 1 }, CompletionRatio: { [gemini]: 1 }, TierFactor: { priority: 2 } })
    const answer = await call(chat({ model: gemini, service_tier: 'priority' }))
    expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, 'service_tier'])
    const [row] = (await books(server)).logs
    expect(row?.quota).toBe(111)
    expect(JSON.parse(row?.other ?? '{}')).not.toHaveProperty('tier_asked')
  })
})

describe('members of embeddings and images dropped for a channel', () => {
  const vectors = JSON.stringify({
    ...{ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }], model: 'mistral-embed' },
    usage: { prompt_tokens: 3, total_tokens: 3 },
  })
  const picture = JSON.stringify({
    ...{ created: 1, data: [{ b64_json: 'AAAA' }] },
    usage: { input_tokens: 10, output_tokens: 20, total_tokens: 30 },
  })
  const drawing = { model: 'gpt-image-1', prompt: 'a lock' }
  const grok = { model: 'grok-2-image', prompt: 'a lock' }
  const [embeddings, generations, edits] = ['/v1/embeddings', '/v1/images/generations', '/v1/images/edits']
  const embedding = { model: 'mistral-embed', input: 'a', encoding_format: 'float' }
  const form = (body: Data) => {
    const data = new FormData()
    for (const [name, value] of Object.entries(body)) data.append(name, String(value))
    data.append('image', new Blob(['a'], { type: 'image/png' }), 'a.png')
    return data
  }

  it.each<[type: number, path: string, body: Data, dropped: string | null]>([
    [42, embeddings, { ...embedding, user: 'u' }, 'user'],
    [42, embeddings, { ...embedding, dimensions: 2 }, null],
    [1, generations, { ...drawing, response_format: 'url' }, 'response_format'],
    [1, generations, { ...drawing, response_format: 'b64_json' }, null],
    [1, edits, { ...drawing, response_format: 'url' }, 'response_format'],
    [1, edits, { ...drawing, response_format: 'b64_json' }, null],
    [48, generations, { ...grok, size: '1024x700', style: 'vivid', quality: 'auto' }, 'size, style'],
    [48, generations, { ...grok, size: '1024x1024', quality: 'standard' }, null],
  ])('are named, for type %i at %s with %j: %s; a strict token is refused', async (type, path, body, dropped) => {
    const { url, heard } = await answeringUpstream(path === embeddings ? vectors : picture)
    const name = String(body.model)
    const { server, token } = await sharedStage(url, { type, models: name })
    const send = async (key: string) => {
      if (path !== edits) return ask(server, key, body, path)
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(server.url + path, { method: 'POST', headers, body: form(body) })
      return { status: response.status, headers: response.headers, text: await response.text() }
    }
    const answer = await send(token.key)
    expect([answer.status, answer.headers.get('x-sluice-dropped')], answer.text).toEqual([200, dropped])
    const other = JSON.parse((await books(server)).logs[0]?.other ?? '{}')
    expect(other.dropped?.join(', ') ?? null).toBe(dropped)

    const strict = await addToken(server, { strict_translation: true })
    const refused = await send(strict.key)
    expect([refused.status, heard.length]).toEqual(dropped === null ? [200, 2] : [400, 1])
    if (dropped !== null) expect(refused.text).toContain(dropped)
  })
})

describe('members of the history dropped for a channel', () => {
  const history = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Rye.', reasoning_content: 'Hm.', refusal: null },
    { role: 'user', content: 'And?' },
  ]

  it.each([
    ['reasoning', 40, 'deepseek-ai/DeepSeek-R1', 'messages.reasoning_content'],
    ['members that it does not know', 42, 'mistral-large-latest', 'messages.reasoning_content'],
    ['nothing', 40, 'Qwen/Qwen3-8B', null],
  ])('are named: %s, for a channel of type %i; a strict token is refused', async (_what, type, name, dropped) => {
    const { url, sent } = await upstream(completion({ model: name }))
    const { server, token } = await sharedStage(url, { type, models: name })
    const body = chat({ model: name, messages: history, seed: 7 })
    const answer = await ask(server, token.key, body)
    expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, dropped])
    expect(JSON.stringify(sent[0]).includes('Hm.')).toBe(dropped === null)
    const other = JSON.parse((await books(server)).logs[0]?.other ?? '{}')
    expect(other.dropped?.join(', ') ?? null).toBe(dropped)
    const strict = await addToken(server, { strict_translation: true })
    expect((await ask(server, strict.key, body)).status).toBe(dropped === null ? 200 : 400)
    expect((await ask(server, strict.key, chat({ model: name, messages: history.slice(0, 1), seed: 7 }))).status).toBe(200)
  })
})

describe('members that a channel of another protocol lacks', () => {
  const tool = (name: string, more: Data) => ({
    type: 'function',
    function: { name, parameters: { type: 'object', properties: {} }, ...more },
  })

  it('include the strict flag of some of the tools, because Cohere has one switch for all', async () => {
    const reply = {
      id: 'c',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Rye.' }] },
    }
    const usage = { billed_units: { input_tokens: 5, output_tokens: 3 }, tokens: { input_tokens: 5, output_tokens: 3 } }
    const { url, sent } = await upstream(JSON.stringify({ ...reply, usage }))
    const name = 'command-r-plus'
    const { ask: call } = await sharedStage(url, { type: 34, models: name })
    const some = await call(chat({ model: name, tools: [tool('a', { strict: true }), tool('b', {})] }))
    expect([some.status, some.headers.get('x-sluice-dropped')]).toEqual([200, 'strict'])
    const all = await call(chat({ model: name, tools: [tool('a', { strict: true })] }))
    expect([all.status, all.headers.get('x-sluice-dropped'), sent[1]?.strict_tools]).toEqual([200, null, true])
  })

  it('include a breakpoint of the prompt cache that has no place in Responses; others are carried', async () => {
    const item = {
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Rye.' }],
    }
    const reply = { id: 'resp_1', object: 'response', status: 'completed', output: [item] }
    const { url, sent } = await upstream(
      JSON.stringify({ ...reply, usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 } }),
    )
    const names = [model, 'gpt-5.6']
    const { ask: call } = await sharedStage(url, {
      type: 58,
      models: names.join(','),
      other: '{"speaks":{"openai.responses":"/v1/responses"}}',
    })
    const cache_control = { type: 'ephemeral' }
    const said = (name: string, more: Data = {}) => ({
      model: name,
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control }] }],
      ...more,
    })
    const old = await call(said(model), '/v1/messages')
    expect([old.status, old.headers.get('x-sluice-dropped')]).toEqual([200, 'cache_control'])
    const kept = await call(said('gpt-5.6'), '/v1/messages')
    expect([kept.status, kept.headers.get('x-sluice-dropped')]).toEqual([200, null])
    expect(JSON.stringify(sent[1])).toContain('prompt_cache_breakpoint')
    const system = await call(said('gpt-5.6', { system: [{ type: 'text', text: 'Be brief.', cache_control }] }), '/v1/messages')
    expect(system.headers.get('x-sluice-dropped')).toBe('cache_control')
  })
})

describe('members of a reply that another protocol lacks', () => {
  const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 }
  const message = (...content: Data[]) => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: claude, stop_reason: 'end_turn', stop_sequence: null },
    ...{ content, usage },
  })
  const response = (...output: Data[]) => ({ id: 'resp_1', object: 'response', status: 'completed', output, usage })
  const said = { type: 'text', text: 'Rye.' }
  const cited = {
    type: 'output_text',
    text: 'Rye.',
    annotations: [{ type: 'file_citation', file_id: 'f', filename: 'a', index: 0 }],
  }
  const generated = (...parts: Data[]) => ({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
  })
  const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }
  const gemini = 'gemini-2.0-flash'
  const speaks = '{"speaks":{"openai.responses":"/v1/responses"}}'
  const messages = (name: string) => ({ model: name, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] })

  it.each<[name: string, channel: Data, path: string, reply: Data, dropped: string[]]>([
    [
      'tools of the vendor and a compaction',
      { type: 14, models: claude },
      '/v1/chat/completions',
      message({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, { type: 'compaction', content: 'c' }, said),
      ['server_tool_use', 'compaction'],
    ],
    [
      'citations of files and a compaction',
      { type: 58, models: model, other: speaks },
      '/v1/messages',
      response(
        { type: 'compaction', id: 'c', encrypted_content: 'x' },
        { type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [cited] },
      ),
      ['compaction', 'file_citation'],
    ],
    [
      'pictures and code that are told as text',
      { type: 24, models: gemini },
      '/v1/messages',
      generated({ executableCode: { language: 'PYTHON', code: '1' } }, { text: 'Rye.' }, picture),
      ['executableCode', 'image'],
    ],
    ['nothing', { type: 14, models: claude }, '/v1/chat/completions', message(said), []],
  ])('are listed in the log row: %s', async (_name, channel, path, reply, dropped) => {
    const { url } = await upstream(JSON.stringify(reply))
    const { server, ask: call } = await sharedStage(url, channel)
    const name = String(channel.models)
    const { status } = await call(path === '/v1/messages' ? messages(name) : chat({ model: name }), path)
    expect(status).toBe(200)
    const other = JSON.parse((await books(server)).logs[0]?.other ?? '{}')
    expect(other.reply_dropped ?? []).toEqual(dropped)
  })

  it('are listed for a stream when it ends', async () => {
    const block = (index: number, content_block: Data) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]
    const events = [
      { type: 'message_start', message: { ...message(), stop_reason: null } },
      ...block(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      ...block(1, said),
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]
    const { url } = await answeringUpstream(
      events.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
    )
    const { server, ask: call } = await sharedStage(url, { type: 14, models: claude })
    expect((await call(chat({ model: claude, stream: true }))).text).toContain('Rye.')
    const [row] = (await books(server)).logs
    expect(JSON.parse(row?.other ?? '{}').reply_dropped).toEqual(['server_tool_use'])
  })
})
