import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { grammarFaults, readContext, readerFaults, readFrames, readSse, summary } from '../../../../../test/helpers/codecs.ts'
import { noUsage } from '../../../../contract/usage.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { ReplyEvent } from '../reply-events.ts'
import type { JsonObject } from '../wire-format.ts'
import { geminiGenerateFormat } from './format.ts'

const { codec } = geminiGenerateFormat
const folder = new URL('fixtures/', import.meta.url)
const names = readdirSync(folder).filter((name) => name.endsWith('.sse'))
const fixture = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const stream = (name: string) => readSse(codec, fixture(name))
const whole = (reply: JsonObject) => codec.readReply(reply, readContext())
const chunks = (...replies: JsonObject[]) =>
  readFrames(
    codec,
    replies.map((reply) => JSON.stringify(reply)),
  )
const chunk = (parts: readonly JsonObject[], more: JsonObject = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
})
const ended = (finishReason: string, more: JsonObject = {}) => chunk([], { finishReason, ...more })
const ofType = <Type extends ReplyEvent['type']>(events: readonly ReplyEvent[], type: Type) =>
  events.filter((event): event is Extract<ReplyEvent, { type: Type }> => event.type === type)

describe('a stream of Gemini', () => {
  it('keeps the grammar for every fixture, and for any other input', () => {
    for (const name of names) expect([name, grammarFaults(stream(name))]).toEqual([name, []])
    const samples = names.flatMap((name) => eventsIn(fixture(name)))
    expect(readerFaults(codec, samples)).toEqual([])
  })

  it('has its text, and ends with the body', () => {
    expect(stream('text.sse')).toEqual([
      { type: 'start' },
      { type: 'usage', usage: { ...noUsage, input: 21, output: 3 } },
      { type: 'open', index: 0, block: 'text' },
      { type: 'delta', index: 0, text: 'The harbor' },
      { type: 'usage', usage: { ...noUsage, input: 21, output: 6 } },
      { type: 'delta', index: 0, text: ' is calm.' },
      { type: 'close', index: 0 },
      { type: 'finish', reason: 'stop' },
      { type: 'end' },
    ])
    expect(summary(stream('unicode.sse')).blocks).toEqual([{ block: 'text', text: '潮位は３.２m 🌊👩🏽‍🚀é' }])
  })

  it('[168] counts thoughts as output, and has them as reasoning', () => {
    const { blocks, usage } = summary(stream('thoughts.sse'))
    expect(blocks).toEqual([
      { block: 'reasoning', text: 'Comparing two ports.' },
      { block: 'text', text: 'Rye is higher.' },
    ])
    expect(usage).toEqual({ ...noUsage, input: 21, output: 40, reasoning: 35 })
    const told = { promptTokenCount: 10, candidatesTokenCount: 50, thoughtsTokenCount: 200, totalTokenCount: 260 }
    expect(summary(whole({ ...ended('STOP'), usageMetadata: told })).usage).toMatchObject({ output: 250, reasoning: 200 })
  })

  it("counts cached tokens separately, and tokens read by the vendor's tools as input", () => {
    expect(summary(stream('cached_usage.sse')).usage).toEqual({ ...noUsage, input: 600, cacheRead: 2000, output: 2 })
    const told = { promptTokenCount: 10, toolUsePromptTokenCount: 90, candidatesTokenCount: 1, totalTokenCount: 101 }
    expect(summary(whole({ ...ended('STOP'), usageMetadata: told })).usage).toMatchObject({ input: 100, output: 1 })
  })

  it('counts images and audio separately, without their cached part', () => {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 30,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 40 },
        { modality: 'AUDIO', tokenCount: 60 },
      ],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 30 }],
      candidatesTokenCount: 50,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 45 }],
      thoughtsTokenCount: 5,
      totalTokenCount: 155,
    }
    expect(summary(whole({ ...ended('STOP'), usageMetadata })).usage).toEqual({
      ...noUsage,
      input: 40,
      cachedAudio: 30,
      audioInput: 30,
      output: 10,
      imageOutput: 45,
      reasoning: 5,
    })
  })

  it('counts cached tokens and tokens read by tools by modality, and generated video', () => {
    const usageMetadata = {
      ...{ promptTokenCount: 1000, cachedContentTokenCount: 500, toolUsePromptTokenCount: 90 },
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 300 },
        { modality: 'AUDIO', tokenCount: 400 },
        { modality: 'IMAGE', tokenCount: 200 },
        { modality: 'VIDEO', tokenCount: 100 },
      ],
      cacheTokensDetails: [
        { modality: 'TEXT', tokenCount: 50 },
        { modality: 'AUDIO', tokenCount: 350 },
        { modality: 'IMAGE', tokenCount: 80 },
        { modality: 'VIDEO', tokenCount: 20 },
      ],
      toolUsePromptTokensDetails: [
        { modality: 'AUDIO', tokenCount: 60 },
        { modality: 'TEXT', tokenCount: 30 },
      ],
      candidatesTokenCount: 70,
      candidatesTokensDetails: [
        { modality: 'VIDEO', tokenCount: 64 },
        { modality: 'AUDIO', tokenCount: 4 },
      ],
      totalTokenCount: 1160,
    }
    expect(summary(whole({ ...ended('STOP'), usageMetadata })).usage).toEqual({
      ...noUsage,
      ...{ input: 360, cacheRead: 70, cachedAudio: 350, cachedImage: 80, audioInput: 110, imageInput: 120 },
      ...{ output: 2, audioOutput: 4, videoOutput: 64 },
    })
  })

  it('[76] has calls of several chunks as separate calls', () => {
    const { blocks, finish } = summary(stream('parallel_calls.sse'))
    expect(blocks).toEqual([
      { block: 'tool-call', text: '{"port":"Rye"}', name: 'get_tide', callId: 'call_fx1' },
      { block: 'tool-call', text: '{"port":"Hythe"}', name: 'get_tide', callId: 'call_fx2' },
    ])
    expect(finish).toBe('tool-calls')
  })

  it('[77] creates ids for calls without one, and for calls that share one', () => {
    expect(summary(stream('function_call_no_id.sse')).blocks.map(({ callId }) => callId)).toEqual(['call_made_1', 'call_made_2'])
    const call = { functionCall: { id: 'a', name: 'f', args: {} } }
    const ids = summary(whole(chunk([call, call], { finishReason: 'STOP' }))).blocks.map(({ callId }) => callId)
    expect(ids).toEqual(['a', 'call_made_1'])
  })

  it('[151] has the signature only on the call that it belongs to', () => {
    expect(ofType(stream('parallel_calls.sse'), 'opaque')).toEqual([
      { type: 'opaque', index: 0, opaque: { family: 'google', kind: 'signature', value: 'CiQBfixture==' } },
    ])
  })

  it('joins arguments that are sent with their paths', () => {
    expect(summary(stream('function_call_partial_args.sse')).blocks).toEqual([
      { block: 'tool-call', text: '{"port":"Rye"}', name: 'get_tide', callId: 'call_fx1' },
    ])
    const piece = (functionCall: JsonObject) => chunk([{ functionCall }])
    const { blocks } = summary(
      chunks(
        piece({ name: 'f', willContinue: true }),
        piece({
          partialArgs: [
            { jsonPath: "$.a['b c'][0]", numberValue: 1 },
            { jsonPath: '$.a["b c"][1].d', boolValue: true },
            { jsonPath: '$.__proto__.e', nullValue: 'NULL_VALUE' },
            { jsonPath: '$.far[9999]', numberValue: 1 },
            { jsonPath: 'nowhere', numberValue: 1 },
          ],
        }),
        ended('STOP'),
      ),
    )
    expect(blocks[0]?.text).toBe('{"a":{"b c":[1,{"d":true}]},"__proto__":{"e":null},"far":[]}')
  })

  it('[73] has incomplete arguments when the reply was cut off in them', () => {
    const piece = { name: 'f', willContinue: true, partialArgs: [{ jsonPath: '$.a', stringValue: 'lo' }] }
    const { blocks, finish } = summary(chunks(chunk([{ functionCall: piece }]), ended('MAX_TOKENS')))
    expect([blocks[0]?.text, finish]).toEqual(['{"a":"lo"', 'length'])
  })

  it('[256] is complete and filtered for a blocked prompt', () => {
    const events = stream('prompt_blocked.sse')
    expect(events.map(({ type }) => type)).toEqual(['start', 'usage', 'finish', 'end'])
    expect(summary(events)).toMatchObject({ blocks: [], finish: 'content-filter', usage: { input: 21 } })
  })

  it('reports a filter that stopped it midway', () => {
    expect(summary(stream('safety_midway.sse'))).toMatchObject({
      blocks: [{ text: 'The har' }],
      finish: 'content-filter',
      isComplete: true,
    })
  })

  it('reports a malformed answer as an error that allows failover', () => {
    expect(summary(stream('malformed_function_call.sse')).error).toEqual({
      message: 'Malformed function call: get_tide(',
      type: '',
      code: 'MALFORMED_FUNCTION_CALL',
      param: null,
      status: 502,
    })
  })

  it('[25] reports an error of the stream with its status', () => {
    expect(summary(stream('error_midstream.sse'))).toMatchObject({
      blocks: [{ text: 'The har' }],
      error: { status: 503, code: 'UNAVAILABLE', message: 'The model is overloaded. Please try again later.' },
    })
  })

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['RECITATION', 'content-filter'],
    ['SPII', 'content-filter'],
    ['IMAGE_SAFETY', 'content-filter'],
    ['CONTINUATION', 'pause'],
    ['MODEL_ARMOR', 'content-filter'],
    ['ESCALATION', 'content-filter'],
    ['PUP_LIMITED_DISABLED', 'content-filter'],
    ['LANGUAGE', 'other'],
    ['OTHER', 'other'],
    ['SOMETHING_NEW', 'other'],
  ])('finishes for %s with %s', (word, reason) => {
    expect(summary(chunks(chunk([{ text: 'a' }]), ended(word))).finish).toBe(reason)
  })

  it('is an error if it is empty with an unknown finish reason, and cut off without a finish reason', () => {
    expect(summary(chunks(ended('OTHER'))).error?.status).toBe(502)
    expect(summary(chunks(chunk([{ text: 'a' }])))).toMatchObject({ isComplete: false, error: undefined })
    expect(summary(chunks(chunk([{ text: 'a' }], { finishReason: 'FINISH_REASON_UNSPECIFIED' }))).isComplete).toBe(false)
  })

  it('[51] [75] finishes with tool-calls if it has calls, unless it was cut short; keeps content after the finish reason', () => {
    const call = { functionCall: { name: 'f', args: {} } }
    expect(summary(chunks(chunk([call], { finishReason: 'STOP' }), chunk([{ text: 'more' }]))).blocks).toHaveLength(2)
    expect(summary(chunks(chunk([call]), ended('STOP'))).finish).toBe('tool-calls')
    expect(summary(chunks(chunk([call]), ended('MAX_TOKENS'))).finish).toBe('length')
  })

  it('[121] [60] may have an answer without content', () => {
    expect(summary(stream('empty_content.sse'))).toMatchObject({ blocks: [], finish: 'stop', isComplete: true })
  })
})

describe('a whole reply of Gemini', () => {
  it('is read like a stream', () => {
    const events = whole(JSON.parse(fixture('nonstream.json')))
    expect(summary(events)).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Comparing.' },
        { block: 'text', text: 'The harbor is calm.' },
      ],
      usage: { input: 21, output: 18, reasoning: 12 },
      finish: 'stop',
    })
    expect(ofType(events, 'opaque')).toMatchObject([{ index: 1, opaque: { value: 'CiQBfixture==' } }])
  })

  it('is an error when it contains one, or has no candidates', () => {
    expect(summary(whole(JSON.parse(fixture('error_400.json')))).error).toMatchObject({ status: 400, code: 'API_KEY_INVALID' })
    expect(summary(whole({})).error?.status).toBe(502)
    expect(summary(whole({ candidates: [] })).error?.status).toBe(502)
  })

  it('[179] has images as image blocks, not as text', () => {
    const parts = [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }]
    const events = whole(chunk(parts, { finishReason: 'STOP' }))
    expect(ofType(events, 'open')[1]).toEqual({ type: 'open', index: 1, block: 'image', mediaType: 'image/png' })
    expect(summary(events).blocks[1]?.text).toBe('iVBORw0KGgo=')
    const thought = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' }, thought: true }
    expect(summary(whole(chunk([thought, { text: 'x' }], { finishReason: 'STOP' }))).blocks).toEqual([
      { block: 'text', text: 'x' },
    ])
  })

  it('has audio with its playback parameters', () => {
    const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AAAA' }
    expect(ofType(whole(chunk([{ inlineData }], { finishReason: 'STOP' })), 'open')).toMatchObject([
      { block: 'audio', mediaType: 'audio/L16;codec=pcm;rate=24000' },
    ])
  })

  it("[275] has a transcription model's result as text", () => {
    const { blocks } = summary(whole(chunk([{ audioTranscription: { text: 'Hello there' } }], { finishReason: 'STOP' })))
    expect(blocks).toEqual([{ block: 'text', text: 'Hello there' }])
  })

  it('has code that the model ran as text between fences', () => {
    const parts = [
      { text: 'So:' },
      { executableCode: { language: 'PYTHON', code: 'print(1)\n' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
    ]
    expect(summary(whole(chunk(parts, { finishReason: 'STOP' }))).blocks).toEqual([
      { block: 'text', text: 'So:\n```python\nprint(1)\n```\n\n```\n1\n```\n' },
    ])
  })
})

describe('citations of a Gemini reply', () => {
  it('have their offsets in the text', () => {
    expect(ofType(stream('grounding.sse'), 'cite')).toEqual([
      {
        type: 'cite',
        index: 0,
        citation: { url: 'https://example.test/rye', title: 'example.test', start: 0, end: 20 },
      },
    ])
    expect(summary(stream('grounding.sse')).usage?.searches).toBe(1)
  })

  const grounding = (segment: JsonObject) => ({
    groundingMetadata: {
      groundingChunks: [{ web: { uri: 'https://example.test/a', title: 'A' } }],
      groundingSupports: [{ segment, groundingChunkIndices: [0] }],
    },
  })
  const cited = (text: string, segment: JsonObject) =>
    ofType(chunks(chunk([{ text }]), ended('STOP', grounding(segment))), 'cite').map(({ citation: { start, end } }) =>
      text.slice(start, end),
    )

  it('have offsets in UTF-16 units, although Gemini counts bytes', () => {
    const text = 'é🌊 high tide. Low.'
    const start = Buffer.byteLength('é🌊 ')
    expect(cited(text, { startIndex: start, endIndex: start + 10, text: 'high tide.' })).toEqual(['high tide.'])
    expect(cited(text, { startIndex: start, endIndex: start + 10 })).toEqual(['high tide.'])
    expect(cited(text, { endIndex: 2 })).toEqual(['é'])
  })

  it('are found by their text when the offset is wrong, and left out when the reply does not contain that text', () => {
    expect(cited('a b c', { startIndex: 0, endIndex: 1, text: 'c' })).toEqual(['c'])
    expect(cited('a b c', { startIndex: 0, endIndex: 99 })).toEqual([])
    expect(cited('a b c', { startIndex: 0, endIndex: 1, text: 'never' })).toEqual([])
  })

  it('are yielded once, also when the stream repeats them or sends the text later', () => {
    const more = grounding({ startIndex: 0, endIndex: 2, text: 'ab' })
    const events = chunks(chunk([{ text: 'a' }], more), chunk([{ text: 'b' }], more), ended('STOP', more))
    expect(ofType(events, 'cite')).toHaveLength(1)
    const beforeCall = chunks(chunk([{ text: 'ab' }, { functionCall: { name: 'f' } }], { finishReason: 'STOP', ...more }))
    expect(ofType(beforeCall, 'cite')).toMatchObject([{ index: 0 }])
  })
})
