import { describe, expect, it } from 'vitest'
import { refusalOf, written } from '../../../../test/helpers/codecs.ts'
import type { Quirks } from './codec.ts'
import type { CallerFormat, Format } from './format.ts'
import { conversations, formats } from './index.ts'
import type { JsonObject } from './wire-format.ts'

/** Callers whose last turn is a message of the model, as agents send it again after an interrupted answer. */
const callers: readonly { readonly from: CallerFormat; readonly body: JsonObject; readonly lost: string }[] = [
  {
    from: 'openai.chat',
    body: {
      messages: [
        { role: 'user', content: 'Tide?' },
        { role: 'assistant', content: 'It is ' },
      ],
    },
    lost: 'messages.last',
  },
  {
    from: 'openai.responses',
    body: {
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Tide?' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is ' }] },
      ],
    },
    lost: 'input.last',
  },
  {
    from: 'gemini.generate',
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'Tide?' }] },
        { role: 'model', parts: [{ text: 'It is ' }] },
      ],
    },
    lost: 'contents.last',
  },
]

/** Callers who wrote the beginning of the answer. */
const beginners: readonly { readonly from: CallerFormat; readonly body: JsonObject }[] = [
  {
    from: 'anthropic.messages',
    body: {
      max_tokens: 100,
      messages: [
        { role: 'user', content: 'Tide?' },
        { role: 'assistant', content: 'It is ' },
      ],
    },
  },
  {
    from: 'openai.chat',
    body: {
      messages: [
        { role: 'user', content: 'Tide?' },
        { role: 'assistant', content: 'It is ', prefix: true },
      ],
    },
  },
  {
    from: 'openai.chat',
    body: {
      messages: [
        { role: 'user', content: 'Tide?' },
        { role: 'assistant', content: 'It is ', partial: true },
      ],
    },
  },
]

interface Host {
  readonly format: Format
  readonly model: string
  readonly quirks?: Quirks
  /** Whether it continues the beginning of an answer. */
  readonly begins?: true
}

const hosts: readonly Host[] = [
  { format: 'anthropic.messages', model: 'claude-sonnet-4-5', begins: true },
  { format: 'anthropic.messages', model: 'claude-sonnet-4-6' },
  { format: 'anthropic.messages', model: 'claude-opus-5-5' },
  { format: 'gemini.generate', model: 'gemini-2.5-flash' },
  { format: 'gemini.generate', model: 'gemini-3.7-flash' },
  { format: 'bedrock.converse', model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', begins: true },
  { format: 'bedrock.converse', model: 'anthropic.claude-opus-4-6-v1' },
  { format: 'bedrock.converse', model: 'us.meta.llama3-3-70b-instruct-v1:0' },
  { format: 'openai.chat', model: 'gpt-5.1' },
  { format: 'openai.chat', model: 'mistral-large-4', quirks: { prefill: 'prefix', strictTurns: true }, begins: true },
  { format: 'openai.chat', model: 'kimi-k3.1', quirks: { prefill: 'partial' }, begins: true },
  { format: 'openai.responses', model: 'gpt-5.1' },
  { format: 'cohere.chat', model: 'command-a-03-2025' },
  { format: 'ollama.chat', model: 'qwen3', begins: true },
  { format: 'dashscope.chat', model: 'farui-plus' },
  { format: 'hunyuan.chat', model: 'hunyuan-lite' },
  { format: 'spark.chat', model: 'SparkDesk-v3.5' },
  { format: 'ernie.chat', model: 'ERNIE-4.0-8K' },
  { format: 'dify.chat', model: 'chatbot', begins: true },
  { format: 'coze.chat', model: '7438' },
  { format: 'replicate.predict', model: 'meta/meta-llama-3-70b-instruct', begins: true },
  { format: 'palm.message', model: 'chat-bison-001' },
  { format: 'library.ask', model: 'm', begins: true },
]

const named = hosts.map((host) => [`${host.format} ${host.model}`, host] as const)

function write(from: CallerFormat, body: JsonObject, { format, model, quirks = {} }: Host, stream = false) {
  const { inbound } = formats[from]
  const { codec } = formats[format]
  if (!inbound || !codec) throw new Error('no conversation')
  return written(codec, inbound.readRequest({ model: 'asked', stream, ...body }, { model: 'asked', stream }), { model, quirks })
}

/** Whether the host takes a last turn of this caller for complete, so that it is sent as it is. */
function isComplete(from: CallerFormat, { format, quirks }: Host): boolean {
  return format === 'openai.responses' || (from === 'openai.chat' && format === 'openai.chat' && quirks?.strictTurns !== true)
}

it('names every format of a conversation', () => {
  expect(conversations.filter((format) => !hosts.some((host) => host.format === format))).toEqual([])
})

describe.each(named)('a last turn of the model, for %s', (_, host) => {
  it.each([false, true])('is followed by a request to continue, which is reported (streamed: %s)', (stream) => {
    for (const { from, body, lost } of callers) {
      const request = write(from, body, host, stream)
      const sent = JSON.stringify(request.body)
      expect(sent).toContain('It is')
      const isAsked = !isComplete(from, host)
      expect([from, sent.includes('Continue.')]).toEqual([from, isAsked])
      expect([from, request.lost.includes(lost)]).toEqual([from, isAsked])
    }
  })

  it('is the beginning of the answer where the caller means that, or else refused', () => {
    for (const { from, body } of beginners) {
      if (host.begins) {
        const request = write(from, body, host)
        expect(JSON.stringify(request.body)).not.toContain('Continue.')
        expect(request.lost.filter((name) => name.startsWith('messages'))).toEqual([])
      } else {
        expect(refusalOf(() => write(from, body, host))).toMatchObject({ code: 'untranslatable', field: 'messages' })
      }
    }
  })
})
