import { countableText, writeTokenCount } from './anthropic-messages/token-count.ts'
import { countOverhead } from './count-overhead.ts'
import type { CallerFormat, CountFormat, Format } from './format.ts'
import { countedRequest } from './gemini-generate/token-count.ts'
import { countedMembers } from './openai-responses/token-count.ts'
import { countAt, isObject, type JsonObject } from './wire-format.ts'

/** A token count endpoint of callers: its body is a request for an answer, and its reply is one number. */
export interface CallerCount {
  readonly format: CountFormat
  /** The format of the request that is counted. */
  readonly of: CallerFormat
  /** The counted request, with the members that its reader requires. */
  readRequest(body: JsonObject): JsonObject
  /** The texts of the prompt, and the overhead in tokens around them. */
  readPrompt(body: JsonObject, texts: readonly string[]): { readonly texts: readonly string[]; readonly around: number }
  writeReply(tokens: number): JsonObject
}

/** A token count endpoint of a vendor, for one of its formats. Source: protocols notes 1.12, 1.13, 2.6, 2.7 and 5.2. */
export interface UpstreamCount {
  readonly format: Format
  readonly of: Format
  /** Writes the count request for a request that would get an answer. */
  writeRequest(request: JsonObject, model: string): JsonObject
  /** Undefined for an invalid count. */
  readReply(reply: JsonObject): number | undefined
}

export const callerCounts: Readonly<Record<CountFormat, CallerCount>> = {
  'anthropic.count_tokens': {
    format: 'anthropic.count_tokens',
    of: 'anthropic.messages',
    readRequest: (body) => ({ ...body, max_tokens: body.max_tokens ?? outputTokens, stream: undefined }),
    readPrompt(body) {
      const { texts, tokensBeside } = countableText(body)
      return { texts, around: tokensBeside }
    },
    writeReply: writeTokenCount,
  },
  'gemini.count_tokens': {
    format: 'gemini.count_tokens',
    of: 'gemini.generate',
    readRequest: countedRequest,
    readPrompt: (body, texts) => ({ texts, around: countOverhead(countedRequest(body)) }),
    writeReply: (tokens) => ({ totalTokens: tokens, promptTokensDetails: [{ modality: 'TEXT', tokenCount: tokens }] }),
  },
  'openai.input_tokens': {
    format: 'openai.input_tokens',
    of: 'openai.responses',
    readRequest: countedMembers,
    readPrompt: (body, texts) => ({ texts, around: countOverhead(body) }),
    writeReply: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  },
}

export const upstreamCounts: readonly UpstreamCount[] = [
  {
    format: 'anthropic.count_tokens',
    of: 'anthropic.messages',
    writeRequest: (request, model) => ({ ...withoutAnswer(request), model }),
    readReply: (reply) => numberAt(reply, 'input_tokens'),
  },
  {
    format: 'gemini.count_tokens',
    of: 'gemini.generate',
    writeRequest: (request, model) => ({ generateContentRequest: { ...request, model: resourceOf(model) } }),
    readReply: (reply) => numberAt(reply, 'totalTokens'),
  },
  {
    format: 'openai.input_tokens',
    of: 'openai.responses',
    writeRequest: (request, model) => ({ ...countedMembers(request), model }),
    readReply: (reply) => numberAt(reply, 'input_tokens'),
  },
  {
    format: 'bedrock.count_tokens',
    of: 'anthropic.messages',
    writeRequest(request) {
      const body = { ...request, max_tokens: request.max_tokens ?? outputTokens, model: undefined, stream: undefined }
      return { input: { invokeModel: { body: Buffer.from(JSON.stringify(body)).toString('base64') } } }
    },
    readReply: (reply) => numberAt(reply, 'inputTokens'),
  },
  {
    format: 'bedrock.count_tokens',
    of: 'bedrock.converse',
    writeRequest: ({ messages, system, toolConfig }) => ({ input: { converse: { messages, system, toolConfig } } }),
    readReply: (reply) => numberAt(reply, 'inputTokens'),
  },
]

/** The requests require an output limit, which does not affect the count. */
const outputTokens = 1024

function withoutAnswer(request: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(request).filter(([key]) => !ofAnswer.has(key)))
}

/** Members of Messages that are not part of the prompt; the count endpoint refuses them. */
const ofAnswer: ReadonlySet<string> = new Set([
  'max_tokens',
  'stream',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'metadata',
  'service_tier',
  'inference_geo',
  'container',
  'diagnostics',
])

function resourceOf(model: string): string {
  return /^(models|tunedModels|publishers)\//.test(model) ? model : `models/${model}`
}

function numberAt(reply: unknown, key: string): number | undefined {
  return isObject(reply) && typeof reply[key] === 'number' ? countAt(reply, key) : undefined
}
