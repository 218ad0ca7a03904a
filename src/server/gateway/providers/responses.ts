import type { CallerFormat, Format } from '../protocols/format.ts'
import { isEnvelope } from '../protocols/openai-responses/envelope.ts'
import { needsResponses, outputTokensMin } from '../protocols/openai-responses/models.ts'
import { isForeignTier } from '../protocols/tiers.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'

/**
 * Removes members of a request in Responses for which the vendor would return 400: an output limit below 16, `include_usage`,
 * members of other vendors, and earlier reasoning of another vendor's model. The effort may be part of the model's name, as on
 * Chat. Source: OpenAI API reference, read 2026-11.
 */
export function adjustResponses(body: JsonObject, model: string): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  const [, name, effort] = /^(o[1-9].*)-(high|medium|low)$/.exec(model) ?? []
  if (name) Object.assign(changes, { model: name, reasoning: { ...objectAt(body, 'reasoning'), effort } })

  const reasoning = objectAt(body, 'reasoning')
  if (reasoning?.effort === 'default') changes.reasoning = { ...reasoning, effort: undefined }
  if (isForeignTier(body.service_tier)) changes.service_tier = undefined

  const limit = body.max_output_tokens
  if (typeof limit === 'number' && limit < outputTokensMin) changes.max_output_tokens = outputTokensMin
  if (isObject(body.stream_options) && 'include_usage' in body.stream_options) {
    const { include_usage: _, ...options } = body.stream_options
    changes.stream_options = Object.keys(options).length > 0 ? options : undefined
  }
  const items = arrayAt(body, 'input')
  if (items.some(isEnvelope)) changes.input = items.filter((item) => !isEnvelope(item))
  return changes
}

/** Models that Chat does not offer, or not with both tools and reasoning, are called in Responses. */
export function prefersResponses(format: CallerFormat, model: string, body: JsonObject): Format | undefined {
  const needs = format === 'openai.responses' ? 'never' : needsResponses(model)
  if (needs === 'always') return 'openai.responses'
  const hasTools = arrayAt(body, 'tools').length > 0 || arrayAt(body, 'functions').length > 0
  return needs === 'with-tools' && hasTools && textAt(body, 'reasoning_effort') !== 'none' ? 'openai.responses' : undefined
}
