import { describe, expect, it } from 'vitest'
import { requireEvent, responseResource } from '../helpers/open-responses.ts'
import { answeringUpstream, claude, model, stage } from './stage.ts'

type Data = Record<string, unknown>

const gemini = 'gemini-2.0-flash'
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const args = '{"city":"Bern"}'

/** A reply with reasoning, text and a tool call in the format of each upstream: whole, and as the events of a stream. */
const upstreams = {
  'Chat alone': {
    channel: { type: 8, models: model },
    path: '/v1/chat/completions',
    ...chatReplies(),
  },
  Anthropic: { channel: { type: 14, models: claude }, path: '', ...messagesReplies() },
  Gemini: { channel: { type: 24, models: gemini }, path: '', ...geminiReplies() },
}

function chatReplies() {
  const calls = [{ index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: args } }]
  const head = { id: 'c', created: 1, model }
  const message = { role: 'assistant', reasoning_content: 'I look it up.', content: 'One moment.', tool_calls: calls }
  const piece = (delta: Data, finish_reason: string | null = null) => ({
    ...{ ...head, object: 'chat.completion.chunk' },
    choices: [{ index: 0, delta, finish_reason }],
    ...(finish_reason ? { usage } : {}),
  })
  return {
    whole: { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage },
    events: [
      piece({ reasoning_content: 'I look it up.' }),
      piece({ content: 'One moment.' }),
      piece({ tool_calls: calls }),
      piece({}, 'tool_calls'),
    ],
  }
}

function messagesReplies() {
  const blocks = [
    [
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'I look it up.' },
    ],
    [
      { type: 'text', text: '' },
      { type: 'text_delta', text: 'One moment.' },
    ],
    [
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
      { type: 'input_json_delta', partial_json: args },
    ],
  ]
  const message = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: claude, stop_sequence: null },
    usage: { input_tokens: 5, output_tokens: 3 },
  }
  const content = [
    { type: 'thinking', thinking: 'I look it up.', signature: 'c2lnbg==' },
    { type: 'text', text: 'One moment.' },
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } },
  ]
  return {
    whole: { ...message, content, stop_reason: 'tool_use' },
    events: [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      ...blocks.flatMap(([content_block, delta], index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ],
  }
}

function geminiReplies() {
  const parts = [
    { text: 'I look it up.', thought: true },
    { text: 'One moment.' },
    { functionCall: { name: 'weather', args: { city: 'Bern' } }, thoughtSignature: 'c2lnbg==' },
  ]
  const reply = (some: readonly Data[], more: Data = {}) => ({
    candidates: [{ content: { role: 'model', parts: some }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
  })
  return {
    whole: reply(parts, { finishReason: 'STOP' }),
    events: [reply(parts.slice(0, 2)), reply(parts.slice(2), { finishReason: 'STOP' })],
  }
}

const request = {
  input: 'How is it in Bern?',
  instructions: 'Be brief.',
  tools: [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} }, strict: false }],
  reasoning: { effort: 'low', summary: 'auto' },
}
const steered = { temperature: 0.5, top_p: 0.9, presence_penalty: 0.25, frequency_penalty: -0.25, user: 'u-1', top_logprobs: 0 }

describe.each(Object.entries(upstreams))(
  'a response over %s, validated by the schema of Open Responses',
  (_, { channel, path, whole, events }) => {
    async function open() {
      const named = (data: Data) => (typeof data.type === 'string' ? `event: ${data.type}\n` : '')
      const stream = (events as readonly Data[]).map((data) => `${named(data)}data: ${JSON.stringify(data)}\n\n`).join('')
      const { url } = await answeringUpstream(({ path: at, body }) =>
        body.stream === true || at.includes('stream') ? stream : { json: whole },
      )
      const { ask, server } = await stage('sqlite', `${url}${path}`, { channel })
      return { server, ask: (more: Data) => ask({ model: channel.models, ...request, ...more }, '/v1/responses') }
    }

    it("is complete: with the request's sampling and user, or their defaults, and the time of its end", async () => {
      const { ask } = await open()
      const plain = responseResource.parse(JSON.parse((await ask({})).text))
      expect(plain).toMatchObject({ temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, user: null })
      expect(plain.completed_at).toBeGreaterThanOrEqual(plain.created_at)
      expect(plain.output.map(({ type }) => type)).toEqual(expect.arrayContaining(['reasoning', 'message', 'function_call']))
      const { top_logprobs: __, ...said } = steered
      expect(responseResource.parse(JSON.parse((await ask(steered)).text))).toMatchObject(said)
    })

    it('is valid in every event of its stream', async () => {
      const { ask } = await open()
      const { text } = await ask({ stream: true })
      const told = text.split('\n\n').flatMap((block): Data[] => {
        const data = /^data: (\{.*)$/m.exec(block)?.[1]
        return data === undefined ? [] : [JSON.parse(data)]
      })
      for (const event of told) requireEvent(event)
      expect(told[0]).toMatchObject({ type: 'response.created', response: { completed_at: null, usage: null } })
      expect(told.at(-1)).toMatchObject({ type: 'response.completed', response: { completed_at: expect.any(Number) } })
    })

    it('is stored as it was returned', async () => {
      const { ask, server } = await open()
      const made = JSON.parse((await ask({})).text)
      const row = await server.app.db.selectFrom('own_responses').select('response_id').executeTakeFirst()
      expect(row?.response_id).toBe(made.id)
      const own = await server.app.localResponses.find({ userId: 1, id: made.id })
      expect(responseResource.parse(own?.response)).toEqual(responseResource.parse(made))
    })
  },
)

it('penalties of a Responses caller reach a Chat upstream', async () => {
  const { channel, path, whole } = upstreams['Chat alone']
  const { url, heard } = await answeringUpstream({ json: whole })
  const { ask } = await stage('sqlite', `${url}${path}`, { channel })
  const answer = await ask({ model, ...request, ...steered, reasoning: undefined }, '/v1/responses')
  expect(answer.status).toBe(200)
  expect(heard[0]?.body).toMatchObject({ presence_penalty: 0.25, frequency_penalty: -0.25 })
})
