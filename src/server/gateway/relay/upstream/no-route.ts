import { isObject, type JsonObject, textAt } from '../../protocols/wire-format.ts'

/**
 * Whether an error means that the upstream has no such path: it has an empty body, a page, the path itself, or a default message of a
 * framework or proxy for an unknown route. Such an error may still be about a model, which the caller of this function checks.
 */
export function tellsNoRoute(status: number, text: string, path: string): boolean {
  if (status !== 404 && status !== 405 && status !== 501) return false
  const body = text.trim()
  if (body === '' || body.startsWith('<') || namesPath(body, path)) return true
  const message = messageOf(body)
  // "Not implemented" is what the status itself says, in whatever words.
  return message === '' || status === 501 || words.some((pattern) => pattern.test(message))
}

/** Some servers write slashes as `\/`, or a path without its first one. */
function namesPath(body: string, path: string): boolean {
  return path.length > 2 && body.replaceAll('\\/', '/').includes(path.slice(1))
}

/** The most specific text of an error in JSON, or the text itself; '' when it has none. */
function messageOf(body: string): string {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return body
  }
  return textIn(value)
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  if (Array.isArray(value)) return textIn(value[0])
  if (!isObject(value)) return ''
  const texts = [...places.map((place) => textAt(value, place)), ...inner.map((place) => textIn(value[place]))]
  return texts.find((text) => text !== '') ?? otherText(value)
}

/** `detail` and `title` are those of RFC 9457. */
const places = ['detail', 'message', 'msg', 'Message', 'error_msg', 'error_message', 'error_description']
const inner = ['error', 'errors', 'title', 'statusText']

/** An error with nothing but codes in unusual places still says something. */
function otherText(value: JsonObject): string {
  return Object.values(value).find((member) => typeof member === 'string') ?? ''
}

/** Default messages of HTTP frameworks, proxies and gateways for an unknown route, from their sources; read 2026-11. */
const words = [
  /^(?:error:? )?(?:\d{3}[:\s-]{0,3})?(?:page |route |path |endpoint |url |uri |api |resource |method |operation )?not[ _](?:found|allowed|implemented|supported|available)[.!]?$/i,
  /^(?:the |this )?(?:requested )?(?:page|route|path|endpoint|url|uri|resource|api|method)(?: you requested| requested)? (?:was|is|could|does|has)(?: not|n't) (?:be(?:en)? )?(?:found|exist|available|supported|implemented|allowed)\b/i,
  /^no (?:such |matching )?(?:route|endpoint|path|handler)\b/i,
  /^(?:unknown|invalid|unsupported|unrecognized) (?:route|endpoint|path|url|uri|request url|api)\b/i,
  /^cannot (?:post|get) /i,
]
