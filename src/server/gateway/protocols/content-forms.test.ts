import { describe, expect, it } from 'vitest'
import { codecOf, reading } from '../../../../test/helpers/codecs.ts'
import type { Codec } from './codec.ts'
import { openAiChat } from './openai-chat/chat.ts'
import type { JsonObject } from './wire-format.ts'

/** Replies whose content is not the text that the format has there: hosts differ in the type, and no answer may become empty. */

const answer = { port: 'Rye' }
const json = '{"port":"Rye"}'

/** Content in any type, and the text that a caller of another format gets. */
const contents: readonly (readonly [string, unknown, string])[] = [
  ['an object', answer, json],
  ['an object with a type of its own', { type: 'cat', name: 'Tom' }, '{"type":"cat","name":"Tom"}'],
  ['a list of objects', [answer, answer], `[${json},${json}]`],
  ['a list of texts', ['The tide ', 'is high.'], 'The tide is high.'],
  ['a list of objects with texts', [{ text: 'The tide ' }, { text: 'is high.' }], 'The tide is high.'],
  ['a number', 42, '42'],
  ['zero', 0, '0'],
  ['a truth value', true, 'true'],
]

const chatUsage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }

interface Form {
  readonly name: string
  readonly codec: Codec
  whole?(content: unknown): JsonObject
  /** The data of the events of a stream. */
  stream?(content: unknown): readonly JsonObject[]
}

const forms: readonly Form[] = [
  {
    name: 'Chat',
    codec: codecOf('openai.chat'),
    whole: (content) => ({
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: chatUsage,
    }),
    stream: (content) => [
      { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
      { choices: [{ index: 0, delta: { content }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: chatUsage },
    ],
  },
  {
    name: 'Responses',
    codec: codecOf('openai.responses'),
    whole: (text) => ({
      ...{ id: 'r', object: 'response', status: 'completed' },
      output: [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }],
    }),
  },
  {
    name: 'Messages',
    codec: codecOf('anthropic.messages'),
    whole: (text) => ({
      type: 'message',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { output_tokens: 3 },
    }),
  },
  {
    name: 'Gemini',
    codec: codecOf('gemini.generate'),
    whole: (text) => ({ candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }] }),
  },
  {
    name: 'Cohere',
    codec: codecOf('cohere.chat'),
    whole: (text) => ({
      message: { content: [{ type: 'text', text }] },
      finish_reason: 'COMPLETE',
      usage: { tokens: { input_tokens: 5, output_tokens: 3 } },
    }),
  },
  {
    name: 'Ollama',
    codec: codecOf('ollama.chat'),
    whole: (content) => ({ message: { role: 'assistant', content }, done: true, done_reason: 'stop' }),
  },
  {
    name: 'DashScope',
    codec: codecOf('dashscope.chat'),
    whole: (content) => ({ output: { choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] } }),
  },
  {
    name: 'Tencent',
    codec: codecOf('hunyuan.chat'),
    whole: (Content) => ({ Response: { Choices: [{ Message: { Role: 'assistant', Content }, FinishReason: 'stop' }] } }),
  },
]

const cases = forms.flatMap(({ name, codec, whole, stream }) =>
  contents.map(([title, content, text]) => ({ name, codec, title, text, whole: whole?.(content), stream: stream?.(content) })),
)

describe('content that is not a text', () => {
  it.each(cases)('[277] is read as text from $name: $title', ({ codec, whole, stream, text }) => {
    const read = reading(codec)
    if (whole) expect(read.whole(whole)).toMatchObject({ blocks: [{ block: 'text', text }], isComplete: true })
    if (!stream) return
    const events = stream.map((data) => `data: ${JSON.stringify(data)}\n\n`)
    expect(read.stream(...events, 'data: [DONE]\n\n')).toMatchObject({ blocks: [{ block: 'text', text }], isComplete: true })
  })

  it('[277] is a text in place of the list of parts or blocks', () => {
    const text = 'The tide is high.'
    const wholes: readonly (readonly [Codec, JsonObject])[] = [
      [
        codecOf('openai.responses'),
        { status: 'completed', output: [{ type: 'message', id: 'm', role: 'assistant', content: text }] },
      ],
      [codecOf('anthropic.messages'), { content: [text], stop_reason: 'end_turn', usage: { output_tokens: 3 } }],
      [codecOf('gemini.generate'), { candidates: [{ content: text, finishReason: 'STOP' }] }],
      [codecOf('gemini.generate'), { candidates: [{ content: { parts: [text] }, finishReason: 'STOP' }] }],
      [codecOf('cohere.chat'), { message: { content: text }, finish_reason: 'COMPLETE', usage: { tokens: {} } }],
    ]
    for (const [codec, whole] of wholes) expect(reading(codec).whole(whole).blocks).toEqual([{ block: 'text', text }])
  })
})

describe('a gathered stream of Chat', () => {
  const { stream } = openAiChat
  const gathered = (...deltas: readonly JsonObject[]) => {
    const chunks = deltas.map((delta) => ({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] }))
    const [choice] = (stream?.gather([...chunks, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }])?.choices ??
      []) as JsonObject[]
    return choice?.message
  }
  const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] })

  it('[277] keeps every piece of a content of parts, and joins adjacent thinking and adjacent text', () => {
    expect(
      gathered(
        { role: 'assistant', content: '' },
        { content: [thinking('Let me ')] },
        { content: [thinking('see.')] },
        { content: [{ type: 'text', text: 'The tide ' }] },
        { content: 'is ' },
        { content: 'high.' },
      ),
    ).toEqual({ role: 'assistant', content: [thinking('Let me see.'), { type: 'text', text: 'The tide is high.' }] })
  })

  it.each(contents)('has a text as content that was %s', (_, content, text) => {
    expect(gathered({ content: '' }, { content })).toMatchObject({ content: text })
    const whole = { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] }
    const [first] = stream?.replay(whole) ?? []
    expect(first).toMatchObject({ choices: [{ delta: { content: text } }] })
  })

  it('keeps the pieces of an older function call, log probabilities, members of hosts, and a message in place of deltas', () => {
    const call = (members: JsonObject) => ({ function_call: members })
    expect(
      gathered(call({ name: 'get_tide', arguments: '' }), call({ arguments: '{"port":' }), call({ arguments: '"Rye"}' })),
    ).toMatchObject(call({ name: 'get_tide', arguments: '{"port":"Rye"}' }))
    const token = (text: string) => ({ token: text, logprob: -0.5, bytes: null, top_logprobs: [] })
    const chunk = (content: string, more: JsonObject) => ({
      choices: [{ index: 0, delta: { content }, finish_reason: null, ...more }],
    })
    const whole = stream?.gather([
      chunk('a', { logprobs: { content: [token('a')], refusal: null }, stop_reason: null }),
      chunk('b', { logprobs: { content: [token('b')], refusal: null }, stop_reason: 7 }),
    ])
    expect(whole?.choices).toMatchObject([
      { message: { content: 'ab' }, logprobs: { content: [token('a'), token('b')], refusal: null }, stop_reason: 7 },
    ])
    const message = { role: 'assistant', content: 'All at once.' }
    expect(stream?.gather([{ choices: [{ index: 0, message, finish_reason: 'stop' }] }])?.choices).toMatchObject([{ message }])
  })
})
