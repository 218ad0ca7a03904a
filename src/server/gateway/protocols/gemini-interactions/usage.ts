import { cachedTokens, completionTokens, promptTokens, type Usage } from '../../../../contract/usage.ts'
import { readGeminiUsage, writeGeminiUsage } from '../gemini-generate/usage.ts'
import { arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/**
 * Usage of an interaction, or of an event of its stream: the counts of generateContent under other names, and the number of billed
 * searches. `before` when nothing is reported. Source: types of the official SDK 3.1, read 2026-11.
 */
export function readInteractionUsage(reply: JsonObject, before?: Usage): Usage | undefined {
  const usage = objectAt(reply, 'usage')
  if (!usage) return before
  const counts = Object.fromEntries(Object.entries(countNames).map(([name, own]) => [name, usage[own]]))
  const details = Object.fromEntries(Object.entries(detailNames).map(([name, own]) => [name, readDetails(usage, own)]))
  const read = readGeminiUsage({ usageMetadata: { ...counts, ...details, serviceTier: textAt(reply, 'service_tier') } })
  const groundings = arrayAt(usage, 'grounding_tool_count').filter(isObject)
  const countOf = (type: string) =>
    groundings.reduce((sum, grounding) => sum + (grounding.type === type ? countAt(grounding, 'count') : 0), 0)
  const maps = countOf('google_maps')
  if (!read) return before
  return { ...read, searches: countOf('google_search'), ...(maps > 0 ? { toolCalls: { google_maps: maps } } : {}) }
}

const countNames = {
  promptTokenCount: 'total_input_tokens',
  cachedContentTokenCount: 'total_cached_tokens',
  candidatesTokenCount: 'total_output_tokens',
  thoughtsTokenCount: 'total_thought_tokens',
  toolUsePromptTokenCount: 'total_tool_use_tokens',
  totalTokenCount: 'total_tokens',
}

const detailNames = {
  promptTokensDetails: 'input_tokens_by_modality',
  cacheTokensDetails: 'cached_tokens_by_modality',
  candidatesTokensDetails: 'output_tokens_by_modality',
  toolUsePromptTokensDetails: 'tool_use_tokens_by_modality',
}

function readDetails(usage: JsonObject, list: string): JsonObject[] {
  return arrayAt(usage, list)
    .filter(isObject)
    .map((detail) => ({ modality: textAt(detail, 'modality').toUpperCase(), tokenCount: detail.tokens }))
}

/** Writes usage in the form of an interaction. */
export function writeInteractionUsage(usage: Usage): JsonObject {
  const input = promptTokens(usage)
  const output = completionTokens(usage)
  const written = writeGeminiUsage(usage)
  const details = Object.entries(detailNames).flatMap(([name, own]) => {
    const listed = arrayAt(written, name).filter(isObject)
    const inOwnForm = listed.map(({ modality, tokenCount }) => ({ modality: String(modality).toLowerCase(), tokens: tokenCount }))
    return inOwnForm.length > 0 ? [[own, inOwnForm] as const] : []
  })
  return {
    total_input_tokens: input,
    total_cached_tokens: cachedTokens(usage),
    total_output_tokens: Math.max(0, output - usage.reasoning),
    total_thought_tokens: usage.reasoning,
    total_tool_use_tokens: 0,
    total_tokens: input + output,
    ...Object.fromEntries(details),
  }
}
