import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { grammarFaults, readContext, readerFaults, readSse, summary } from '../../../../../test/helpers/codecs.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { anthropicMessagesFormat } from './format.ts'

const { codec } = anthropicMessagesFormat
const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')
const read = (name: string) => readSse(codec, fixture(`${name}.sse`))
const streamed = (...events: object[]) =>
  readSse(codec, events.map((data) => `event: ${'type' in data ? data.type : ''}\ndata: ${JSON.stringify(data)}\n\n`).join(''))

const begin = (usage: object = { input_tokens: 25, output_tokens: 1 }) => ({
  type: 'message_start',
  message: { content: [], usage },
})
const open = (content_block: object, index = 0) => ({ type: 'content_block_start', index, content_block })
const more = (delta: object, index = 0) => ({ type: 'content_block_delta', index, delta })
const close = (index = 0) => ({ type: 'content_block_stop', index })
const stop = (stop_reason: string, usage: object = { output_tokens: 9 }, delta: object = {}) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null, ...delta },
  usage,
})
const end = { type: 'message_stop' }
const text = (value: string) => more({ type: 'text_delta', text: value })
const types = (events: readonly ReplyEvent[]) => events.map((event) => event.type)

describe('a stream of Messages', () => {
  it('has its text, usage and finish reason, and nothing after its end', () => {
    const events = read('text')
    expect(grammarFaults(events)).toEqual([])
    expect(types(events).slice(0, 3)).toEqual(['start', 'usage', 'open'])
    expect(types(events).slice(-3)).toEqual(['usage', 'finish', 'end'])
    expect(summary(events)).toMatchObject({ finish: 'stop', isComplete: true, blocks: [{ block: 'text' }] })
    expect(summary(read('unicode')).blocks[0]?.text).toMatch(/\p{Emoji_Presentation}/u)
  })

  it('[119] has thinking, then text; the signature belongs to the thinking', () => {
    const events = read('thinking')
    expect(summary(events)).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Two ports; compare heights.' },
        { block: 'text', text: 'Rye is higher.' },
      ],
      usage: { output: 60, reasoning: 45 },
    })
    expect(events.filter((event) => event.type === 'opaque')).toEqual([
      { type: 'opaque', index: 0, opaque: { family: 'anthropic', kind: 'signature', value: 'EqQBfixture==' } },
    ])
  })

  it('[155] [166] keeps encrypted thinking byte for byte, without text', () => {
    const events = read('thinking_omitted_redacted')
    expect(grammarFaults(events)).toEqual([])
    expect(summary(events).blocks.map(({ block, text: said }) => [block, said])).toEqual([
      ['reasoning', ''],
      ['reasoning', ''],
      ['text', 'ok'],
    ])
    expect(events.flatMap((event) => (event.type === 'opaque' ? [event.opaque] : []))).toEqual([
      { family: 'anthropic', kind: 'signature', value: 'EqQBfixture==' },
      { family: 'anthropic', kind: 'redacted', value: 'EmwKAhgBfixture' },
    ])
  })

  it('[74] [75] keeps text before and after a call', () => {
    const call = [open({ type: 'tool_use', id: 't', name: 'f', input: {} }, 1), close(1)]
    const events = streamed(
      begin(),
      open({ type: 'text', text: '' }),
      text('a'),
      close(),
      ...call,
      open({ type: 'text', text: 'b' }, 2),
      close(2),
      stop('tool_use'),
      end,
    )
    expect(summary(events).blocks.map((block) => [block.block, block.text])).toEqual([
      ['text', 'a'],
      ['tool-call', '{}'],
      ['text', 'b'],
    ])
  })

  it('has each of several parallel calls with its own input', () => {
    expect(summary(read('parallel_tools'))).toMatchObject({
      blocks: [
        { name: 'get_tide', callId: 'toolu_01FXA', text: '{"port":"Rye"}' },
        { name: 'get_tide', callId: 'toolu_01FXB', text: '{"port":"Hythe"}' },
      ],
      finish: 'tool-calls',
    })
  })

  it('[61] may have interleaved calls, each of which is closed at its own end', () => {
    const a = (partial_json: string) => more({ type: 'input_json_delta', partial_json }, 0)
    const b = (partial_json: string) => more({ type: 'input_json_delta', partial_json }, 1)
    const call = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
    const events = streamed(
      begin(),
      open(call('x'), 0),
      a('{"n"'),
      open(call('y'), 1),
      b('{"m"'),
      a(':1}'),
      b(':2}'),
      close(0),
      close(1),
      stop('tool_use'),
      end,
    )
    expect(grammarFaults(events)).toEqual([])
    expect(summary(events).blocks.map((block) => block.text)).toEqual(['{"n":1}', '{"m":2}'])
  })

  it('[68] has an empty object for a call without input, and the input of the start event if there are no deltas', () => {
    expect(summary(read('tool_use_no_args')).blocks).toMatchObject([{ name: 'list_ports', text: '{}' }])
    const events = streamed(
      begin(),
      open({ type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }),
      close(),
      stop('tool_use'),
      end,
    )
    expect(summary(events).blocks).toMatchObject([{ text: '{"a":1}' }])
  })

  it('[67] creates one id for a call without an id', () => {
    const events = streamed(begin(), open({ type: 'tool_use', id: '', name: 'f', input: {} }), close(), stop('tool_use'), end)
    expect(summary(events).blocks).toMatchObject([{ callId: 'call_made_1' }])
  })

  it('[73] finishes with length when the limit was reached within a call', () => {
    expect(summary(read('max_tokens_mid_tool'))).toMatchObject({ blocks: [{ text: '{"port":"R' }], finish: 'length' })
  })

  it('[51] [52] finishes with tool-calls if it has calls, and never without calls', () => {
    const call = [open({ type: 'tool_use', id: 't', name: 'f', input: {} }), close()]
    expect(summary(streamed(begin(), ...call, stop('end_turn'), end)).finish).toBe('tool-calls')
    expect(summary(streamed(begin(), stop('tool_use'), end)).finish).toBe('stop')
    expect(summary(streamed(begin(), stop('something_new'), end)).finish).toBe('other')
  })

  it('is an error when a second message begins in it, whichever block is open', () => {
    const call = open({ type: 'tool_use', id: 't', name: 'f', input: {} })
    expect(summary(streamed(begin(), call, begin(), stop('end_turn'), end)).error).toMatchObject({ status: 502 })
  })

  it('[278] ignores the same beginning once more, and its usage', () => {
    const start = { ...begin(), message: { ...begin().message, id: 'msg_1' } }
    const again = { ...start, message: { ...start.message, usage: { input_tokens: 9000, output_tokens: 1 } } }
    const events = streamed(start, again, open({ type: 'text', text: '' }), text('Rye.'), start, close(), stop('end_turn'), end)
    expect(summary(events)).toMatchObject({ blocks: [{ text: 'Rye.' }], usage: { input: 25, output: 9 }, isComplete: true })
    const other = { ...start, message: { ...start.message, id: 'msg_2' } }
    expect(summary(streamed(start, other, stop('end_turn'), end)).error).toMatchObject({ status: 502 })
  })

  it.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'context-full'],
    ['refusal', 'content-filter'],
    ['pause_turn', 'pause'],
  ])('finishes for %s with %s', (told, reason) => {
    expect(summary(streamed(begin(), stop(told), end)).finish).toBe(reason)
  })

  it('[125] has the stop sequence that was reached', () => {
    const events = streamed(begin(), stop('stop_sequence', {}, { stop_sequence: 'END' }), end)
    expect(events.find((event) => event.type === 'finish')).toEqual({
      type: 'finish',
      reason: 'stop-sequence',
      stopSequence: 'END',
    })
  })

  it('[145] reports a refusal without text with its explanation', () => {
    const events = read('refusal')
    expect(events.find((event) => event.type === 'finish')).toEqual({
      type: 'finish',
      reason: 'content-filter',
      explanation: 'Declined.',
    })
    expect(summary(events).blocks).toEqual([])
  })

  it("has no block for the vendor's own search, but its results as citations of the complete text", () => {
    const events = read('web_search')
    expect(grammarFaults(events)).toEqual([])
    expect(summary(events)).toMatchObject({
      blocks: [{ block: 'text', text: 'High water is 3.2 m.' }],
      usage: { searches: 1 },
      finish: 'stop',
    })
    expect(events.flatMap((event) => (event.type === 'cite' ? [event] : []))).toEqual([
      { type: 'cite', index: 0, citation: { url: 'https://example.test/rye', title: 'Rye tides', start: 0, end: 20 } },
    ])
  })

  it('[120] has no empty blocks', () => {
    const quiet = [
      open({ type: 'text', text: '' }),
      text(''),
      close(),
      open({ type: 'thinking', thinking: '', signature: '' }, 1),
      close(1),
    ]
    expect(summary(streamed(begin(), ...quiet, stop('end_turn'), end))).toMatchObject({ blocks: [], isComplete: true })
    expect(summary(read('empty_content'))).toMatchObject({ blocks: [], finish: 'stop', isComplete: true })
  })

  it('never has thinking in a text block, whichever block its deltas name', () => {
    const events = streamed(
      begin(),
      open({ type: 'text', text: '' }),
      text('a'),
      more({ type: 'thinking_delta', thinking: 'b' }),
      text('c'),
      close(),
      stop('end_turn'),
      end,
    )
    expect(grammarFaults(events)).toEqual([])
    expect(summary(events).blocks.map((block) => [block.block, block.text])).toEqual([
      ['text', 'a'],
      ['reasoning', 'b'],
      ['text', 'c'],
    ])
  })

  it('reports an error of the upstream, as the last event', () => {
    const events = read('error_midstream')
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded', status: 529 },
    })
    expect(streamed(begin(), { type: 'error', error: { type: 'api_error', message: 'x' } }, text('late'), end).at(-1)?.type).toBe(
      'error',
    )
  })

  it('[11] [12] is complete without its last event only after a stop reason', () => {
    expect(summary(streamed(begin(), open({ type: 'text', text: 'a' }), stop('end_turn'))).isComplete).toBe(true)
    const cut = streamed(begin(), open({ type: 'text', text: 'a' }))
    expect(grammarFaults(cut)).toEqual([])
    expect(summary(cut).isComplete).toBe(false)
    expect(readSse(codec, '')).toEqual([])
  })

  it('[117] has one start event, even if the upstream begins twice', () => {
    expect(types(streamed(begin(), begin(), stop('end_turn'), end)).filter((type) => type === 'start')).toHaveLength(1)
  })

  it('is read without event names', () => {
    const bare = fixture('text.sse').replace(/^event: .*\n/gm, '')
    expect(readSse(codec, bare)).toEqual(read('text'))
  })

  it('keeps the grammar for any input', () => {
    const samples = [
      'thinking',
      'thinking_omitted_redacted',
      'parallel_tools',
      'web_search',
      'refusal',
      'error_midstream',
    ].flatMap((name) => eventsIn(fixture(`${name}.sse`)))
    expect(readerFaults(codec, samples)).toEqual([])
  })
})

describe('usage in a stream of Messages', () => {
  const usageOf = (...events: object[]) => summary(streamed(...events)).usage

  it('[207] has the input from the start when the end has none', () => {
    expect(usageOf(begin(), stop('end_turn', { input_tokens: null, output_tokens: 7 }), end)).toMatchObject({
      input: 25,
      output: 7,
    })
  })

  it('[208] is read from the end rather than from the start', () => {
    expect(usageOf(begin(), stop('end_turn', { input_tokens: 900, output_tokens: 7 }), end)).toMatchObject({
      input: 900,
      output: 7,
    })
  })

  it('[210] has cache writes of an hour and of five minutes separately', () => {
    expect(summary(read('cached_usage')).usage).toMatchObject({
      input: 200,
      cacheRead: 2000,
      cacheWrite: 300,
      cacheWrite1h: 100,
      output: 2,
    })
  })

  it('has all reported cache lifetimes separately, even where the end of a stream lists none', () => {
    const creation = { ephemeral_5m_input_tokens: 1, ephemeral_30m_input_tokens: 2, ephemeral_12h_input_tokens: 4 }
    const usage = { input_tokens: 5, cache_creation_input_tokens: 7, cache_creation: creation, output_tokens: 1 }
    const written = { cacheWrite: 1, cacheWrite30m: 2, cacheWrite1h: 0, cacheWrite12h: 4 }
    expect(usageOf(begin(usage), stop('end_turn'), end)).toMatchObject(written)
    expect(usageOf(begin(usage), stop('end_turn', { cache_creation_input_tokens: 7 }), end)).toMatchObject(written)
    expect(usageOf(begin({ ...usage, cache_creation_input_tokens: null }), stop('end_turn'), end)).toMatchObject(written)
  })

  it('[209] never counts below zero, even when the parts contradict the total', () => {
    const odd = {
      input_tokens: 5,
      cache_creation_input_tokens: 10,
      cache_creation: { ephemeral_1h_input_tokens: 50 },
      output_tokens: 1,
    }
    expect(usageOf(begin(odd), stop('end_turn'), end)).toMatchObject({ input: 5, cacheWrite: 0, cacheWrite1h: 50 })
    expect(usageOf(begin({ input_tokens: -5, output_tokens: 1 }), stop('end_turn'), end)).toBeUndefined()
  })

  it('[211] includes every iteration, also those missing in the totals', () => {
    const iterations = [
      {
        type: 'compaction',
        input_tokens: 180_000,
        output_tokens: 3500,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      },
      {
        type: 'message',
        input_tokens: 23_000,
        output_tokens: 1000,
        cache_read_input_tokens: 10,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
      },
    ]
    const usage = { input_tokens: 23_000, output_tokens: 1000, iterations }
    expect(usageOf(begin(), stop('end_turn', usage), end)).toMatchObject({
      input: 203_000,
      output: 4500,
      cacheRead: 10,
      cacheWrite: 20,
      cacheWrite1h: 10,
    })
    const odd = { ...usage, iterations: [{ input_tokens: -5 }] }
    expect(usageOf(begin(), stop('end_turn', odd), end)).toMatchObject({ input: 23_000, output: 1000 })
  })
})

describe('a whole reply of Messages', () => {
  it('has the same events as a stream', () => {
    const events = codec.readReply(JSON.parse(fixture('nonstream_tool_use.json')), readContext())
    expect(grammarFaults(events)).toEqual([])
    expect(summary(events)).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Need tide.' },
        { block: 'text', text: 'Checking.' },
        { block: 'tool-call', callId: 'toolu_01FXA', name: 'get_tide', text: '{"port":"Rye"}' },
      ],
      usage: { input: 25, output: 48, reasoning: 10 },
      finish: 'tool-calls',
      isComplete: true,
    })
    expect(events.filter((event) => event.type === 'opaque')).toHaveLength(1)
  })

  it('has the citations of its text', () => {
    const citation = {
      type: 'web_search_result_location',
      url: 'https://a.test',
      title: 'A',
      cited_text: 'x',
      encrypted_index: 'y',
    }
    const document = { type: 'char_location', cited_text: 'x', document_index: 0, start_char_index: 0, end_char_index: 1 }
    const events = codec.readReply({ content: [{ type: 'text', text: 'Yes.', citations: [citation, document] }] }, readContext())
    expect(events.filter((event) => event.type === 'cite')).toEqual([
      { type: 'cite', index: 0, citation: { url: 'https://a.test', title: 'A', start: 0, end: 4 } },
    ])
  })

  it('is an error when it is not a message', () => {
    expect(codec.readReply(JSON.parse(fixture('error_529.json')), readContext())).toMatchObject([
      { type: 'error', error: { type: 'overloaded_error', status: 529 } },
    ])
    expect(codec.readReply({ hello: 1 }, readContext())).toMatchObject([{ type: 'error' }])
    expect(codec.readReply({ error: { message: 'no' } }, readContext())).toMatchObject([
      { type: 'error', error: { message: 'no' } },
    ])
  })
})

describe('what the vendor left out of the request', () => {
  const input_transformations = [{ type: 'thinking', action: 'removed', reason: 'organization_binding_mismatch' }]
  const lostIn = (events: readonly object[]) => {
    const lost = new Set<string>()
    const reader = codec.readEvents({ ...readContext(), lose: (name) => lost.add(name) })
    for (const data of events) reader.push({ name: '', data: JSON.stringify(data) })
    return [...lost]
  }

  it.each<[string, object[]]>([
    ['the beginning', [{ ...begin(), message: { ...begin().message, input_transformations } }, open({ type: 'text', text: '' })]],
    ['the end', [begin(), stop('end_turn', undefined, { input_transformations })]],
    ['the end, beside the delta', [begin(), { ...stop('end_turn'), input_transformations }]],
  ])('[298] is told by name, from %s', (_place, events) => {
    expect(lostIn(events)).toEqual(['input_transformations'])
  })

  it('is nothing where the list is empty', () => {
    expect(lostIn([begin(), stop('end_turn', undefined, { input_transformations: [] })])).toEqual([])
  })
})
