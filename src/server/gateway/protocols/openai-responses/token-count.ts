import { countOverhead } from '../count-overhead.ts'
import { type CallerCount, tokensAt, type UpstreamCount } from '../token-counts.ts'
import type { JsonObject, WireFormat } from '../wire-format.ts'
import { openAiResponses } from './responses.ts'

/**
 * Counts the tokens that a Responses request would send to the model. Free of charge and never streamed. Source: types of the
 * official SDK 7.51.
 */
export const openAiInputTokens: WireFormat = {
  ...openAiResponses,
  format: 'openai.input_tokens',
  isFree: true,
  readRequest: (body) => openAiResponses.readRequest(countedMembers(body)),
  answerIn: 'input',
  answersWith: (reply) => typeof reply.input_tokens === 'number',
  readUsage: () => undefined,
  stream: null,
}

/** The count as callers get it. */
export const responsesCount: CallerCount = {
  of: 'openai.responses',
  readRequest: countedMembers,
  readPrompt: (body, texts) => ({ texts, around: countOverhead(body) }),
  writeReply: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
}

/** The vendor's own count. */
export const responsesCountUpstream: UpstreamCount = {
  of: 'openai.responses',
  writeRequest: (request, model) => ({ ...countedMembers(request), model }),
  readReply: (reply) => tokensAt(reply, 'input_tokens'),
}

/** The members of a request that decide the model's input. The vendor refuses all others. */
function countedMembers(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([key]) => counted.has(key)))
}

const counted: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'conversation',
  'previous_response_id',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'tool_choice',
  'tools',
  'truncation',
])
