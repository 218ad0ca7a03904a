import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { grammarFaults, readContext, readerFaults, readSse, summary } from '../../../../../test/helpers/codecs.ts'
import { noUsage } from '../../../../contract/usage.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { ReplyEvent } from '../reply-events.ts'
import type { JsonObject } from '../wire-format.ts'
import { openAiResponsesFormat } from './format.ts'

const responsesCodec = openAiResponsesFormat.codec
const folder = new URL('fixtures/', import.meta.url)
const streams = readdirSync(folder).filter((name) => name.endsWith('.sse'))
const fixture = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const eventsOf = (name: string) => eventsIn(Buffer.from(fixture(name)).toString('latin1'))
const read = (name: string) => readSse(responsesCodec, fixture(name))
const said = (events: readonly JsonObject[]) =>
  readSse(responsesCodec, events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
const opaqueIn = (events: readonly ReplyEvent[]) => events.flatMap((event) => (event.type === 'opaque' ? [event] : []))

describe('a stream in Responses', () => {
  it('has its text, its usage and the finish reason stop', () => {
    expect(summary(read('text.sse'))).toMatchObject({
      blocks: [{ block: 'text', text: 'The harbor is calm.' }],
      usage: { input: 30, output: 9 },
      finish: 'stop',
      isComplete: true,
    })
    expect(summary(read('unicode.sse')).blocks).toMatchObject([{ text: '潮位は３.２m 🌊👩🏽‍🚀é' }])
    expect(summary(read('empty_output.sse'))).toMatchObject({ blocks: [], finish: 'stop', isComplete: true })
  })

  it('[94] has calls with their call id, never with the id of the item', () => {
    expect(summary(read('function_call.sse'))).toMatchObject({
      blocks: [{ block: 'tool-call', name: 'get_tide', callId: 'call_fx01', text: '{"port":"Rye"}' }],
      finish: 'tool-calls',
    })
    expect(summary(read('parallel_calls.sse')).blocks).toMatchObject([
      { block: 'text', text: 'Checking both.' },
      { callId: 'call_fx01', text: '{"port":"Rye"}' },
      { callId: 'call_fx02', text: '{"port":"Hythe"}' },
    ])
  })

  it('has a call of a free-text tool as such', () => {
    expect(summary(read('custom_tool.sse')).blocks).toMatchObject([
      { block: 'custom-tool-call', name: 'apply_patch', text: '*** Begin Patch\n*** End Patch' },
    ])
  })

  it('has its reasoning before the text, with the opaque state to send back', () => {
    const events = read('reasoning.sse')
    expect(summary(events).blocks).toMatchObject([
      { block: 'reasoning', text: 'Comparing two ports.' },
      { block: 'text', text: 'Rye is higher.' },
    ])
    expect(opaqueIn(events)).toEqual([
      { type: 'opaque', index: 0, opaque: { family: 'openai', kind: 'encrypted', value: 'gAAAAAfixture==' } },
    ])
    expect(summary(events).usage).toMatchObject({ output: 44, reasoning: 35 })
  })

  it('has its summaries separated by a blank line, and full reasoning as well', () => {
    const part = (summary_index: number, delta: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index,
      delta,
    })
    const raw = { type: 'response.reasoning_text.delta', output_index: 1, content_index: 0, delta: 'Hm.' }
    expect(summary(said([part(0, 'One'), part(0, '.'), part(1, 'Two.'), raw])).blocks).toMatchObject([
      { block: 'reasoning', text: 'One.\n\nTwo.' },
      { block: 'reasoning', text: 'Hm.' },
    ])
  })

  it('[204] has a refusal as such, and the finish reason stop', () => {
    expect(summary(read('refusal.sse'))).toMatchObject({
      blocks: [{ block: 'refusal', text: 'I can’t help with that.' }],
      finish: 'stop',
    })
  })

  it('[205] has the reason why it is incomplete, and [73] keeps it when a call was cut short', () => {
    const incomplete = (reason: unknown, output: unknown[] = []) =>
      summary(said([{ type: 'response.incomplete', response: { incomplete_details: { reason }, output } }])).finish
    expect(summary(read('incomplete.sse'))).toMatchObject({ finish: 'length', blocks: [{ text: 'The har' }] })
    expect(incomplete('content_filter')).toBe('content-filter')
    expect(incomplete('steered')).toBe('pause')
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a' }
    expect(incomplete('max_output_tokens', [call])).toBe('length')
  })

  it('counts cached tokens separately, and searches', () => {
    expect(summary(read('cached_usage.sse')).usage).toMatchObject({ input: 200, cacheRead: 2000, cacheWrite: 400, output: 2 })
    const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 }
    const searched = { type: 'web_search_call', status: 'completed', action: { type: 'search' } }
    const opened = { type: 'web_search_call', status: 'completed', action: { type: 'open_page' } }
    const events = said([{ type: 'response.completed', response: { usage, output: [searched, opened, searched] } }])
    expect(summary(events).usage).toMatchObject({ input: 5, output: 2, searches: 2 })
  })

  it('counts cache writes by their lifetime', () => {
    const usageOf = (details: object) =>
      summary(
        said([
          {
            type: 'response.completed',
            response: {
              usage: { input_tokens: 1000, output_tokens: 2, total_tokens: 1002, input_tokens_details: details },
              output: [],
            },
          },
        ]),
      ).usage
    const split = { ttl_30m_tokens: 300, ttl_12h_tokens: 500 }
    expect(usageOf({ cached_tokens: 100, cache_write_tokens: 800, cache_write_tokens_details: split })).toEqual({
      ...noUsage,
      ...{ input: 100, cacheRead: 100, cacheWrite30m: 300, cacheWrite12h: 500, output: 2 },
    })
    expect(usageOf({ cache_write_tokens: 800 })).toMatchObject({ input: 200, cacheWrite: 800 })
    const odd = { cache_write_tokens: 600, cache_write_tokens_details: split }
    expect(usageOf(odd)).toMatchObject({ cacheWrite: 0, cacheWrite30m: 100, cacheWrite12h: 500 })
  })

  it.each(['error_event.sse', 'failed.sse'])('%s: ends with an error and nothing after it', (name) => {
    const events = readSse(responsesCodec, fixture(name) + fixture('text.sse'))
    expect(events.at(-1)?.type).toBe('error')
    expect(summary(events).blocks).toEqual([])
  })

  it('is incomplete without its terminal event, and closes open blocks', () => {
    const cut = fixture('text.sse').split('event: response.output_text.done')[0] ?? ''
    const events = readSse(responsesCodec, cut)
    expect(grammarFaults(events)).toEqual([])
    expect(summary(events)).toMatchObject({ blocks: [{ text: 'The harbor is calm.' }], isComplete: false, finish: undefined })
  })

  it('is yielded where a host leaves out the deltas, and once where it repeats them', () => {
    for (const name of streams.filter((stream) => !/error|failed/.test(stream))) {
      const events = eventsOf(name).map(({ data }) => JSON.parse(data) as JsonObject)
      const whole = summary(said(events))
      const without = (pattern: RegExp) => summary(said(events.filter(({ type }) => !pattern.test(String(type)))))
      expect(without(/delta$/)).toEqual(whole)
      expect(without(/delta$|arguments\.done|text\.done|input\.done|part\.done/)).toEqual(whole)
      expect(without(/output_item|part|delta|done/)).toEqual(whole)
      // Opaque state that arrives only at the end follows the earlier content.
      const late = without(/\.done$|part/)
      expect({ ...late, blocks: late.blocks.filter(({ text }) => text !== '') }).toEqual(whole)
      expect(summary(said(events.flatMap((event) => (/done$/.test(String(event.type)) ? [event, event] : [event]))))).toEqual(
        whole,
      )
    }
  })

  it('is yielded once by a host that numbers its items differently at the end', () => {
    const message = { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }
    const delta = { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Hi' }
    const completed = { type: 'response.completed', response: { output: [{ id: 'x', type: 'other' }, message] } }
    const blocks = [{ block: 'text', text: 'Hi' }]
    expect(summary(said([delta, completed])).blocks).toEqual(blocks)
    expect(summary(said([{ ...delta, output_index: 4 }, completed])).blocks).toEqual(blocks)
  })

  it('has the citations of an answer', () => {
    const annotation = { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 2 }
    const message = { type: 'message', content: [{ type: 'output_text', text: 'Hi', annotations: [annotation] }] }
    const added = {
      type: 'response.output_text.annotation.added',
      output_index: 0,
      content_index: 0,
      annotation_index: 0,
      annotation,
    }
    const delta = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hi' }
    const completed = { type: 'response.completed', response: { output: [message] } }
    for (const events of [[delta, added, completed], [delta, completed], [completed]]) {
      expect(said(events).filter(({ type }) => type === 'cite')).toEqual([
        { type: 'cite', index: 0, citation: { url: 'https://a.test', title: 'A', start: 0, end: 2 } },
      ])
    }
  })

  it('has an image that the model generated', () => {
    const item = { type: 'image_generation_call', result: 'iVBORw0KGgo=', output_format: 'webp' }
    expect(said([{ type: 'response.output_item.done', output_index: 0, item }]).slice(1, 3)).toEqual([
      { type: 'open', index: 0, block: 'image', mediaType: 'image/png' },
      { type: 'delta', index: 0, text: 'iVBORw0KGgo=' },
    ])
  })

  it('keeps all text of items that arrive interleaved, even while calls are open', () => {
    const text = (output_index: number, delta: string) => ({
      type: 'response.output_text.delta',
      output_index,
      content_index: 0,
      delta,
    })
    const call = (output_index: number) => ({
      type: 'response.output_item.added',
      output_index,
      item: { type: 'function_call', call_id: `c${output_index}`, name: 'f', arguments: '' },
    })
    const input = (output_index: number, delta: string) => ({
      type: 'response.function_call_arguments.delta',
      output_index,
      delta,
    })
    const events = said([text(0, 'A'), call(1), text(0, 'B'), call(2), input(1, '1'), text(3, 'C'), input(2, '2'), text(0, 'D')])
    expect(grammarFaults(events)).toEqual([])
    expect(summary(events).blocks.map(({ text }) => text)).toEqual(['A', '1', '2', 'B', 'C', 'D'])
  })

  it('[66] opens a call when it has a name, [67] and creates an id if it is missing', () => {
    const added = { type: 'response.output_item.added', output_index: 0, item: { type: 'function_call', name: '' } }
    const delta = { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a":1}' }
    const item = { type: 'function_call', name: 'f', arguments: '{"a":1}' }
    const events = said([added, delta, { type: 'response.output_item.done', output_index: 0, item }])
    expect(summary(events).blocks).toEqual([{ block: 'tool-call', name: 'f', callId: 'call_made_1', text: '{"a":1}' }])
  })

  it('keeps the grammar of events for any input', () => {
    expect(readerFaults(responsesCodec, streams.flatMap(eventsOf))).toEqual([])
  })
})

describe('a whole reply in Responses', () => {
  it('has the same events as a stream', () => {
    const reply = JSON.parse(fixture('nonstream.json'))
    const events = responsesCodec.readReply(reply, readContext())
    expect(summary(events)).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Comparing two ports.' },
        { block: 'text', text: 'Rye is higher.' },
        { block: 'tool-call', callId: 'call_fx01', text: '{"port":"Rye"}' },
      ],
      finish: 'tool-calls',
      usage: { output: 44, reasoning: 35 },
      isComplete: true,
    })
    for (const name of streams.filter((stream) => !/error|failed/.test(stream))) {
      const last = JSON.parse(eventsOf(name).at(-1)?.data ?? '')
      expect(summary(responsesCodec.readReply(last.response, readContext()))).toEqual(summary(read(name)))
    }
  })

  it('[298] names what the vendor left out of the request', () => {
    const lost: string[] = []
    const input_transformations = [{ type: 'reasoning', action: 'removed', reason: 'organization_mismatch' }]
    const reply = { ...JSON.parse(fixture('nonstream.json')), input_transformations }
    responsesCodec.readReply(reply, { ...readContext(), lose: (name) => lost.push(name) })
    expect(lost).toEqual(['input_transformations'])
  })

  it('is an error when it is invalid, failed, or not finished', () => {
    const error = (reply: JsonObject) => responsesCodec.readReply(reply, readContext()).at(-1)
    expect(error({})).toMatchObject({ type: 'error' })
    expect(error({ output: [], status: 'queued' })).toMatchObject({ error: { message: 'the response is queued' } })
    expect(error({ output: [], status: 'failed', error: { code: 'rate_limit_exceeded', message: 'slow' } })).toMatchObject({
      error: { message: 'slow', code: 'rate_limit_exceeded', status: 429 },
    })
    expect(error({ type: 'error', message: 'no' })).toMatchObject({ error: { message: 'no' } })
  })
})
