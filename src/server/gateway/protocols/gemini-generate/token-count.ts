import { countOverhead } from '../count-overhead.ts'
import { type CallerCount, tokensAt, type UpstreamCount } from '../token-counts.ts'
import type { JsonObject, WireFormat } from '../wire-format.ts'
import { geminiGenerate } from './generate.ts'
import { eitherObject, refuseTwoSpellings } from './members.ts'

/**
 * Gemini countTokens: counts only the contents, or a complete request in `generateContentRequest`. Free of charge and never
 * streamed. Source: protocols notes 1.13.
 */
export const geminiCountTokens: WireFormat = {
  ...geminiGenerate,
  format: 'gemini.count_tokens',
  isFree: true,
  readRequest(body, path) {
    refuseTwoSpellings(body)
    return geminiGenerate.readRequest(countedRequest(body), { ...path, stream: false })
  },
  promptText: (body) => geminiGenerate.promptText(countedRequest(body)),
  answerIn: 'promptTokensDetails',
  answersWith: (reply) => typeof reply.totalTokens === 'number',
  readUsage: () => undefined,
  stream: null,
}

/** The count as callers get it. */
export const generateCount: CallerCount = {
  of: 'gemini.generate',
  readRequest: countedRequest,
  readPrompt: (body, texts) => ({ texts, around: countOverhead(countedRequest(body)) }),
  writeReply: (tokens) => ({ totalTokens: tokens, promptTokensDetails: [{ modality: 'TEXT', tokenCount: tokens }] }),
}

/** The vendor's own count. */
export const generateCountUpstream: UpstreamCount = {
  of: 'gemini.generate',
  writeRequest: (request, model) => ({ generateContentRequest: { ...request, model: resourceOf(model) } }),
  readReply: (reply) => tokensAt(reply, 'totalTokens'),
}

function resourceOf(model: string): string {
  return /^(models|tunedModels|publishers)\//.test(model) ? model : `models/${model}`
}

/** The request whose prompt is counted. */
function countedRequest(body: JsonObject): JsonObject {
  return eitherObject(body, 'generateContentRequest') ?? body
}
