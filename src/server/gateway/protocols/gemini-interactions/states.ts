import { readGeminiError } from '../gemini-generate/errors.ts'
import type { AnswerEnd } from '../stored-form.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt, type UpstreamErrorFacts } from '../wire-format.ts'
import { readInteractionUsage } from './usage.ts'

/** The state of an interaction. Source: types of the official SDK 3.1. */
export function isRunning(interaction: JsonObject): boolean {
  return running.has(textAt(interaction, 'status'))
}

/** Every state in which the model does not work any more, also one that waits for the caller, ends the charge. */
export function readEnd(interaction: JsonObject): AnswerEnd | undefined {
  const state = textAt(interaction, 'status')
  return state === '' || running.has(state) ? undefined : { state, usage: readInteractionUsage(interaction) }
}

const running: ReadonlySet<string> = new Set(['queued', 'in_progress', 'idle'])

export function readFailedInteraction(interaction: JsonObject): UpstreamErrorFacts | undefined {
  if (interaction.status !== 'failed') return undefined
  const [error] = arrayAt(interaction, 'errors').filter(isObject)
  return readInteractionError({ error: error ?? { message: 'the interaction has failed' } })
}

/**
 * The error of the event `error`, whose code is a status by name or number, or an error of Google's interfaces. Undefined for every
 * other event.
 */
export function readInteractionError(data: JsonObject): UpstreamErrorFacts | undefined {
  const error = objectAt(data, 'error')
  if (!error)
    return data.event_type === 'error' ? readGeminiError({ error: { message: 'the interaction has failed' } }) : undefined
  const facts = readGeminiError(data)
  const code = textAt(error, 'code')
  return {
    ...facts,
    code: facts.code || code,
    status: facts.status || statusOfCode[code.toUpperCase()] || 0,
  }
}

/** Names of statuses in gRPC, in the spellings of both Google's older and newer interfaces. */
const statusOfCode: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  INVALID_REQUEST: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
}
