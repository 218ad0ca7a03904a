import { describe, expect, it } from 'vitest'
import { eventsIn } from '../../src/server/base/lib/bytes/sse.ts'
import type { Inbound } from '../../src/server/gateway/protocols/codec.ts'
import type { CallerFormat } from '../../src/server/gateway/protocols/format.ts'
import { formats } from '../../src/server/gateway/protocols/index.ts'
import { beginBackground, closingEvent } from '../../src/server/gateway/protocols/openai-responses/background.ts'
import { listInput } from '../../src/server/gateway/protocols/openai-responses/input-list.ts'
import { contextOf, replyOf } from './any-writing.ts'
import { faultsOf, type Typed } from './compile.ts'

/**
 * Every reply and every event written here conforms to the types of the official SDKs, checked by the compiler: replies of all kinds
 * are written as literals of these types. Literals may not have members that a type does not have.
 */
const seeds = Array.from({ length: 120 }, (_, at) => at + 1)
const error = { message: 'it broke', type: 'server_error', code: 'broken', param: null, status: 503 }

interface Dialect {
  readonly format: CallerFormat
  readonly reply: string
  readonly event: string
}

const dialects: readonly Dialect[] = [
  { format: 'openai.chat', reply: 'ChatReply', event: 'ChatChunk | OpenAiError' },
  { format: 'openai.completions', reply: 'CompletionsReply', event: 'CompletionsChunk | OpenAiError' },
  { format: 'openai.responses', reply: 'ResponsesReply', event: 'ResponsesEvent' },
  { format: 'anthropic.messages', reply: 'MessagesReply', event: 'MessagesEvent' },
  { format: 'gemini.generate', reply: 'GeminiReply', event: 'GeminiReply | GeminiError' },
]

/** The data of all events; every fourth reply ends with an error. */
function eventsOf(inbound: Inbound, format: CallerFormat, seed: number): string[] {
  const writer = inbound.writeEvents(contextOf(format, seed))
  const events = replyOf(seed)
  const cut = seed % 4 === 0 ? [...events.slice(0, Math.ceil(events.length / 2)), { type: 'error', error } as const] : events
  const text = cut.map((event) => writer.push(event)).join('')
  return eventsIn(Buffer.from(text).toString('latin1'))
    .map(({ data }) => data)
    .filter((data) => data !== '[DONE]')
}

function typedOf({ format, reply, event }: Dialect): Typed[] {
  const inbound = formats[format].inbound
  if (!inbound) throw new Error(`${format} is not written`)
  return seeds.flatMap((seed) => [
    { type: reply, json: JSON.stringify(inbound.writeReply(replyOf(seed), contextOf(format, seed))) },
    ...eventsOf(inbound, format, seed).map((json) => ({ type: event, json })),
  ])
}

/** Replies about responses stored here, in addition to those of their writers. */
function upstreamResponses(): Typed[] {
  const { response, events } = beginBackground({
    ...contextOf('openai.responses', 6),
    kept: { previousId: '', isBackground: true },
  })
  const ends = ['completed', 'incomplete', 'failed', 'cancelled'].map((status, at) => closingEvent({ ...response, status }, at))
  const input = [
    { role: 'user', content: 'Hi' },
    { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }] },
    { type: 'function_call', call_id: 'c', name: 'get_tide', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'high' },
  ]
  return [
    { type: 'ResponsesReply', json: JSON.stringify(response) },
    ...[...events, ...ends].map((event) => ({ type: 'ResponsesEvent', json: JSON.stringify(event) })),
    { type: 'ResponsesItems', json: JSON.stringify(listInput(input, new URLSearchParams())) },
  ]
}

describe('replies, checked with the types of the official SDKs', () => {
  it('have every member that the types require, and no other', async () => {
    const files = Object.fromEntries(dialects.map((dialect) => [dialect.format, typedOf(dialect)]))
    expect(await faultsOf({ ...files, kept: upstreamResponses() })).toEqual([])
  })

  it('are checked by a compiler that reports missing, unknown and mistyped members', async () => {
    const right = [
      { type: 'MessagesEvent', json: '{"type":"message_stop"}' },
      { type: 'GeminiReply', json: '{"candidates":[{"finishReason":"STOP"}]}' },
    ]
    const wrong = [
      { type: 'ChatReply', json: '{"id":"a","object":"chat.completion","created":1,"model":"m"}' },
      { type: 'ChatChunk', json: '{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"delta":{}}]}' },
      { type: 'ResponsesEvent', json: '{"type":"response.output_text.delta","delta":"a"}' },
      { type: 'MessagesEvent', json: '{"type":"message_stop","extra":1}' },
      { type: 'GeminiReply', json: '{"candidates":[{"finishReason":"NO_SUCH_REASON"}]}' },
    ]
    const faults = await faultsOf({ both: [...right, ...wrong] })
    const found = wrong.filter(({ json }) => faults.some((fault) => fault.includes(json)))
    expect([faults.length, found]).toEqual([wrong.length, wrong])
  })
})
