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

/** The members of a request that decide the model's input. The vendor refuses all others. */
export function countedMembers(body: JsonObject): JsonObject {
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
