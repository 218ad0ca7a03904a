import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { grammarFaults, readContext, readerFaults, readSse, summary } from '../../../../../test/helpers/codecs.ts'
import { openFraming } from '../../../base/lib/bytes/frames.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { JsonObject } from '../wire-format.ts'
import { bedrockConverseFormat } from './format.ts'

const bedrockConverse = bedrockConverseFormat.codec

/** A recorded stream as SSE text. */
function fixture(name: string): string {
  const bytes = readFileSync(new URL(`fixtures/${name}.bin`, import.meta.url))
  return Buffer.from(openFraming('aws-event-stream').push(bytes), 'latin1').toString()
}

const event = (name: string, data: JsonObject) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
const delta = (contentBlockIndex: number, piece: JsonObject) => event('contentBlockDelta', { contentBlockIndex, delta: piece })
const open = (contentBlockIndex: number, toolUse: JsonObject) =>
  event('contentBlockStart', { contentBlockIndex, start: { toolUse } })
const stop = (contentBlockIndex: number) => event('contentBlockStop', { contentBlockIndex })
const end = (stopReason: string, more: JsonObject = {}) => event('messageStop', { stopReason, ...more })
const whole = (content: readonly JsonObject[], more: JsonObject = {}) =>
  bedrockConverse.readReply(
    {
      output: { message: { role: 'assistant', content } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 2 },
      ...more,
    },
    readContext(),
  )

describe('a stream of Converse', () => {
  it('has text, usage and a finish reason', () => {
    expect(summary(readSse(bedrockConverse, fixture('converse_text')))).toMatchObject({
      blocks: [{ block: 'text', text: 'The harbor is calm. 🌊' }],
      usage: { input: 20, output: 9, cacheRead: 0 },
      finish: 'stop',
      isComplete: true,
    })
  })

  it('has reasoning with its signature before the call', () => {
    const events = readSse(bedrockConverse, fixture('converse_tool_reasoning'))
    expect(summary(events)).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Need tide.' },
        { block: 'tool-call', callId: 'tooluse_fx1', name: 'get_tide', text: '{"port":"Rye"}' },
      ],
      finish: 'tool-calls',
      isComplete: true,
    })
    expect(events).toContainEqual({
      type: 'opaque',
      index: 0,
      opaque: { family: 'anthropic', kind: 'signature', value: 'EqQBfixture==' },
    })
  })

  it('[251] ends with an error when an exception message arrives', () => {
    const events = readSse(bedrockConverse, fixture('converse_exception'))
    expect(summary(events)).toMatchObject({
      blocks: [{ text: 'The har' }],
      error: { type: 'throttlingException', status: 429, message: 'Too many requests, please wait before trying again.' },
    })
    expect(grammarFaults(events)).toEqual([])
  })

  it('[68] has an empty object, once, as the input of a call without input', () => {
    const call = open(0, { toolUseId: 'a', name: 'f' })
    for (const input of ['', delta(0, { toolUse: { input: '' } })])
      expect(summary(readSse(bedrockConverse, call + input + stop(0) + end('tool_use'))).blocks).toMatchObject([{ text: '{}' }])
  })

  it('tells two calls apart by their block index, and generates a missing id', () => {
    const events =
      open(1, { toolUseId: 'a', name: 'f' }) +
      delta(1, { toolUse: { input: '{"x":1}' } }) +
      stop(1) +
      open(2, { name: 'g' }) +
      delta(2, { toolUse: { input: '{}' } }) +
      stop(2)
    expect(summary(readSse(bedrockConverse, events + end('tool_use'))).blocks).toEqual([
      { block: 'tool-call', callId: 'a', name: 'f', text: '{"x":1}' },
      { block: 'tool-call', callId: 'call_made_1', name: 'g', text: '{}' },
    ])
  })

  it('[155] has redacted reasoning as a separate block, and keeps signed reasoning without text', () => {
    const events =
      delta(0, { reasoningContent: { text: 'Hm.' } }) +
      delta(0, { reasoningContent: { signature: 's1' } }) +
      stop(0) +
      delta(1, { reasoningContent: { redactedContent: 'cmVk' } }) +
      stop(1) +
      delta(2, { reasoningContent: { signature: 's2' } }) +
      stop(2) +
      delta(3, { text: 'Yes.' }) +
      stop(3)
    const read = readSse(bedrockConverse, events + end('end_turn'))
    expect(summary(read).blocks.map(({ block, text }) => [block, text])).toEqual([
      ['reasoning', 'Hm.'],
      ['reasoning', ''],
      ['reasoning', ''],
      ['text', 'Yes.'],
    ])
    expect(read.flatMap((one) => (one.type === 'opaque' ? [[one.index, one.opaque.kind, one.opaque.value]] : []))).toEqual([
      [0, 'signature', 's1'],
      [1, 'redacted', 'cmVk'],
      [2, 'signature', 's2'],
    ])
  })

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop-sequence'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'context-full'],
    ['guardrail_intervened', 'content-filter'],
    ['content_filtered', 'content-filter'],
    ['tool_use', 'stop'],
    ['something_new', 'other'],
  ])('that stops with %s after text finishes with %s', (reason, finish) => {
    expect(summary(readSse(bedrockConverse, delta(0, { text: 'x' }) + stop(0) + end(reason))).finish).toBe(finish)
  })

  it('finishes with tool-calls when it has calls, unless the output limit was reached', () => {
    const call = open(0, { toolUseId: 'a', name: 'f' }) + stop(0)
    expect(summary(readSse(bedrockConverse, call + end('end_turn'))).finish).toBe('tool-calls')
    expect(summary(readSse(bedrockConverse, call + end('max_tokens'))).finish).toBe('length')
  })

  it.each(['malformed_model_output', 'malformed_tool_use'])('is an error when it stops with %s', (reason) => {
    expect(summary(readSse(bedrockConverse, delta(0, { text: 'x' }) + end(reason))).error).toMatchObject({ code: reason })
  })

  it('reports the stop sequence that ended it', () => {
    const own = { additionalModelResponseFields: { delta: { stop_sequence: 'END' } } }
    expect(readSse(bedrockConverse, delta(0, { text: 'x' }) + end('stop_sequence', own))).toContainEqual({
      type: 'finish',
      reason: 'stop-sequence',
      stopSequence: 'END',
    })
  })

  it('[12] is incomplete when it is cut off, but complete when only the usage is missing', () => {
    const said = delta(0, { text: 'x' })
    expect(summary(readSse(bedrockConverse, said)).isComplete).toBe(false)
    expect(summary(readSse(bedrockConverse, said + end('end_turn'))).isComplete).toBe(true)
  })

  it("leaves out calls of the vendor's own tools, and has citations with the range of their text", () => {
    const source = { citation: { title: 'Tides', location: { web: { url: 'https://tides.example' } } } }
    const events =
      open(0, { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use' }) +
      delta(0, { toolUse: { input: '{"query":"x"}' } }) +
      stop(0) +
      delta(1, { text: 'High at noon.' }) +
      delta(1, source) +
      delta(1, { citation: { title: 'A page', location: { documentPage: { start: 1 } } } }) +
      stop(1)
    const read = readSse(bedrockConverse, events + end('end_turn'))
    expect(summary(read)).toMatchObject({ blocks: [{ block: 'text', text: 'High at noon.' }], finish: 'stop' })
    expect(read.filter(({ type }) => type === 'cite')).toEqual([
      { type: 'cite', index: 0, citation: { url: 'https://tides.example', title: 'Tides', start: 0, end: 13 } },
    ])
  })

  it('joins the pieces of an image', () => {
    const piece = (text: string) => delta(0, { image: { source: { bytes: Buffer.from(text).toString('base64') } } })
    const events =
      event('contentBlockStart', { contentBlockIndex: 0, start: { image: { format: 'png' } } }) + piece('ab') + piece('c')
    const read = readSse(bedrockConverse, events + stop(0) + end('end_turn'))
    expect(read).toContainEqual({ type: 'open', index: 0, block: 'image', mediaType: 'image/png' })
    expect(summary(read).blocks).toMatchObject([{ text: 'YWJj' }])
  })

  it('keeps the grammar of events for any input', () => {
    const names = ['converse_text', 'converse_tool_reasoning', 'converse_exception']
    const samples = names.flatMap((name) => eventsIn(Buffer.from(fixture(name)).toString('latin1')))
    expect(readerFaults(bedrockConverse, samples)).toEqual([])
  })
})

describe('a non-streamed reply of Converse', () => {
  it('has the same content and finish reason as the stream', () => {
    const usage = { inputTokens: 20, outputTokens: 9 }
    const reply = whole(
      [
        { reasoningContent: { reasoningText: { text: 'Need tide.', signature: 'EqQBfixture==' } } },
        { toolUse: { toolUseId: 'tooluse_fx1', name: 'get_tide', input: { port: 'Rye' } } },
      ],
      { stopReason: 'tool_use', usage },
    )
    const streamed = readSse(bedrockConverse, fixture('converse_tool_reasoning'))
    const { usage: _own, ...said } = summary(streamed)
    expect(summary(reply)).toMatchObject(said)
    expect(grammarFaults(reply)).toEqual([])
  })

  it('has text, citations, images, redacted reasoning, and calls without input', () => {
    const reply = whole([
      { reasoningContent: { redactedContent: 'cmVk' } },
      { text: 'Look: ' },
      { image: { format: 'jpeg', source: { bytes: 'YWJj' } } },
      {
        citationsContent: {
          content: [{ text: 'High at ' }, { text: 'noon.' }],
          citations: [{ title: 'T', location: { web: { url: 'https://t.example' } } }],
        },
      },
      { toolUse: { toolUseId: 'a', name: 'f', input: {} } },
    ])
    expect(summary(reply).blocks).toEqual([
      { block: 'reasoning', text: '' },
      { block: 'text', text: 'Look: ' },
      { block: 'image', text: 'YWJj' },
      { block: 'text', text: 'High at noon.' },
      { block: 'tool-call', callId: 'a', name: 'f', text: '{}' },
    ])
    expect(reply).toContainEqual({
      type: 'cite',
      index: 3,
      citation: { url: 'https://t.example', title: 'T', start: 0, end: 13 },
    })
  })

  it.each<[JsonObject, string]>([
    [{ message: 'The model is not ready' }, 'The model is not ready'],
    [{}, 'the upstream sent no valid answer'],
    [{ output: {} }, 'the upstream sent no valid answer'],
  ])('is an error when it reads %j', (reply, message) => {
    expect(summary(bedrockConverse.readReply(reply, readContext())).error?.message).toBe(message)
  })

  it('is complete when it has no content', () => {
    expect(summary(whole([]))).toMatchObject({ blocks: [], finish: 'stop', isComplete: true })
  })
})

describe('usage of Converse', () => {
  it('[216] has buckets that do not overlap', () => {
    const usage = { inputTokens: 100, outputTokens: 5, totalTokens: 1005, cacheReadInputTokens: 900, cacheWriteInputTokens: 0 }
    expect(summary(whole([{ text: 'x' }], { usage })).usage).toMatchObject({
      input: 100,
      cacheRead: 900,
      cacheWrite: 0,
      output: 5,
    })
  })

  it('[210] counts cache writes separately by their lifetime', () => {
    const cacheDetails = [
      { ttl: '1h', inputTokens: 30 },
      { ttl: '5m', inputTokens: 20 },
      { ttl: '12h', inputTokens: 7 },
    ]
    const usage = { inputTokens: 1, outputTokens: 1, cacheWriteInputTokens: 57, cacheDetails }
    expect(summary(whole([], { usage })).usage).toMatchObject({ cacheWrite: 20, cacheWrite1h: 30, cacheWrite12h: 7 })
  })

  it.each([undefined, {}, { inputTokens: 'x' }, { inputTokens: 1, outputTokens: -5 }])('is undefined for %j', (usage) => {
    expect(summary(whole([{ text: 'x' }], { usage })).usage).toBeUndefined()
  })
})
