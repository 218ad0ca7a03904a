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

/** The request whose prompt is counted. */
export function countedRequest(body: JsonObject): JsonObject {
  return eitherObject(body, 'generateContentRequest') ?? body
}
