import { describe, expect, it } from 'vitest'
import { codecOf, inboundOf, readContext } from '../../../../test/helpers/codecs.ts'
import { dialogueOf } from '../../../../test/helpers/dialogue.ts'
import { block, cite, close, end, finish, open, openCall, openMedia, start } from '../../../../test/helpers/reply-events.ts'
import { noUsage } from '../../../contract/usage.ts'
import { writeUsage as writeMessagesUsage } from './anthropic-messages/usage.ts'
import type { CallerFormat, Format } from './format.ts'
import { writeGeminiUsage } from './gemini-generate/usage.ts'
import { writeChatUsage } from './openai-chat/usage.ts'
import { writeResponsesUsage } from './openai-responses/usage.ts'
import type { Citation, ReplyEvent } from './reply-events.ts'
import type { JsonObject } from './wire-format.ts'

/** Content of replies that another format cannot have is named, and what can be carried is carried. */

function read(format: Format, reply: JsonObject) {
  const lost: string[] = []
  const events = codecOf(format).readReply(reply, { ...readContext(), lose: (name) => lost.push(name) })
  const cited = events.flatMap((event): Citation[] => (event.type === 'cite' ? [event.citation] : []))
  return { lost: [...new Set(lost)], cited, events }
}

function readStream(format: Format, events: readonly JsonObject[]) {
  const lost: string[] = []
  const reader = codecOf(format).readEvents({ ...readContext(), lose: (name) => lost.push(name) })
  const made = events.flatMap((data) => reader.push({ name: String(data.type ?? ''), data: JSON.stringify(data) }))
  const all = [...made, ...reader.finish()]
  return { lost: [...new Set(lost)], cited: all.flatMap((event): Citation[] => (event.type === 'cite' ? [event.citation] : [])) }
}

const usage = { input_tokens: 5, output_tokens: 3 }
const said = { type: 'text', text: 'Rye.' }
const page = { url: 'https://a.test/', title: 'A' }
const message = (content: readonly JsonObject[], more: JsonObject = {}) => ({ content, stop_reason: 'end_turn', usage, ...more })
const response = (...content: readonly JsonObject[]) => ({ status: 'completed', output: [{ type: 'message', id: 'm', content }] })
const generated = (parts: readonly JsonObject[], more: JsonObject = {}) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', ...more }],
})
const chat = (members: JsonObject) => ({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Rye.', ...members }, finish_reason: 'stop' }],
})
const cohere = (citations: readonly JsonObject[]) => ({
  message: { content: [said], citations },
  finish_reason: 'COMPLETE',
  usage: { tokens: usage },
})
const converse = (...content: readonly JsonObject[]) => ({
  output: { message: { role: 'assistant', content } },
  stopReason: 'end_turn',
  usage: { inputTokens: 5, outputTokens: 3 },
})
const quoted = (citation: JsonObject) => ({ citationsContent: { content: [{ text: 'Rye.' }], citations: [citation] } })

const losses: readonly (readonly [Format, string, JsonObject, readonly string[]])[] = [
  [
    'openai.chat',
    'a reference of Mistral',
    chat({ content: [said, { type: 'reference', reference_ids: [1] }] }),
    ['content.reference'],
  ],
  [
    'openai.chat',
    'tools that the host ran',
    chat({ executed_tools: [{ type: 'search' }], name: 'a', refusal: null }),
    ['executed_tools'],
  ],
  [
    'openai.chat',
    'log probabilities of a refusal',
    { choices: [{ ...chat({}).choices[0], logprobs: { refusal: [{}] } }] },
    ['logprobs.refusal'],
  ],
  ['openai.responses', 'speech', response({ type: 'output_audio', data: 'AAAA', transcript: 'Rye.' }), ['output_audio']],
  ['openai.responses', 'a part of an unknown type', response({ type: 'output_scent', text: 'Rye.' }), ['output_scent']],
  [
    'openai.responses',
    'changes of the input',
    { ...response(said), input_transformations: [{ type: 'reasoning' }] },
    ['input_transformations'],
  ],
  [
    'anthropic.messages',
    'a tool of the vendor',
    message([{ type: 'server_tool_use', id: 's', name: 'web_search' }, said]),
    ['server_tool_use'],
  ],
  [
    'anthropic.messages',
    'the category of a refusal',
    message([], { stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.' } }),
    ['stop_details.category'],
  ],
  ['anthropic.messages', 'a container', message([said], { container: { id: 'c' } }), ['container']],
  [
    'anthropic.messages',
    'a citation of a document',
    message([{ ...said, citations: [{ type: 'char_location' }] }]),
    ['citations'],
  ],
  [
    'gemini.generate',
    'uses of tools of Google',
    generated([{ toolCall: { id: 't' } }, { toolResponse: { id: 't' } }, { text: 'Rye.' }]),
    ['toolCall', 'toolResponse'],
  ],
  ['gemini.generate', 'a file by URL', generated([{ fileData: { fileUri: 'gs://a/b' } }, { text: 'Rye.' }]), ['fileData']],
  ['gemini.generate', 'a part of an unknown type', generated([{ scent: { of: 'sea' } }, { text: 'Rye.' }]), ['scent']],
  [
    'cohere.chat',
    'a citation of a document without a URL',
    cohere([{ start: 0, end: 3, sources: [{ type: 'document', document: { id: 'd' } }] }]),
    ['citations'],
  ],
  ['bedrock.converse', 'a citation of a document', converse(quoted({ location: { documentPage: { start: 1 } } })), ['citations']],
  [
    'bedrock.converse',
    'a tool of the vendor',
    converse(
      { toolUse: { type: 'server_tool_use', name: 'search', toolUseId: 't', input: {} } },
      { toolResult: { toolUseId: 't' } },
      { text: 'Rye.' },
    ),
    ['server_tool_use', 'toolResult'],
  ],
]

describe('what no other format has in a reply', () => {
  it.each(losses)('[286] is named for %s: %s', (format, _, reply, names) => {
    expect(read(format, reply).lost).toEqual(names)
  })

  it('[286] is told as far as it is text', () => {
    const texts = read('openai.responses', response({ type: 'output_audio', data: 'AAAA', transcript: 'Rye.' })).events
    expect(texts).toContainEqual({ type: 'delta', index: 0, text: 'Rye.' })
  })
})

describe('citations with a URL', () => {
  const cited: readonly (readonly [Format, string, JsonObject])[] = [
    ['cohere.chat', 'a document', cohere([{ start: 0, end: 3, sources: [{ type: 'document', document: page }] }])],
    ['cohere.chat', 'a result of a tool', cohere([{ start: 0, end: 3, sources: [{ type: 'tool', tool_output: page }] }])],
    ['bedrock.converse', 'a web page', converse(quoted({ title: 'A', location: { web: { url: page.url } } }))],
    [
      'bedrock.converse',
      'a search result',
      converse(quoted({ title: 'A', source: page.url, location: { searchResultLocation: { start: 0 } } })),
    ],
    [
      'anthropic.messages',
      'a search result',
      message([{ ...said, citations: [{ type: 'search_result_location', source: page.url, title: 'A' }] }]),
    ],
    [
      'gemini.generate',
      'sources of the whole text',
      generated([{ text: 'Rye.' }], { groundingMetadata: { groundingChunks: [{ web: { uri: page.url, title: 'A' } }] } }),
    ],
    [
      'gemini.generate',
      'sources of a picture',
      generated([{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }], {
        groundingMetadata: { groundingChunks: [{ web: { uri: page.url, title: 'A' } }] },
      }),
    ],
  ]

  it.each(cited)('[286] are carried from %s: %s', (format, _, reply) => {
    expect(read(format, reply)).toMatchObject({ cited: [page], lost: [] })
  })

  it('[286] are carried in a stream of Cohere', () => {
    const citation = {
      start: 0,
      end: 3,
      sources: [
        { type: 'document', document: page },
        { type: 'document', document: {} },
      ],
    }
    const told = readStream('cohere.chat', [
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Rye.' } } } },
      { type: 'citation-start', index: 0, delta: { message: { citations: citation } } },
      { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: { tokens: usage } } },
    ])
    expect(told).toEqual({ cited: [{ ...page, start: 0, end: 3 }], lost: ['citations'] })
  })
})

describe('what the format of the caller cannot have', () => {
  const write = (format: CallerFormat, events: readonly ReplyEvent[], usesFunctions = false) => {
    const lost: string[] = []
    let ids = 0
    inboundOf(format).writeReply(events, {
      ...{ id: 'r', createdAt: 1, model: 'm', dialogue: dialogueOf({ from: format, usesFunctions }) },
      newId: (prefix) => `${prefix}${++ids}`,
      lose: (name) => lost.push(name),
    })
    return lost
  }
  const cutCall: ReplyEvent[] = [
    openCall(0),
    { type: 'delta', index: 0, text: '{"port":"R' },
    { type: 'close', index: 0, isCut: true },
  ]
  const calls = [0, 1].flatMap((index): ReplyEvent[] => [openCall(index), { type: 'delta', index, text: '{}' }, close(index)])
  const picture: ReplyEvent[] = [openMedia(0, 'image/png'), { type: 'delta', index: 0, text: 'iVBORw0KGgo=' }, close(0)]

  it.each<[CallerFormat, string, readonly ReplyEvent[], boolean, readonly string[]]>([
    ['gemini.generate', 'a call that was cut off', [...cutCall, finish('length')], false, ['tool-call']],
    ['openai.chat', 'a call that was cut off, which it can have', [...cutCall, finish('length')], false, []],
    ['openai.chat', 'a second call in the older form', [...calls, finish('tool-calls')], true, ['tool-call']],
    [
      'anthropic.messages',
      'sources of a picture',
      [...picture, open(1), cite(1, 0, 0), close(1), finish()],
      false,
      ['citations'],
    ],
    [
      'openai.chat',
      'sources of a picture, which it can have',
      [...picture, open(1), cite(1, 0, 0), close(1), finish()],
      false,
      [],
    ],
    [
      'openai.responses',
      'an explanation beside a text',
      [...block(0, 'text', 'Rye.'), finish('content-filter', { explanation: 'No.' })],
      false,
      ['explanation'],
    ],
  ])('[286] is named for a caller of %s: %s', (format, _, events, usesFunctions, names) => {
    expect(write(format, [start, ...events, end], usesFunctions)).toEqual(names)
  })
})

it('[287] counts that a caller sees add up when a host reports more reasoning than output', () => {
  const told = { ...noUsage, input: 300, output: 2040, reasoning: 2948 }
  expect(writeGeminiUsage(told)).toEqual({
    promptTokenCount: 300,
    candidatesTokenCount: 0,
    thoughtsTokenCount: 2040,
    totalTokenCount: 2340,
  })
  expect(writeChatUsage(told)).toMatchObject({
    ...{ completion_tokens: 2040, total_tokens: 2340 },
    completion_tokens_details: { reasoning_tokens: 2040 },
  })
  expect(writeResponsesUsage(told)).toMatchObject({ output_tokens: 2040, output_tokens_details: { reasoning_tokens: 2040 } })
  expect(writeMessagesUsage(told)).toMatchObject({ output_tokens: 2040, output_tokens_details: { thinking_tokens: 2040 } })
})
