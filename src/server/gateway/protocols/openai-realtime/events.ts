import type { AppError } from '../../../base/lib/failure.ts'
import { limitConflict } from '../read-request.ts'
import { isObject, type JsonObject, objectAt, textAt, type UpstreamErrorFacts } from '../wire-format.ts'

/**
 * The events of a realtime session that the gateway reads; all others pass unchanged. Both names of an event are read: those of the
 * published interface and those of its beta. Source: types of the official SDK 7.51, protocols notes 1.11, read 2026-11.
 */
export function readEvent(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Session facts in an event of the upstream or the caller. */
export interface SessionFacts {
  /** Undefined when it is absent or unlimited. */
  readonly outputTokensMax: number | undefined
  /** '' if audio is not transcribed. */
  readonly transcriptionModel: string
  readonly transcriptionPrompt: string
  /** The session answers only in text. */
  readonly isTextOnly: boolean
}

export function readSession(session: JsonObject): SessionFacts {
  const input = objectAt(objectAt(session, 'audio') ?? {}, 'input') ?? {}
  const transcription = objectAt(input, 'transcription') ?? objectAt(session, 'input_audio_transcription') ?? {}
  const modalities = session.output_modalities ?? session.modalities
  return {
    outputTokensMax: limitIn(session),
    transcriptionModel: textAt(transcription, 'model'),
    transcriptionPrompt: textAt(transcription, 'prompt'),
    isTextOnly: Array.isArray(modalities) && !modalities.includes('audio') && modalities.length > 0,
  }
}

/** The output limit of a session or a response; undefined when it has none, or `inf`. */
export function limitIn(value: JsonObject): number | undefined {
  const limit = value.max_output_tokens ?? value.max_response_output_tokens
  return typeof limit === 'number' && Number.isInteger(limit) && limit > 0 ? limit : undefined
}

/** The error for an event whose session or response has two different limits, one in the published and one in the beta member. */
export function limitConflictIn(event: JsonObject): AppError | undefined {
  const limitsOf = (holder: 'session' | 'response') => {
    const { max_output_tokens: limit, max_response_output_tokens: beta } = objectAt(event, holder) ?? {}
    return limitConflict({ [`${holder}.max_output_tokens`]: limit, [`${holder}.max_response_output_tokens`]: beta })
  }
  return limitsOf('session') ?? limitsOf('response')
}

/** The same event with `model` as the model of its session, if the session has one. */
export function withSessionModel(event: JsonObject, model: string): JsonObject {
  const session = objectAt(event, 'session')
  return session && 'model' in session ? { ...event, session: { ...session, model } } : event
}

/** The duration of an audio chunk. An unknown format counts as 16 bits at 24 kHz. */
export function secondsIn(base64: string, format: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  const bytes = Math.max(0, Math.floor((base64.length * 3) / 4) - padding)
  return bytes / (format.includes('g711') || format.includes('pcmu') || format.includes('pcma') ? 8_000 : 48_000)
}

/** The input or output audio format: a name, or an object that has one. */
export function soundFormat(session: JsonObject, side: 'input' | 'output'): string {
  const nested = objectAt(objectAt(session, 'audio') ?? {}, side) ?? {}
  const format = nested.format ?? session[`${side}_audio_format`]
  return isObject(format) ? textAt(format, 'type') : typeof format === 'string' ? format : ''
}

/** An error as an event. */
export function errorEventOf(
  error: Pick<UpstreamErrorFacts, 'message' | 'type' | 'param'> & { code: string | null },
  eventId: string,
) {
  const { message, type, code, param } = error
  return JSON.stringify({ type: 'error', event_id: eventId, error: { type, code, message, param, event_id: null } })
}
