import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readerFaults, readFrames, summary, written } from '../../../../test/helpers/codecs.ts'
import {
  assistant,
  base64,
  call,
  image,
  instruction,
  media,
  result,
  text,
  thought,
  tideTool,
  user,
} from '../../../../test/helpers/dialogue.ts'
import { eventsIn } from '../../base/lib/bytes/sse.ts'
import type { Codec } from './codec.ts'
import { cohereChatFormat } from './cohere-chat/format.ts'
import { cozeChatFormat } from './coze-chat/format.ts'
import { dashScopeChatFormat } from './dashscope-chat/format.ts'
import type { Dialogue, MediaPart } from './dialogue.ts'
import { difyChatFormat } from './dify-chat/format.ts'
import { ernieChatFormat } from './ernie-chat/format.ts'
import { hunyuanChatFormat } from './hunyuan-chat/format.ts'
import { libraryAskFormat } from './library-ask/format.ts'
import { ollamaChatFormat } from './ollama-chat/format.ts'
import { palmMessageFormat } from './palm-message/format.ts'
import { replicatePredictFormat } from './replicate-predict/format.ts'
import { sparkChatFormat } from './spark-chat/format.ts'

/** A vendor format that only upstreams speak, with one reply and the requests that it refuses. */
interface VendorCodec {
  readonly format: { readonly name: string; readonly codec: Codec }
  /** The data of the events of a reply. */
  readonly reply: readonly string[]
  readonly reasoning?: string
  readonly text?: string
  readonly usage?: { readonly input: number; readonly output: number }
  /** The number of events at the end of the stream that complete it; absent for replies that are not streamed. */
  readonly ends?: number
  /** Whether events after its end are ignored. */
  readonly ignoresMore?: true
  /** Further events that a reply may have. */
  readonly others?: readonly string[]
  /** The model of the refused requests. */
  readonly model?: string
  readonly refuses?: { readonly media: MediaPart; readonly reason: string }
}

const json = (...events: readonly object[]) => events.map((event) => JSON.stringify(event))
const fileOf = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')
const dataOf = (file: string) => eventsIn(fileOf(file)).map(({ data }) => data)
const linesOf = (file: string) => fileOf(file).trim().split('\n')

const imageBytes = media('image', base64('image/png', 'iVBO'))

const dashScopeReply = (message: object, finish_reason = 'null') => ({
  output: { choices: [{ message: { role: 'assistant', ...message }, finish_reason }] },
  usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
})
const hunyuanReply = (Delta: object, FinishReason = '') => ({
  Choices: [{ Index: 0, Delta, FinishReason }],
  Usage: { PromptTokens: 9, CompletionTokens: 4, TotalTokens: 13 },
})
const sparkReply = (status: number, text: object, usage = {}) => ({
  header: { code: 0, message: 'Success', sid: 's', status },
  payload: { choices: { status, seq: 0, text: [{ role: 'assistant', index: 0, ...text }] }, usage: { text: usage } },
})
const ernieUsage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }

const vendors: readonly VendorCodec[] = [
  {
    format: cohereChatFormat,
    reply: dataOf('cohere-chat/fixtures/text.sse'),
    usage: { input: 74, output: 6 },
    ends: 1,
    others: dataOf('cohere-chat/fixtures/tool_call.sse'),
    refuses: { media: image({ media: 'document' }), reason: 'takes no document' },
  },
  {
    format: difyChatFormat,
    reply: json(
      { event: 'workflow_started', data: {} },
      { event: 'message', message_id: 'm', answer: 'The harbor' },
      { event: 'message', message_id: 'm', answer: ' is calm.' },
      { event: 'message_end', metadata: { usage: { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 } } },
    ),
    usage: { input: 11, output: 4 },
    ends: 1,
    others: json(
      { event: 'message_file', type: 'image', url: 'https://a.example/b' },
      { event: 'message_replace', answer: 'x' },
      { event: 'error', status: 400, message: 'm' },
    ),
    refuses: { media: imageBytes, reason: 'by their address' },
  },
  {
    format: ernieChatFormat,
    reply: json(
      { id: 'as-1', sentence_id: 0, is_end: false, result: 'The harbor', usage: ernieUsage },
      { id: 'as-1', sentence_id: 1, is_end: true, result: ' is calm.', finish_reason: 'normal', usage: ernieUsage },
    ),
    usage: { input: 9, output: 4 },
    ends: 1,
    ignoresMore: true,
    others: json(
      { is_end: true, function_call: { name: 'get_tide', arguments: '{"port":"Rye"}', thoughts: 'I need the tide.' } },
      { error_code: 18, error_msg: 'm' },
    ),
    model: 'ERNIE-4.0-8K',
    refuses: { media: image(), reason: 'takes no image' },
  },
  {
    format: ollamaChatFormat,
    reply: linesOf('ollama-chat/fixtures/text.ndjson'),
    text: 'The harbor is calm. \u{1F30A}',
    usage: { input: 18, output: 7 },
    ends: 1,
    others: ['tools_thinking', 'error_midstream'].flatMap((name) => linesOf(`ollama-chat/fixtures/${name}.ndjson`)),
    refuses: {
      media: media('audio', base64('audio/mp3', 'SUQz')),
      reason: 'takes no audio',
    },
  },
  {
    format: replicatePredictFormat,
    reply: json({
      id: 'p',
      status: 'succeeded',
      output: ['The harbor', ' is calm.'],
      error: null,
      metrics: { predict_time: 1.5, input_token_count: 9, output_token_count: 4 },
    }),
    usage: { input: 9, output: 4 },
    others: json({ status: 'failed', error: 'x' }),
    model: 'meta/meta-llama-3-70b-instruct',
    refuses: { media: image(), reason: 'takes no image' },
  },
  {
    format: sparkChatFormat,
    reply: json(
      sparkReply(0, { content: '', reasoning_content: 'Hm.' }),
      sparkReply(1, { content: 'The harbor' }),
      sparkReply(2, { content: ' is calm.' }, { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }),
    ),
    reasoning: 'Hm.',
    usage: { input: 9, output: 4 },
    ends: 1,
    ignoresMore: true,
    others: json({ header: { code: 10013, message: 'm' } }, sparkReply(1, { function_call: { name: 'f', arguments: '' } })),
    model: 'SparkDesk-v3.5',
    refuses: { media: image(), reason: 'takes no image' },
  },
  {
    format: dashScopeChatFormat,
    reply: json(
      dashScopeReply({ content: '', reasoning_content: 'Hm.' }),
      dashScopeReply({ content: 'The harbor' }),
      dashScopeReply({ content: ' is calm.' }, 'stop'),
    ),
    reasoning: 'Hm.',
    usage: { input: 9, output: 4 },
    ends: 1,
    others: json(
      dashScopeReply({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] }, 'tool_calls'),
      { code: 'x', message: 'm' },
    ),
    model: 'farui-plus',
    refuses: { media: image({ media: 'audio' }), reason: 'takes no audio' },
  },
  {
    format: hunyuanChatFormat,
    reply: json(
      hunyuanReply({ Role: 'assistant', Content: '', ReasoningContent: 'Hm.' }),
      hunyuanReply({ Content: 'The harbor' }),
      hunyuanReply({ Content: ' is calm.' }, 'stop'),
    ),
    reasoning: 'Hm.',
    usage: { input: 9, output: 4 },
    ends: 1,
    others: json(
      hunyuanReply({ ToolCalls: [{ Index: 0, Id: 'c', Function: { Name: 'f', Arguments: '{}' } }] }, 'tool_calls'),
      { ErrorMsg: { Msg: 'm' } },
      { Response: { Error: { Code: 'c' } } },
    ),
    refuses: { media: { ...imageBytes, media: 'audio' }, reason: 'takes no audio' },
  },
  {
    format: palmMessageFormat,
    reply: json({ candidates: [{ author: '1', content: 'The harbor is calm.' }], messages: [{ author: '0', content: 'Hi' }] }),
    refuses: { media: image(), reason: 'takes no image' },
  },
  {
    format: libraryAskFormat,
    reply: json(
      { content: 'The harbor', finish: false, model: 'm', documents: [] },
      { content: ' is calm.', finish: true, model: 'm', documents: [{ title: 'Tides', url: 'https://a.example/tides' }] },
    ),
    ends: 1,
  },
]

describe.each(vendors.map((vendor) => [vendor.format.name, vendor] as const))('a reply as %s', (_, vendor) => {
  const { reply, reasoning, usage, ends, others = [] } = vendor
  const { codec } = vendor.format

  it('has its text, its usage and its finish reason', () => {
    expect(summary(readFrames(codec, reply))).toMatchObject({
      blocks: [
        ...(reasoning ? [{ block: 'reasoning', text: reasoning }] : []),
        { block: 'text', text: vendor.text ?? 'The harbor is calm.' },
      ],
      ...(usage ? { usage } : {}),
      finish: 'stop',
      isComplete: true,
    })
  })

  it('keeps the grammar of events for any input', () => {
    const samples = [...reply, ...others].map((data) => ({ name: '', data }))
    expect(readerFaults(codec, samples)).toEqual([])
  })

  if (ends)
    it('is not complete when its stream is cut off', () => {
      expect(summary(readFrames(codec, reply.slice(0, -ends))).isComplete).toBe(false)
    })

  if (vendor.ignoresMore)
    it('ignores events after its end', () => {
      expect(summary(readFrames(codec, [...reply, ...reply]))).toEqual(summary(readFrames(codec, reply)))
    })
})

describe.each(vendors.filter(({ refuses }) => refuses).map((vendor) => [vendor.format.name, vendor] as const))(
  'the content of a request that is refused as %s',
  (_, { format: { codec }, model, refuses }) => {
    const more = model === undefined ? {} : { model }

    it('is a file that the vendor does not accept', () => {
      if (refuses) expect(() => written(codec, { turns: [user(refuses.media)] }, more)).toThrow(refuses.reason)
    })
  },
)

/** Common behaviour of all vendor formats that only upstreams speak. */
const all: readonly VendorCodec['format'][] = [cozeChatFormat, ...vendors.map(({ format }) => format)]
const requestOf = (codec: Codec, ...given: [Partial<Dialogue>, { model: string }?]) =>
  JSON.stringify(written(codec, ...given).body)

describe.each(all.map(({ name, codec }) => [name, codec] as const))('a request as %s', (_, codec) => {
  it('[126] is refused if it requests no output', () => {
    expect(() => written(codec, { outputTokensMax: 0, from: 'anthropic.messages' })).toThrow('max_tokens')
  })

  it("is refused when it asks for a web search of the caller's vendor", () => {
    expect(() => written(codec, { search: { contextSize: undefined, location: undefined } })).toThrow('web_search_options')
  })

  it("reports every member of the caller's family, except those without effect", () => {
    const extra = { logit_bias: { 50256: -100 }, store: false, metadata: null, stop_tokens: [] }
    expect(written(codec, { extra }).lost).toEqual(['logit_bias'])
  })

  it('[137] keeps all instructions, at the head and in the middle, in their order', () => {
    const turns = [user('Hi'), instruction('Third.'), user('Go')]
    expect(requestOf(codec, { system: [text('First.'), text('Second.')], turns })).toMatch(/First\..*Second\..*Third\./)
  })

  it('[83] [84] drops a result without a call, and adds a placeholder result to a call without one', () => {
    expect(requestOf(codec, { turns: [user(result('1', 'high')), user('Hi')] }, { model: 'ERNIE-4.0-8K' })).not.toContain('high')
    expect(requestOf(codec, { tools: [tideTool], turns: [user('Hi'), assistant(call('1')), user('Well?')] })).toContain(
      '(no result)',
    )
  })

  it('[89] marks the result of a failed tool as an error', () => {
    const failed = user({ ...result('1', 'no such port'), isError: true })
    expect(requestOf(codec, { tools: [tideTool], turns: [user('Hi'), assistant(call('1')), failed] })).toContain(
      'Error: no such port',
    )
  })

  it('never contains reasoning with opaque state of another family', () => {
    const sealed = thought('secret thought', { family: 'anthropic', kind: 'signature', value: 'SEAL' })
    const turns = [user('Hi'), assistant(sealed, 'Hello.'), user('Go')]
    expect(requestOf(codec, { turns })).not.toMatch(/SEAL|secret thought/)
  })

  it('is refused with a file that is stored at another vendor', () => {
    const file = media('image', { kind: 'file', id: 'file-1', family: 'openai' })
    expect(() => written(codec, { turns: [user(file)] })).toThrow('image')
  })

  it('contains a plain text document as text', () => {
    const note = media('document', { kind: 'text', mediaType: 'text/plain', text: 'wind 3' }, { title: 'Log' })
    expect(requestOf(codec, { turns: [user(note)] })).toContain('Log:\\nwind 3')
  })

  // Quadratic time would exceed the test's timeout.
  it('[183] is written in linear time in the number of messages', () => {
    const turns = Array.from({ length: 15_000 }, (_, at) => [user(`Question ${at}`), assistant(`Answer ${at}`)]).flat()
    expect(written(codec, { turns: [...turns, user('Last')] }).body).toBeDefined()
  })
})
