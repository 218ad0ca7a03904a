import { readOpenAiError } from '../openai-chat/errors.ts'
import { type JsonObject, objectAt, textAt, type UpstreamErrorFacts } from '../wire-format.ts'

/**
 * An error in a stream: the event `error`, flat as documented or nested as sent in practice; the event `response.failed`; or a bare
 * error object, as in other OpenAI streams. Source: types of the official SDK 7.51.
 */
export function readResponsesError(data: JsonObject): UpstreamErrorFacts | undefined {
  if (data.type === 'response.failed') return readFailedResponse(objectAt(data, 'response') ?? {})
  if (data.type !== 'error' && !data.error) return undefined
  const facts = readOpenAiError(data)
  return withStatus({ ...facts, type: facts.type === 'error' ? '' : facts.type })
}

/** The error of a response with the status `failed`. */
export function readFailedResponse(response: JsonObject): UpstreamErrorFacts {
  const facts = readOpenAiError({ error: objectAt(response, 'error') ?? {} })
  const state = textAt(response, 'status') || 'failed'
  return withStatus({ ...facts, message: facts.message || `the response is ${state}` })
}

/**
 * An error as the last event of a stream that passes through: both flat and nested, since clients differ in the form that they
 * read.
 */
export function errorEventText({ message, type, code, param, extra }: UpstreamErrorFacts): string {
  const errorMembers = { message, param, code: code || null }
  const more = extra?.dialect === 'openai' ? extra.members : {}
  const data = {
    type: 'error',
    sequence_number: 0,
    ...errorMembers,
    error: { ...errorMembers, type: type || 'server_error', ...more },
  }
  return `event: error\ndata: ${JSON.stringify(data)}\n\n`
}

function withStatus(facts: UpstreamErrorFacts): UpstreamErrorFacts {
  return facts.status > 0 ? facts : { ...facts, status: statusOfCode.get(facts.code) ?? 0 }
}

/** The statuses for codes of a failed response that are not the server's fault; every other code counts as one. */
const statusOfCode: ReadonlyMap<string, number> = new Map([
  ['rate_limit_exceeded', 429],
  ['context_length_exceeded', 400],
  ['invalid_prompt', 400],
  ['bio_policy', 400],
  ['misalignment_policy_violation', 400],
  ['invalid_image', 400],
  ['invalid_image_format', 400],
  ['invalid_base64_image', 400],
  ['invalid_image_url', 400],
  ['image_too_large', 400],
  ['image_too_small', 400],
  ['image_parse_error', 400],
  ['image_content_policy_violation', 400],
  ['invalid_image_mode', 400],
  ['image_file_too_large', 400],
  ['unsupported_image_media_type', 400],
  ['empty_image_file', 400],
  ['failed_to_download_image', 400],
  ['image_file_not_found', 400],
])
