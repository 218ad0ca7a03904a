import { isObject, type JsonObject, textAt, type UpstreamErrorFacts } from '../wire-format.ts'

/**
 * What an OpenAI-style error body says. Vendors put the message into many places; the first that is a text wins.
 * An error may come as an array of one (Gemini's compatible endpoint) or with a numeric code.
 */
export function readOpenAiError(body: unknown): UpstreamErrorFacts {
  const outer = Array.isArray(body) ? body[0] : body
  if (!isObject(outer)) return { message: '', type: '', code: '', param: null, status: 0 }
  const inner: JsonObject = isObject(outer.error) ? outer.error : outer
  const code = inner.code

  return {
    message: [inner.message, outer.message, outer.msg, outer.err, outer.error_msg, outer.error, outer.detail].find(isText) ?? '',
    type: textAt(inner, 'type'),
    code: typeof code === 'string' ? code : typeof code === 'number' ? String(code) : '',
    param: textAt(inner, 'param') || null,
    status: statusIn(code) || statusIn(inner.status),
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function statusIn(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599 ? value : 0
}
