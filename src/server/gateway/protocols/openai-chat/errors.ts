import { readExtra } from '../error-extra.ts'
import { arrayAt, type ErrorExtra, isObject, type JsonObject, objectAt, textAt, type UpstreamErrorFacts } from '../wire-format.ts'

/**
 * Reads an OpenAI-style error body. Vendors use different members for the message; the first non-empty string counts. An error may
 * be in an array of one entry (Gemini's compatible endpoint), have a numeric code, be in a list (Cloudflare) or in MiniMax's
 * `base_resp`. Source: protocols notes 1.0 and 2.2.
 */
export function readOpenAiError(body: unknown): UpstreamErrorFacts {
  const outer = Array.isArray(body) ? body[0] : body
  if (!isObject(outer)) return { message: '', type: '', code: '', param: null, status: 0 }
  const base = objectAt(outer, 'base_resp')
  if (base && base.status_code !== 0) return readBaseError(base)
  const listed = arrayAt(outer, 'errors').find(isObject)
  const inner: JsonObject = isObject(outer.error) ? outer.error : (listed ?? outer)
  const code = inner.code

  return {
    message:
      [inner.message, outer.message, outer.Message, outer.msg, outer.err, outer.error_msg, outer.error, outer.detail].find(
        isText,
      ) ?? '',
    type: textAt(inner, 'type'),
    code: typeof code === 'string' ? code : typeof code === 'number' ? String(code) : '',
    param: textAt(inner, 'param') || null,
    status: statusIn(code) || statusIn(inner.status),
    ...(isObject(outer.error) ? readExtra(dialectOf(outer, outer.error), outer.error) : {}),
  }
}

/**
 * The dialect that an error is written in: errors of every dialect are read here, since the format of the body is not known yet.
 */
function dialectOf(outer: JsonObject, error: JsonObject): ErrorExtra['dialect'] {
  if (outer.type === 'error' && !('code' in error)) return 'anthropic'
  return typeof error.status === 'string' && typeof error.code === 'number' ? 'gemini' : 'openai'
}

/**
 * The error that an upstream sent instead of a reply or a chunk, with status 200. Undefined for a reply. Source: protocols notes
 * 2.2, edge cases 14, 247 and 254.
 */
export function readErrorInReply(data: JsonObject): UpstreamErrorFacts | undefined {
  const base = objectAt(data, 'base_resp')
  const isBad = Boolean(data.error) || data.type === 'error' || data.success === false || (base && base.status_code !== 0)
  const isOther = !('choices' in data) && isText(data.message) && data.code !== undefined
  return isBad || isOther ? readOpenAiError(data) : readErrorInChoices(data)
}

/**
 * The error that every choice of a reply or chunk has, as OpenRouter reports the failure of a vendor. Source:
 * https://openrouter.ai/docs/api-reference/errors-and-debugging, read 2026-11.
 */
export function readErrorInChoices(data: JsonObject): UpstreamErrorFacts | undefined {
  const choices = arrayAt(data, 'choices')
  const isFailed = choices.length > 0 && choices.every((choice) => isObject(choice) && isObject(choice.error))
  return isFailed ? readOpenAiError(choices[0]) : undefined
}

function readBaseError(base: JsonObject): UpstreamErrorFacts {
  const code = typeof base.status_code === 'number' ? base.status_code : 0
  const status = baseStatuses[code] ?? 502
  return { message: textAt(base, 'status_msg'), type: '', code: String(code), param: null, status }
}

/** HTTP statuses of MiniMax's codes: rate limit, key, balance, internal error, unsafe output, parameters. */
const baseStatuses: Readonly<Record<number, number>> = { 1002: 429, 1004: 401, 1008: 402, 1013: 500, 1027: 400, 2013: 400 }

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function statusIn(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599 ? value : 0
}
