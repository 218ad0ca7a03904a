import { readExtra } from '../error-extra.ts'
import { arrayAt, isObject, type JsonObject, textAt, type UpstreamErrorFacts } from '../wire-format.ts'

/**
 * Reads an error of Google's interfaces: `{"error":{"code":503,"message","status":"UNAVAILABLE","details"}}`, alone or as the only
 * entry of a list. The code of the facts is the reason in the details, or else the status name. Source: protocols notes 1.0, 2.5.
 */
export function readGeminiError(body: unknown): UpstreamErrorFacts {
  const outer = Array.isArray(body) ? body[0] : body
  const error: JsonObject = isObject(outer) && isObject(outer.error) ? outer.error : {}
  const status = Number(error.code)
  return {
    message: textAt(error, 'message'),
    type: '',
    code: readGoogleDetails(body).reason || textAt(error, 'status'),
    param: null,
    status: Number.isInteger(status) && status >= 400 && status <= 599 ? status : 0,
    ...readExtra('gemini', error),
  }
}

/** The details of a Google error: the reason (`API_KEY_INVALID`), and the seconds to a retry, 0 if absent. */
export function readGoogleDetails(body: unknown): { reason: string; retryAfterSeconds: number } {
  const outer = Array.isArray(body) ? body[0] : body
  const error = isObject(outer) && isObject(outer.error) ? outer.error : {}
  const details = arrayAt(error, 'details').filter(isObject)
  const reasons = details.map((detail) => textAt(detail, 'reason')).filter((reason) => reason !== '')
  const delays = details.map((detail) => /^(\d{1,6}(?:\.\d+)?)s$/.exec(textAt(detail, 'retryDelay'))?.[1])
  const delay = delays.find((text) => text !== undefined)
  return {
    reason: reasons[0] ?? '',
    retryAfterSeconds: delay === undefined ? 0 : Math.min(Math.ceil(Number(delay)), 30 * 86_400),
  }
}
