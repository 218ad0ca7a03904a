import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readContext, readSse } from '../../../../../test/helpers/codecs.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { Inbound, WriteContext } from '../codec.ts'
import { formats } from '../index.ts'
import { repairReply } from '../repair-reply.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { arrayAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'
import { geminiGenerateFormat } from './format.ts'

const gemini = geminiGenerateFormat.codec
const path = { model: 'gemini-3.7-flash', stream: false }

function inbound(format: 'openai.chat' | 'anthropic.messages'): Inbound {
  const found = formats[format].inbound
  if (!found) throw new Error(`${format} is not spoken by callers`)
  return found
}

/** The Gemini request for a request in another format, and its losses. */
function asked(format: 'openai.chat' | 'anthropic.messages', body: JsonObject, model = 'gemini-3.7-flash') {
  const lost = new Set<string>()
  const dialogue = inbound(format).readRequest({ model, max_tokens: 100, ...body }, path)
  const settings = { claudeDefaultMaxTokens: {}, claudeThinkingShare: undefined, geminiSafety: {} }
  const written = gemini.writeRequest(dialogue, { model, quirks: {}, settings, lose: (field) => lost.add(field) })
  return { ...written, dialogue, lost: [...lost].sort() }
}

const parts = (body: JsonObject, at = -1): JsonObject[] => {
  const content = arrayAt(body, 'contents').at(at)
  return isObject(content) ? arrayAt(content, 'parts').filter(isObject) : []
}
const chatParts = (content: unknown) => parts(asked('openai.chat', { messages: [{ role: 'user', content }] }).body)

function writing(body: JsonObject = {}): WriteContext {
  const { dialogue } = asked('openai.chat', { messages: [{ role: 'user', content: 'x' }], ...body })
  return { id: 'r1', createdAt: 1, model: 'asked', dialogue, newId: (prefix) => `${prefix}1` }
}

const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')
const chatReply = (events: readonly ReplyEvent[]) => inbound('openai.chat').writeReply(events, writing())
const messageOf = (reply: JsonObject) => {
  const [choice] = arrayAt(reply, 'choices').filter(isObject)
  return { finish: choice?.finish_reason, message: objectAt(choice ?? {}, 'message') ?? {} }
}
const chatChunks = (events: readonly ReplyEvent[]) => {
  const writer = inbound('openai.chat').writeEvents(writing({ stream: true, stream_options: { include_usage: true } }))
  const text = events.map((event) => writer.push(event)).join('')
  return eventsIn(Buffer.from(text).toString('latin1'))
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }): JsonObject => JSON.parse(data))
}
const png = 'iVBORw0KGgo='

describe('requests of Chat to Gemini', () => {
  it('[174] [175] have a file inline, with or without the prefix of a data URL, under the type of its bytes', () => {
    const file = (file_data: string) => chatParts([{ type: 'file', file: { filename: 'a.pdf', file_data } }])
    const inlineData = { mimeType: 'application/pdf', data: 'JVBERi0xLjQ=' }
    expect(file('data:application/pdf;base64,JVBERi0xLjQ=')).toEqual([{ inlineData }])
    expect(file('JVBERi0xLjQ=')).toEqual([{ inlineData }])
  })

  it('[176] have audio inline', () => {
    expect(chatParts([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }])).toEqual([
      { inlineData: { mimeType: 'audio/mp3', data: 'AAAA' } },
    ])
  })

  it('[177] are refused for an unknown part', () => {
    expect(() => chatParts([{ type: 'hologram', hologram: {} }])).toThrow(expect.objectContaining({ code: 'untranslatable' }))
  })

  it('[181] have only whole characters', () => {
    expect(JSON.stringify(chatParts('a\ud800'))).toBe('[{"text":"a\ufffd"}]')
  })

  it('[182] are the same for a string and for one text part', () => {
    expect(chatParts('Hi')).toEqual(chatParts([{ type: 'text', text: 'Hi' }]))
  })

  it('[80] [78] have three tool messages in one content, with the ids and names of their calls', () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'get_tide', arguments: '{"port":"Rye"}' } })
    const { body } = asked('openai.chat', {
      messages: [
        { role: 'user', content: 'tides?' },
        { role: 'assistant', content: null, tool_calls: ['a', 'b', 'c'].map(call) },
        ...['c', 'a', 'b'].map((tool_call_id) => ({ role: 'tool', tool_call_id, content: `of ${tool_call_id}` })),
      ],
    })
    expect(parts(body)).toEqual(
      ['a', 'b', 'c'].map((id) => ({
        functionResponse: { id, name: 'get_tide', response: { result: `of ${id}` } },
      })),
    )
  })

  it('[152] [150] contain the signature that the client sent back, or else the sentinel', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
    const sent = (extra: object) =>
      parts(
        asked('openai.chat', {
          messages: [
            { role: 'user', content: 'x' },
            { role: 'assistant', content: null, tool_calls: [{ ...call, ...extra }] },
            { role: 'tool', tool_call_id: 'a', content: 'y' },
          ],
        }).body,
        1,
      )
    expect(sent({ extra_content: { google: { thought_signature: 'c2ln' } } })).toMatchObject([{ thoughtSignature: 'c2ln' }])
    expect(sent({})).toMatchObject([{ thoughtSignature: 'skip_thought_signature_validator' }])
  })

  it("[169] [186] respect the model's limits", () => {
    const messages = [{ role: 'user', content: 'x' }]
    const { body } = asked('openai.chat', { messages, reasoning_effort: 'none' }, 'gemini-2.5-pro')
    expect(body.generationConfig).toMatchObject({ thinkingConfig: { thinkingBudget: 128 } })
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }]
    const { body: inWords, lost } = asked(
      'openai.chat',
      { messages, tools, response_format: { type: 'json_object' } },
      'gemini-2.5-pro',
    )
    expect([JSON.stringify(inWords.systemInstruction).includes('JSON'), lost]).toEqual([true, ['response_format']])
  })
})

describe('requests of Messages to Gemini', () => {
  const results = (content: unknown, more: object = {}) =>
    parts(
      asked('anthropic.messages', {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content, ...more }] },
        ],
      }).body,
    )

  it('[85] [86] [88] [89] have results in the form that Gemini reads', () => {
    const of = (content: unknown, more: object = {}) => results(content, more)[0]?.functionResponse
    expect(of('')).toMatchObject({ response: { result: '' } })
    expect(
      of([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ).toMatchObject({ response: { result: 'a\nb' } })
    expect(of('{"$ref":"x"}')).toMatchObject({ response: { result: '{"$ref":"x"}' } })
    expect(of('broken', { is_error: true })).toMatchObject({ response: { error: 'broken' } })
  })

  it('[87] keep an image in a result', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
    expect(results([image])).toMatchObject([{ functionResponse: { parts: [{ inlineData: { data: png } }] } }])
  })

  it('[153] have no thoughts that another family signed', () => {
    const { body } = asked('anthropic.messages', {
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'sonnet' },
            { type: 'text', text: 'Hi' },
          ],
        },
        { role: 'user', content: 'y' },
      ],
    })
    expect(parts(body, 1)).toEqual([{ text: 'Hi' }])
  })
})

describe('requests of Gemini to others', () => {
  const told = (contents: readonly JsonObject[]) => {
    const dialogue = geminiGenerateFormat.inbound.readRequest({ contents }, { model: 'm' })
    const chat = formats['openai.chat'].codec
    const settings = { claudeDefaultMaxTokens: {}, claudeThinkingShare: undefined, geminiSafety: {} }
    const written = chat?.writeRequest(dialogue, { model: 'gpt-4o', quirks: {}, settings, lose: () => {} })
    return arrayAt(written?.body ?? {}, 'messages').filter(isObject)
  }
  const call = { functionCall: { name: 'f', args: {} } }
  const response = (result: string) => ({ functionResponse: { name: 'f', response: { result } } })

  it('[77] match results to calls that have no ids by their order', () => {
    const messages = told([
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts: [call, call] },
      { role: 'user', parts: [response('one'), response('two')] },
    ])
    const calls = arrayAt(messages[1] ?? {}, 'tool_calls').filter(isObject)
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    expect(messages.slice(2)).toMatchObject([
      { role: 'tool', tool_call_id: calls[0]?.id, content: 'one' },
      { role: 'tool', tool_call_id: calls[1]?.id, content: 'two' },
    ])
  })

  it('[178] [180] keep a URL as such, and mention a file in a tool result', () => {
    const file = { fileData: { mimeType: 'image/png', fileUri: 'https://example.test/a.png' } }
    expect(told([{ role: 'user', parts: [file] }])).toMatchObject([
      { content: [{ type: 'image_url', image_url: { url: 'https://example.test/a.png' } }] },
    ])
    const pdf = {
      functionResponse: { name: 'f', response: {}, parts: [{ inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } }] },
    }
    const messages = told([
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts: [call] },
      { role: 'user', parts: [pdf] },
    ])
    expect(messages[2]).toMatchObject({ role: 'tool', content: expect.stringMatching(/attached/) })
  })
})

describe('replies of Gemini to a caller of Chat', () => {
  const whole = (reply: JsonObject) => messageOf(chatReply(gemini.readReply(reply, readContext())))
  const done = (given: readonly JsonObject[], finishReason = 'STOP') => ({
    candidates: [{ content: { role: 'model', parts: given }, finishReason }],
  })

  it('[76] number calls over all chunks', () => {
    const deltas = chatChunks(readSse(gemini, fixture('parallel_calls.sse'))).flatMap((chunk) =>
      arrayAt(chunk, 'choices')
        .filter(isObject)
        .flatMap((choice) => arrayAt(objectAt(choice, 'delta') ?? {}, 'tool_calls').filter(isObject)),
    )
    expect([...new Set(deltas.map(({ index }) => index))]).toEqual([0, 1])
  })

  it('[168] include thoughts in the completion tokens', () => {
    const usage = chatChunks(readSse(gemini, fixture('thoughts.sse'))).at(-1)?.usage
    expect(usage).toMatchObject({ prompt_tokens: 21, completion_tokens: 40, completion_tokens_details: { reasoning_tokens: 35 } })
  })

  it('[179] have generated images, streamed and not', () => {
    const picture = done([{ inlineData: { mimeType: 'image/png', data: png } }])
    const image_url = { url: `data:image/png;base64,${png}` }
    expect(whole(picture).message.images).toMatchObject([{ type: 'image_url', image_url }])
    expect(JSON.stringify(chatChunks(gemini.readReply(picture, readContext())))).toContain(`"url":"${image_url.url}"`)
  })

  it('[256] are empty and filtered for a blocked prompt', () => {
    expect(whole({ promptFeedback: { blockReason: 'SAFETY' } })).toMatchObject({
      finish: 'content_filter',
      message: { content: '' },
    })
  })

  it("[275] have a transcription model's text", () => {
    expect(whole(done([{ audioTranscription: { text: 'Hello' } }])).message.content).toBe('Hello')
  })

  it("[276] call a renamed tool by the caller's name", () => {
    const name = 'mcp server/tool'
    const tools = [{ type: 'function', function: { name, parameters: { type: 'object', properties: {} } } }]
    const { body, ...written } = asked('openai.chat', { messages: [{ role: 'user', content: 'x' }], tools })
    const [group] = arrayAt(body, 'tools').filter(isObject)
    const [declared] = arrayAt(group ?? {}, 'functionDeclarations').filter(isObject)
    const events = gemini.readReply(done([{ functionCall: { name: declared?.name, args: {} } }]), readContext())
    const { message, finish } = messageOf(chatReply(events.flatMap(repairReply(written))))
    expect([finish, message.tool_calls]).toMatchObject(['tool_calls', [{ function: { name, arguments: '{}' } }]])
  })

  it('[151] [152] have the signature on the call that it belongs to', () => {
    const { message } = messageOf(chatReply(readSse(gemini, fixture('parallel_calls.sse'))))
    const calls = arrayAt(message, 'tool_calls').filter(isObject)
    expect(calls.map(({ extra_content }) => extra_content)).toEqual([
      { google: { thought_signature: 'CiQBfixture==' } },
      undefined,
    ])
  })
})

describe('a long conversation', () => {
  // Quadratic time would exceed the test's timeout.
  it('[183] is read and written in linear time', () => {
    const contents = Array.from({ length: 30_001 }, (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'model',
      parts: [{ text: `turn ${at}` }],
    }))
    const settings = { claudeDefaultMaxTokens: {}, claudeThinkingShare: undefined, geminiSafety: {} }
    const dialogue = geminiGenerateFormat.inbound.readRequest({ contents }, { model: 'm' })
    const { body } = gemini.writeRequest(dialogue, { model: 'm', quirks: {}, settings, lose: () => {} })
    expect(body.contents).toHaveLength(30_001)
  })
})
