import { closeJson } from '../../base/lib/bytes/close-json.ts'
import { isObject, type JsonObject } from './wire-format.ts'

/**
 * The input of a tool call as an object, for formats that require one. Nothing is lost: invalid JSON becomes the member `input`, a
 * value other than an object the member `value`. JSON inside of a JSON string is parsed too. Numbers are read as JavaScript reads
 * them: `1.0` becomes `1`. Throws nothing. Source: protocols notes 3.3, edge cases 68 to 72.
 */
export function inputObject(text: string): JsonObject {
  if (isNothing(text)) return {}
  const value = parsed(text)
  if (value === undefined) return { input: text }
  if (isObject(value)) return value
  const inner = typeof value === 'string' ? parsed(value) : undefined
  return isObject(inner) ? inner : { value }
}

/** Like `inputObject`, for input that was cut off at the output limit: reads the beginning of an object. */
export function cutInputObject(text: string): JsonObject {
  const begun = parsed(text) === undefined ? closeJson(text) : undefined
  const value = begun === undefined ? undefined : parsed(begun)
  return isObject(value) ? value : inputObject(text)
}

/**
 * The input of a tool call as JSON text, as Chat requires it: objects are serialized, an absent input becomes an empty object,
 * strings are unchanged.
 */
export function inputText(value: unknown): string {
  if (typeof value === 'string') return isNothing(value) ? '{}' : value
  return value === undefined || value === null ? '{}' : JSON.stringify(value)
}

function isNothing(text: string): boolean {
  const trimmed = text.trim()
  return trimmed === '' || trimmed === 'null'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
