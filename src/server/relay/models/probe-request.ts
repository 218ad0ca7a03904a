import { isPattern } from '../../channels/match-name.ts'
import type { RunningChannel } from '../../channels/model-index.ts'
import { resolveModel } from '../../channels/select.ts'
import { upstreamFormat } from '../../channels/upstream-format.ts'
import type { CallerFormat } from '../../protocols/format.ts'
import { outputLimitMember } from '../../protocols/openai-chat/models.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'

/** The smallest request that shows whether a model answers. */
export interface ProbeRequest {
  readonly format: CallerFormat
  readonly model: string
  readonly body: JsonObject
}

/**
 * What a channel is tested with: the given model, else its test model, else the first of its models that can be tested. Undefined when
 * there is none: its provider has no interface that is spoken here, or its models make pictures, sounds and films, of which the smallest
 * costs money or needs a file. Pure.
 */
export function probeRequest(channel: RunningChannel, wanted: string): ProbeRequest | undefined {
  const named = wanted || channel.testModel
  const models = named === '' ? [...channel.models].filter((model) => !isPattern(model)) : [named]
  for (const model of models) {
    const request = requestFor(channel, model)
    if (request) return request
  }
  return undefined
}

function requestFor(channel: RunningChannel, model: string): ProbeRequest | undefined {
  if (untestable.test(model)) return undefined
  const kind = kinds.find(({ name }) => name.test(model)) ?? conversation
  const format = kind.formats.find(
    (each) => upstreamFormat(channel, { format: each, model: resolveModel(channel, model) }) !== undefined,
  )
  return format && { format, model, body: bodyOf(format, model) }
}

/** What a model is for, as far as its name tells. `other` makes or hears something else than text, or is drawn and sung by tasks. */
export type ModelKind = 'conversation' | 'embeddings' | 'moderation' | 'rerank' | 'other'

export function modelKind(model: string): ModelKind {
  if (untestable.test(model)) return 'other'
  return kinds.find(({ name }) => name.test(model))?.kind ?? 'conversation'
}

/** Names of models that make or hear something else than text, of drawing and music tasks, and of live talk. */
const untestable =
  /dall-e|image|imagen|stable-diffusion|\bsd3|flux|cogview|cogvideo|wanx|kolors|seedream|recraft|ideogram|midjourney|^mj_|^swap_face|suno|lyrics|whisper|transcri|paraformer|sensevoice|\basr\b|tts|speech|cosyvoice|voice|realtime|sora|veo-|kling|video|music/i

interface Kind {
  readonly kind: ModelKind
  readonly name: RegExp
  /** The first that the channel can be asked in. */
  readonly formats: readonly CallerFormat[]
}

const kinds: readonly Kind[] = [
  { kind: 'rerank', name: /rerank/i, formats: ['rerank'] },
  { kind: 'moderation', name: /moderation/i, formats: ['openai.moderations'] },
  { kind: 'embeddings', name: /embed|bge-|^m3e|^gte-/i, formats: ['openai.embeddings'] },
]

/** Hosts of embeddings alone name their models as they like. */
const conversation: Kind = {
  kind: 'conversation',
  name: /./,
  formats: [
    'openai.chat',
    'anthropic.messages',
    'gemini.generate',
    'openai.responses',
    'openai.completions',
    'openai.embeddings',
  ],
}

const outputTokensMax = 16
const messages = [{ role: 'user', content: 'hi' }]

function bodyOf(format: CallerFormat, model: string): JsonObject {
  switch (format) {
    case 'rerank':
      return { model, query: 'hello', documents: ['hello world', 'goodbye'] }
    case 'openai.moderations':
      return { model, input: 'hello world' }
    case 'openai.embeddings':
      return { model, input: ['hello world'] }
    case 'openai.responses':
      return { model, input: 'hi', max_output_tokens: outputTokensMax }
    case 'openai.completions':
      return { model, prompt: 'hi', max_tokens: outputTokensMax }
    case 'gemini.generate':
      return { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: outputTokensMax } }
    case 'anthropic.messages':
      return { model, messages, max_tokens: outputTokensMax }
    default:
      return { model, messages, [outputLimitMember(model, {})]: outputTokensMax }
  }
}
