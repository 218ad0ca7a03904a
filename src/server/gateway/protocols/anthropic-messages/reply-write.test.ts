import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import { readContext, summary } from '../../../../../test/helpers/codecs.ts'
import { dialogueOf } from '../../../../../test/helpers/dialogue.ts'
import { anyReply } from '../../../../../test/helpers/replies.ts'
import {
  block,
  cite,
  close,
  delta,
  end,
  failed,
  finish,
  open,
  openCall,
  sealed,
  start,
  used,
} from '../../../../../test/helpers/reply-events.ts'
import { noUsage } from '../../../../contract/usage.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { WriteContext } from '../codec.ts'
import type { ReplyEvent } from '../reply-events.ts'
import type { JsonObject } from '../wire-format.ts'
import { anthropicMessagesFormat } from './format.ts'
import { writeEvents, writeReply } from './reply-write.ts'

const { codec } = anthropicMessagesFormat
const context: WriteContext = {
  id: 'r1',
  createdAt: 1_790_000_000,
  model: 'claude-asked',
  dialogue: dialogueOf({ from: 'anthropic.messages' }),
  newId: (prefix) => `${prefix}new`,
}

function stream(events: readonly ReplyEvent[], more: Partial<WriteContext> = {}): string {
  const writer = writeEvents({ ...context, ...more })
  return events.map((event) => writer.push(event)).join('')
}

interface Told extends JsonObject {
  readonly type: string
}

/** The data of each event; also checks its name. */
function told(events: readonly ReplyEvent[], more: Partial<WriteContext> = {}): Told[] {
  return eventsIn(Buffer.from(stream(events, more)).toString('latin1')).map(({ name, data }) => {
    const event = JSON.parse(data) as Told
    expect(name).toBe(event.type)
    return event
  })
}

const reply = (...inner: ReplyEvent[]): ReplyEvent[] => [start, ...inner, finish(), used({ input: 9, output: 4 }), end]

/** Violations of the order of events that clients rely on. Source: protocols notes 1.12. */
function orderFaults(events: readonly Told[]): string[] {
  const faults: string[] = []
  let open: unknown
  let next = 0
  for (const [at, event] of events.entries()) {
    if ((event.type === 'message_start') !== (at === 0)) faults.push('message_start is not first, or not alone')
    if ((event.type === 'message_stop') !== (at === events.length - 1)) faults.push('message_stop is not last')
    if ((event.type === 'message_delta') !== (at === events.length - 2)) faults.push('message_delta is not the last but one')
    if (event.type === 'content_block_start') {
      if (open !== undefined) faults.push('two blocks are open')
      if (event.index !== next++) faults.push('an index is left out')
      open = event.index
    }
    if (event.type === 'content_block_delta' && event.index !== open) faults.push('a delta of a closed block')
    if (event.type === 'content_block_stop') {
      if (event.index !== open) faults.push('a block stops twice')
      open = undefined
    }
  }
  return open === undefined ? faults : [...faults, 'a block stays open']
}

describe('a stream to a client of Messages', () => {
  it('[116] [117] [118] has every event with its name, in the only order that clients accept', () => {
    const events = told(reply(...block(0, 'text', 'Hi')))
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(events[0]).toMatchObject({
      message: { id: 'msg_r1', type: 'message', role: 'assistant', model: 'claude-asked', content: [] },
    })
    expect(stream(reply()).endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true)
  })

  it('keeps that order for every possible reply', () => {
    for (let seed = 1; seed <= 400; seed++) expect([seed, orderFaults(told(anyReply(seed)))]).toEqual([seed, []])
  })

  it('[119] has thinking, text and a call as three blocks', () => {
    const blocks = [...block(0, 'reasoning', 'Hm'), ...block(1, 'text', 'Hi'), openCall(2, 'f'), close(2)]
    const starts = told(reply(...blocks)).filter(({ type }) => type === 'content_block_start')
    expect(starts.map((event) => event.content_block)).toMatchObject([
      { type: 'thinking' },
      { type: 'text' },
      { type: 'tool_use' },
    ])
  })

  it('[120] [48] has no empty blocks', () => {
    const events = told(reply(...block(0, 'reasoning', 'Hm'), open(1, 'text'), close(1)))
    expect(events.filter(({ type }) => type === 'content_block_start')).toHaveLength(1)
  })

  it('[121] [60] has usage at the start and at the end of an empty answer', () => {
    const events = told(reply())
    expect(events.map(({ type }) => type)).toEqual(['message_start', 'message_delta', 'message_stop'])
    expect(events[0]).toMatchObject({ message: { usage: { input_tokens: 9, output_tokens: 4 } } })
    expect(events[1]).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 9, output_tokens: 4 } })
  })

  it('[122] holds the stop reason back until the usage is known', () => {
    const writer = writeEvents(context)
    expect(writer.push(start)).toBe('')
    writer.push(open(0, 'text'))
    writer.push(close(0))
    expect(writer.push(finish())).toBe('')
    expect(writer.push(used({ input: 31, output: 2 }))).toBe('')
    expect(writer.push(end)).toContain('"input_tokens":31')
  })

  it('[123] has the local count when the upstream reported none', () => {
    expect(told([start, finish(), used({ input: 12, output: 3 }), end]).at(-2)).toMatchObject({ usage: { input_tokens: 12 } })
  })

  it('has the estimate at the start while no better number is known', () => {
    const [first] = told(reply(...block(0, 'text', 'Hi')), { inputTokensEstimate: 321 })
    expect(first).toMatchObject({ message: { usage: { input_tokens: 321, output_tokens: 0 } } })
  })

  it('[124] does not include cached tokens in the input, so that the three counts add up to the prompt', () => {
    const [, last] = told([
      start,
      used({ input: 100, cacheRead: 9000, cacheWrite: 600, cacheWrite1h: 300, output: 50, reasoning: 30 }),
      end,
    ])
    expect(last?.usage).toEqual({
      input_tokens: 100,
      cache_read_input_tokens: 9000,
      cache_creation_input_tokens: 900,
      cache_creation: { ephemeral_5m_input_tokens: 600, ephemeral_1h_input_tokens: 300 },
      output_tokens: 50,
      output_tokens_details: { thinking_tokens: 30 },
      server_tool_use: null,
    })
  })

  it('has lifetimes of other vendors in addition to its own', () => {
    const [, last] = told([start, used({ input: 1, cacheWrite30m: 20, cacheWrite12h: 300, output: 5 }), end])
    expect(last?.usage).toMatchObject({
      cache_creation_input_tokens: 320,
      cache_creation: {
        ...{ ephemeral_5m_input_tokens: 0, ephemeral_30m_input_tokens: 20 },
        ...{ ephemeral_1h_input_tokens: 0, ephemeral_12h_input_tokens: 300 },
      },
    })
  })

  it('[61] has interleaved calls one after the other, each in one block', () => {
    const inner = [
      openCall(0, 'f'),
      delta(0, '{"a"'),
      openCall(1, 'g'),
      delta(1, '{"b"'),
      delta(0, ':1}'),
      delta(1, ':2}'),
      close(1),
      close(0),
    ]
    const events = told(reply(...inner))
    expect(orderFaults(events)).toEqual([])
    const deltas = events.filter(({ type }) => type === 'content_block_delta')
    const input = (index: number) =>
      deltas.map((event) => (event.index === index ? (event.delta as JsonObject).partial_json : '')).join('')
    expect([input(0), input(1)]).toEqual(['{"a":1}', '{"b":2}'])
  })

  it('[68] has one piece of input even for a call without arguments', () => {
    const deltas = told(reply(openCall(0, 'f'), close(0))).filter(({ type }) => type === 'content_block_delta')
    expect(deltas.map((event) => event.delta)).toEqual([{ type: 'input_json_delta', partial_json: '{}' }])
  })

  it('[72] has invalid JSON unchanged in a stream, and wrapped in an object when not streamed', () => {
    const events = reply(openCall(0, 'f'), delta(0, '{"a":'), close(0))
    expect(stream(events)).toContain(JSON.stringify({ type: 'input_json_delta', partial_json: '{"a":' }))
    expect(writeReply(events, context)).toMatchObject({ content: [{ type: 'tool_use', input: { input: '{"a":' } }] })
  })

  it('[71] has an object for JSON within a JSON string when not streamed', () => {
    const events = reply(openCall(0, 'f'), delta(0, JSON.stringify('{"a":1}')), close(0))
    expect(writeReply(events, context)).toMatchObject({ content: [{ input: { a: 1 } }] })
  })

  it('[73] has the stop reason max_tokens when the limit was reached within a call', () => {
    const events = [start, openCall(0, 'f'), delta(0, '{"a'), close(0), finish('length'), end]
    expect(told(events).at(-2)).toMatchObject({ delta: { stop_reason: 'max_tokens' } })
  })

  it('[125] has the stop sequence only when it is known', () => {
    const known = [start, finish('stop-sequence', { stopSequence: 'END' }), end]
    expect(told(known).at(-2)).toMatchObject({ delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' } })
    expect(told(reply()).at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn', stop_sequence: null } })
  })

  it('has a refusal by the vendor with its explanation, and a refusal by the model as text', () => {
    const filtered = [start, finish('content-filter', { explanation: 'No.' }), end]
    expect(told(filtered).at(-2)).toMatchObject({
      delta: { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: 'No.' } },
    })
    expect(writeReply(reply(...block(0, 'refusal', 'Sorry')), context)).toMatchObject({
      content: [{ type: 'text', text: 'Sorry' }],
      stop_reason: 'end_turn',
    })
  })

  it('[146] has the stop reason pause_turn for a pause', () => {
    expect(told([start, finish('pause'), end]).at(-2)).toMatchObject({ delta: { stop_reason: 'pause_turn' } })
  })

  it('ends with an error and nothing after it', () => {
    const text = stream([start, open(0), delta(0, 'a'), failed({ message: 'Down' }), close(0), end])
    expect(text).toContain('event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Down')
    expect(text.indexOf('event: error')).toBeGreaterThan(text.lastIndexOf('event: content_block_delta'))
    expect(text).not.toContain('message_stop')
  })

  it('has the thinking of another vendor in blocks that can be sent back unchanged', () => {
    const state = sealed(0, { family: 'openai', kind: 'encrypted', value: 'gAAA' })
    const { content } = writeReply(reply(open(0, 'reasoning'), delta(0, 'Hm'), state, close(0)), context)
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hm', signature: '' },
      { type: 'redacted_thinking', data: 'openai:encrypted:gAAA' },
    ])
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'assistant', content }] }
    expect(anthropicMessagesFormat.inbound.readRequest(body, {}).turns[0]?.parts).toEqual([
      { kind: 'reasoning', text: 'Hm', opaque: { family: 'openai', kind: 'encrypted', value: 'gAAA' } },
    ])
  })

  it('has the citations of a text', () => {
    expect(writeReply(reply(open(0), delta(0, 'Hi'), cite(0, 0, 2), close(0)), context)).toMatchObject({
      content: [{ citations: [{ type: 'web_search_result_location', url: 'https://a.example', title: 'A' }] }],
    })
  })

  it('[155] [217] is read back unchanged: texts, thinking, opaque state, calls and usage', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const events = anyReply(seed).filter((event) => event.type !== 'opaque' || event.opaque.family === 'anthropic')
      const reader = codec.readEvents(readContext())
      const again = eventsIn(Buffer.from(stream(events)).toString('latin1')).flatMap((event) => reader.push(event))
      expect([seed, contentOf(again)]).toEqual([seed, contentOf(events)])
      expect(summary(again).usage).toEqual(summary(events).usage ?? noUsage)
    }
  })
})

/** A reply's content, with free-text calls and media in the form that they have in this format. */
function contentOf(events: readonly ReplyEvent[]) {
  const { blocks } = summary(events)
  const opened = events.flatMap((event) => (event.type === 'open' ? [event] : []))
  const spoken = blocks.map(({ block, text }, at) => {
    const media = opened[at]
    if (media && 'mediaType' in media) return `[${block}: ${media.mediaType}]`
    return block === 'text' || block === 'refusal' ? text : ''
  })
  const calls = blocks.flatMap(({ block, name, callId, text }) => {
    if (block === 'custom-tool-call') return [{ name, callId, input: { input: text } }]
    return block === 'tool-call' ? [{ name, callId, input: JSON.parse(text || '{}') }] : []
  })
  return {
    spoken: spoken.join(''),
    thoughts: blocks.map(({ block, text }) => (block === 'reasoning' ? text : '')).join(''),
    // A block of this format has one opaque state: the same one twice is written once.
    seals: [
      ...new Set(events.flatMap((event) => (event.type === 'opaque' ? [`${event.opaque.kind} ${event.opaque.value}`] : []))),
    ],
    calls,
  }
}

describe('the official SDK', () => {
  let body = ''
  let type = 'text/event-stream'
  const answer = async () => new Response(body, { headers: { 'content-type': type } })
  const client = new Anthropic({ apiKey: 'k', maxRetries: 0, fetch: answer })
  const request = { model: 'claude-asked', max_tokens: 64, messages: [{ role: 'user' as const, content: 'Hi' }] }

  it('assembles every stream into the same message as the non-streamed reply', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const events = anyReply(seed)
      body = stream(events)
      const message = await client.messages.stream(request).finalMessage()
      const whole = JSON.parse(JSON.stringify(writeReply(events, context)))
      // The SDK takes the split of cache writes from the start event.
      expect([seed, message.content, message.stop_reason, message.usage.output_tokens]).toEqual([
        seed,
        whole.content,
        whole.stop_reason,
        whole.usage.output_tokens,
      ])
    }
  })

  it('reads non-streamed replies', async () => {
    type = 'application/json'
    body = JSON.stringify(writeReply(reply(...block(0, 'text', 'Hi 😀')), context))
    const message = await client.messages.create(request)
    expect(message).toMatchObject({ id: 'msg_r1', content: [{ type: 'text', text: 'Hi 😀' }], stop_reason: 'end_turn' })
    expect(message.usage).toMatchObject({ input_tokens: 9, output_tokens: 4 })
  })
})
