import { describe, expect, it } from 'vitest'
import { books, requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, chat, claude, model, stage } from './stage.ts'

/** Replies of other vendors that deviate from the format, as callers receive them. */

type Data = Record<string, unknown>

const gemini = 'gemini-2.0-flash'
const paths = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  gemini: `/v1beta/models/${gemini}:generateContent`,
} as const
const channels = {
  chat: { type: 8, models: `${model},${claude}`, suffix: '/v1/chat/completions' },
  messages: { type: 14, models: claude, suffix: '' },
  responses: { type: 58, models: model, suffix: '', other: '{"speaks":{"openai.responses":"/v1/responses"}}' },
  gemini: { type: 24, models: gemini, suffix: '' },
} as const
type Side = keyof typeof paths

const asks = {
  chat: (name: string, stream: boolean) => ({ ...chat(), model: name, stream }),
  messages: (name: string, stream: boolean) => ({
    ...{ model: name, max_tokens: 100, stream },
    messages: [{ role: 'user', content: 'Hi' }],
  }),
  responses: (name: string, stream: boolean) => ({ model: name, input: 'Hi', stream }),
  gemini: () => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }),
}

/** An upstream that answers every request with the same reply: whole, or the events of a stream. */
async function upstream(reply: Data | readonly (Data | string)[]): Promise<string> {
  const named = (data: Data) => (typeof data.type === 'string' ? `event: ${data.type}\n` : '')
  const { url } = await answeringUpstream(
    Array.isArray(reply)
      ? {
          bytes: reply
            .map((data) => (typeof data === 'string' ? data : `${named(data)}data: ${JSON.stringify(data)}\n\n`))
            .join(''),
          type: 'text/event-stream',
        }
      : { json: reply },
  )
  return url
}

const sharedStage = sharedStages()

/** Sends a request in the format `from` over a channel of `to` whose upstream answers with `reply`. */
async function answer(from: Side, to: Side, reply: Data | readonly (Data | string)[]) {
  const { suffix, ...channel } = channels[to]
  const staged = await sharedStage(`${await upstream(reply)}${suffix}`, channel)
  const isStreamed = Array.isArray(reply)
  const name = channel.models.split(',')[0] ?? ''
  const path = from === 'gemini' ? paths.gemini.replace(gemini, name) : paths[from]
  const asked = isStreamed && from === 'gemini' ? path.replace(':generateContent', ':streamGenerateContent?alt=sse') : path
  const { status, text } = await staged.ask(asks[from](name, isStreamed), asked)
  const events = text.split(/\r?\n\r?\n/).flatMap((block): Data[] => {
    const data = /^data: (\{.*)$/m.exec(block)?.[1]
    return data === undefined ? [] : [JSON.parse(data)]
  })
  await requireBalancedBooks(staged.server)
  return { status, text, events, json: isStreamed ? {} : JSON.parse(text) }
}

const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const piece = (delta: Data, finish_reason: string | null = null): Data => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model },
  choices: [{ index: 0, delta, finish_reason }],
  ...(finish_reason ? { usage } : {}),
})
const completed = (message: Data, finish_reason = 'stop'): Data => ({
  ...{ id: 'c', object: 'chat.completion', created: 1, model, usage },
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
})
const done = 'data: [DONE]\n\n'
const response = (output: readonly Data[], more: Data = {}): Data => ({
  ...{ id: 'resp_1', object: 'response', status: 'completed', model, output, incomplete_details: null },
  usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 },
  ...more,
})
const message = (more: Data): Data => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: claude, stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'Rye.' }],
  usage: { input_tokens: 5, output_tokens: 3 },
  ...more,
})
const messageEvents = (blocks: readonly Data[], stop_reason = 'end_turn'): Data[] => [
  { type: 'message_start', message: message({ content: [], stop_reason: null }) },
  ...blocks,
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
]
const generated = (parts: readonly Data[], finishReason: string, more: Data = {}): Data => ({
  candidates: [{ content: { role: 'model', parts }, finishReason, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
})

const annotation = { type: 'url_citation', url_citation: { url: 'https://a.test', title: 'A', start_index: 0, end_index: 3 } }
const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }

describe('reasoning of a Responses reply', () => {
  const item = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Let me see.' }] }
  const said = {
    ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text: 'Rye.', annotations: [] }],
  }
  const at = { item_id: 'rs_1', output_index: 0, content_index: 0 }
  const events = [
    { type: 'response.created', response: response([], { status: 'in_progress' }) },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.content_part.added', ...at, part: { type: 'reasoning_text', text: '' } },
    { type: 'response.reasoning_text.delta', ...at, delta: 'Let me see.' },
    { type: 'response.reasoning_text.done', ...at, text: 'Let me see.' },
    { type: 'response.content_part.done', ...at, part: { type: 'reasoning_text', text: 'Let me see.' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 1, item: said },
    { type: 'response.completed', response: response([item, said]) },
  ]

  it.each(['messages', 'gemini'] as const)('is not part of the answer text for a caller of %s', async (from) => {
    const told = await answer(from, 'responses', events)
    const texts = told.events.flatMap((event) => JSON.stringify(event).match(/"text":"[^"]+"/g) ?? [])
    expect(texts).toEqual(['"text":"Rye."'])
  })
})

describe('sources of a reply', () => {
  it('that precede the text are attached to it', async () => {
    const chunks = [piece({ annotations: [annotation] }), piece({ content: 'Rye.' }), piece({}, 'stop'), done]
    const messages = await answer('messages', 'chat', chunks)
    const kinds = messages.events.map(({ delta }) => (delta as Data | undefined)?.type ?? '').filter((kind) => kind !== '')
    expect(kinds).toEqual(['text_delta', 'citations_delta'])
    const responses = await answer('responses', 'chat', chunks)
    expect(responses.text).toContain('"annotations":[{"type":"url_citation","url":"https://a.test"')
  })

  it('of Messages that precede the text are attached to it', async () => {
    const citation = {
      type: 'web_search_result_location',
      url: 'https://a.test',
      title: 'A',
      cited_text: '',
      encrypted_index: '',
    }
    const told = await answer('chat', 'messages', [
      ...messageEvents([
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: [citation] } },
        { type: 'content_block_stop', index: 0 },
        { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Rye.' } },
        { type: 'content_block_stop', index: 1 },
      ]),
    ])
    expect(told.text).toContain('"annotations":[{"type":"url_citation"')
  })

  it('are kept when the reply has an image and no text', async () => {
    const told = await answer('responses', 'chat', completed({ content: null, images: [picture], annotations: [annotation] }))
    expect(JSON.stringify(told.json.output)).toContain('"url":"https://a.test"')
    const generatedToo = await answer(
      'gemini',
      'chat',
      completed({ content: null, images: [picture], annotations: [annotation] }),
    )
    expect(JSON.stringify(generatedToo.json.candidates)).toContain('"uri":"https://a.test"')
  })
})

it.each(['chat', 'messages'] as const)(
  'a second message in one stream of Messages is an error for a caller of %s, and an incomplete call is not ended as complete',
  async (from) => {
    const start = { type: 'message_start', message: message({ id: 'msg_0', content: [], stop_reason: null }) }
    const call = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }
    const told = await answer(from, 'messages', [
      start,
      { type: 'content_block_start', index: 0, content_block: call },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
      ...messageEvents([{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Rye.' } }]),
    ])
    expect(told.text).toMatch(/"error".*please retry your request/)
    expect(told.text).not.toMatch(/Rye|finish_reason":"|message_stop/)
  },
)

describe('a reply that is not complete', () => {
  it.each([
    ['messages', message({ stop_reason: 'pause_turn' })],
    ['messages', message({ stop_reason: 'something_new' })],
    ['gemini', generated([{ text: 'Rye.' }], 'CONTINUATION')],
    ['gemini', generated([{ text: 'Rye.' }], 'SOMETHING_NEW')],
    ['responses', response([], { status: 'incomplete', incomplete_details: { reason: 'max_messages' } })],
    ['chat', completed({ content: 'Rye.' }, 'something_new')],
  ] as const)('of %s never looks complete: %j', async (to, reply) => {
    if (to !== 'chat') expect((await answer('chat', to, reply)).json.choices[0].finish_reason).toBe('length')
    if (to === 'responses') return
    expect((await answer('responses', to, reply)).json).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
  })

  it.each(['MODEL_ARMOR', 'ESCALATION', 'PUP_LIMITED_DISABLED'])(
    'of Gemini that ends with %s is reported as blocked',
    async (word) => {
      const reply = generated([], word)
      const chats = await answer('chat', 'gemini', reply)
      expect([chats.status, chats.json.choices[0].finish_reason]).toEqual([200, 'content_filter'])
      expect((await answer('messages', 'gemini', reply)).json.stop_reason).toBe('refusal')
    },
  )

  it('of Gemini that lacks a signature is an error', async () => {
    expect((await answer('chat', 'gemini', generated([], 'MISSING_THOUGHT_SIGNATURE'))).status).toBe(502)
  })
})

describe('values of another vendor in a request', () => {
  it.each(['responses', 'messages'] as const)('are left out for a channel of %s', async (to) => {
    const { url, heard } = await answeringUpstream({ json: to === 'messages' ? message({}) : response([]) })
    const { suffix: _, ...channel } = channels[to]
    const { ask } = await sharedStage(url, channel)
    await ask(chat({ model: channel.models, reasoning_effort: 'default', service_tier: 'on_demand' }))
    expect(heard).toHaveLength(1)
    for (const member of ['reasoning', 'thinking', 'output_config', 'service_tier'])
      expect(heard[0]?.body).not.toHaveProperty(member)
  })
})

describe('peculiarities of vendors', () => {
  it('a text that repeats the transcript of its audio is sent once', async () => {
    const audio = { id: 'a', data: 'UklGRg==', transcript: 'Rye.' }
    expect((await answer('messages', 'chat', completed({ content: 'Rye.', audio }))).json.content[0]).toEqual({
      type: 'text',
      text: 'Rye.',
    })
    const chunks = [
      piece({ audio: { id: 'a', transcript: 'Ry' } }),
      piece({ content: 'Ry' }),
      piece({ audio: { transcript: 'e.' } }),
      piece({ content: 'e.' }),
      piece({}, 'stop'),
      done,
    ]
    const told = await answer('messages', 'chat', chunks)
    expect(told.events.map(({ delta }) => (delta as Data | undefined)?.text ?? '').join('')).toBe('Rye.')
  })

  it('empty events of a native stream of Responses do not reach the caller', async () => {
    const reply = response([])
    const told = await answer('responses', 'responses', [
      { type: 'response.created', response: { ...reply, status: 'in_progress' } },
      'event: ping\ndata: \n\n',
      'event: ping\n\n',
      { type: 'response.output_text.delta', delta: 'Rye.', item_id: 'm', output_index: 0, content_index: 0 },
      'event: ping\ndata:\n\n',
      { type: 'response.completed', response: reply },
    ])
    expect(told.text).not.toContain('ping')
    expect(told.events).toHaveLength(3)
  })

  it('a usage in a vendor-specific member is returned to callers without a stream', async () => {
    const last = { ...piece({}, 'stop'), usage: undefined, x_groq: { id: 'r', usage } }
    const { suffix, ...channel } = channels.chat
    const url = await upstream([piece({ content: 'Rye.' }), last, done])
    const { ask } = await sharedStage(`${url}${suffix}`, channel)
    expect(JSON.parse((await ask(chat())).text).usage).toMatchObject(usage)
  })

  it('arguments that Gemini sends in pieces become one call, from a whole reply and from a stream', async () => {
    const call = (more: Data) => ({ functionCall: more })
    const first = call({
      id: 'f1',
      name: 'weather',
      partialArgs: [{ jsonPath: '$.city', stringValue: 'Be' }],
      willContinue: true,
    })
    const second = call({ partialArgs: [{ jsonPath: '$.city', stringValue: 'rn' }] })
    const whole = await answer('chat', 'gemini', generated([first, second], 'STOP'))
    expect(JSON.parse(whole.json.choices[0].message.tool_calls[0].function.arguments)).toEqual({ city: 'Bern' })
    const url = await upstream([generated([first], ''), generated([second], 'STOP')])
    const { ask } = await sharedStage(url, { type: 24, models: gemini })
    const gathered = JSON.parse((await ask(asks.gemini(), paths.gemini)).text)
    expect(gathered.candidates[0].content.parts).toEqual([
      { functionCall: { id: 'f1', name: 'weather', args: { city: 'Bern' } } },
    ])
  })

  it('a response with the status "complete" is complete', async () => {
    const item = {
      ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'complete' },
      content: [{ type: 'output_text', text: 'Rye.', annotations: [] }],
    }
    const told = await answer('messages', 'responses', response([item], { status: 'complete' }))
    expect(told.json).toMatchObject({ content: [{ type: 'text', text: 'Rye.' }], stop_reason: 'end_turn' })
  })

  it('an input that was cut off by the output limit is recognizable as incomplete', async () => {
    const cut = (args: string) => ({
      tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'weather', arguments: args } }],
    })
    const whole = await answer('messages', 'chat', completed({ content: null, ...cut('{"city":"Be') }, 'length'))
    expect(whole.json).toMatchObject({ content: [{ type: 'tool_use', input: { city: 'Be' } }], stop_reason: 'max_tokens' })
    const streamed = await answer('messages', 'chat', [piece(cut('')), piece({}, 'length'), done])
    expect(streamed.text).not.toContain('input_json_delta')
    const told = await answer('responses', 'chat', completed({ content: null, ...cut('') }, 'length'))
    expect(told.json.output).toMatchObject([{ type: 'function_call', arguments: '', status: 'incomplete' }])
  })
})

describe('a complete message whose only text is marked as thought', () => {
  const marked = (content: string) => ({ content, extra_content: { google: { thought: true } } })
  const thought = (text: string) => ({ text, thought: true })
  const textsOf = ({ events }: { events: Data[] }) => events.map(({ delta }) => (delta as Data | undefined)?.text ?? '').join('')

  it('has that text as its answer, whole and streamed, from Chat and from Gemini', async () => {
    const chats = await answer('messages', 'chat', completed(marked('<thought>Rye.</thought>')))
    expect(chats.json.content).toEqual([{ type: 'text', text: 'Rye.' }])
    const geminis = await answer('chat', 'gemini', generated([thought('Rye.')], 'STOP'))
    expect(geminis.json.choices[0].message.content).toBe('Rye.')
    const pieces = [piece(marked('<thought>Ry')), piece(marked('e.')), piece({}, 'stop'), done]
    expect(textsOf(await answer('messages', 'chat', pieces))).toBe('Rye.')
    expect(textsOf(await answer('messages', 'gemini', [generated([thought('Rye.')], 'STOP')]))).toBe('Rye.')
  })

  it('keeps it as reasoning when other text or a call follows, or when the message was cut off', async () => {
    const both = await answer('messages', 'chat', completed(marked('<thought>Hm.</thought>Rye.')))
    expect(both.json.content).toMatchObject([
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Rye.' },
    ])
    const pieces = [piece(marked('<thought>Hm.')), piece({ content: '</thought>Rye.' }), piece({}, 'stop'), done]
    expect(textsOf(await answer('messages', 'chat', pieces))).toBe('Rye.')
    const cut = await answer('messages', 'chat', completed(marked('Hm'), 'length'))
    expect(cut.json.content).toMatchObject([{ type: 'thinking', thinking: 'Hm' }])
    const call = { functionCall: { name: 'weather', args: {} } }
    const called = await answer('messages', 'gemini', generated([thought('Hm.'), call], 'STOP'))
    expect(called.json.content).toMatchObject([{ type: 'thinking' }, { type: 'tool_use', name: 'weather' }])
  })
})

describe('a call with an empty member of the other kind', () => {
  const weather = { name: 'weather', arguments: '{"city":"Bern"}' }
  const odd = (more: Data = {}) => ({ index: 0, id: 'c1', type: 'function', function: weather, custom: {}, ...more })

  it('has the kind that its type names, whole and in pieces', async () => {
    const expected = [{ type: 'tool_use', name: 'weather', input: { city: 'Bern' } }]
    const whole = await answer('messages', 'chat', completed({ content: null, tool_calls: [odd()] }, 'tool_calls'))
    expect(whole.json.content).toMatchObject(expected)
    const pieces = [
      piece({ tool_calls: [odd({ function: { name: 'weather', arguments: '' }, custom: { name: '', input: '' } })] }),
      piece({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Bern"}' }, custom: { input: '' } }] }),
      piece({}, 'tool_calls'),
      done,
    ]
    const streamed = await answer('messages', 'chat', pieces)
    const inputs = streamed.events.map(({ delta }) => (delta as Data | undefined)?.partial_json ?? '')
    expect(JSON.parse(inputs.join(''))).toEqual({ city: 'Bern' })
    const url = await upstream(pieces)
    const { ask } = await sharedStage(`${url}${channels.chat.suffix}`, { type: 8, models: model })
    const gathered = JSON.parse((await ask(chat())).text)
    expect(gathered.choices[0].message.tool_calls[0].function).toEqual(weather)
  })

  it('has that kind in the history too, as have tools and the tool choice', async () => {
    const { url, heard } = await answeringUpstream({ json: message({}) })
    const { ask } = await sharedStage(url, { type: 14, models: claude })
    const { index: _, ...call } = odd()
    const body = chat({
      model: claude,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'sun' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } }, custom: {} }],
      tool_choice: { type: 'function', function: { name: 'weather' }, custom: {} },
    })
    expect((await ask(body)).status).toBe(200)
    expect(heard[0]?.body).toMatchObject({
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      tool_choice: { type: 'tool', name: 'weather' },
    })
    expect((heard[0]?.body.messages as Data[] | undefined)?.[1]?.content).toMatchObject([
      { type: 'tool_use', input: { city: 'Bern' } },
    ])
  })
})

describe('tools of Gemini in one object', () => {
  it('are read as a list of one', async () => {
    const { url, heard } = await answeringUpstream({ json: message({}) })
    const { ask } = await sharedStage(url, { type: 14, models: claude })
    const path = `/v1beta/models/${claude}:generateContent`
    const declarations = [{ name: 'weather', parameters: { type: 'OBJECT', properties: {} } }]
    const { status } = await ask({ ...asks.gemini(), tools: { function_declarations: declarations } }, path)
    expect([status, heard[0]?.body.tools]).toMatchObject([200, [{ name: 'weather' }]])
  })

  it('are billed for each use, as those of a list', async () => {
    const reply = generated([{ text: 'Rye.' }], 'STOP', { groundingMetadata: { webSearchQueries: ['rye'] } })
    const { ask, server } = await stage('sqlite', await upstream(reply), { channel: { type: 24, models: gemini } })
    expect((await ask({ ...asks.gemini(), tools: { googleSearch: {} } }, paths.gemini)).status).toBe(200)
    expect((await ask({ ...asks.gemini(), tools: [{ googleSearch: {} }] }, paths.gemini)).status).toBe(200)
    const [one, other] = (await books(server)).logs
    expect(one?.quota).toBe(other?.quota)
    expect(one?.quota).toBeGreaterThan(1000)
  })
})

describe('usage of Anthropic in several iterations', () => {
  it('is reported to callers of other dialects as the tokens of the model itself, including its compaction', async () => {
    const part = (type: string, input_tokens: number, output_tokens: number, more = {}) => ({
      ...{ type, input_tokens, output_tokens, ...more },
    })
    const iterations = [
      part('compaction', 500, 50),
      part('message', 100, 11),
      part('advisor_message', 9000, 900, { model: 'claude-opus-4-6' }),
    ]
    const told = await answer('chat', 'messages', message({ usage: { input_tokens: 100, output_tokens: 11, iterations } }))
    expect(told.json.usage).toMatchObject({ prompt_tokens: 600, completion_tokens: 61, total_tokens: 661 })
  })
})
