import { isObject, type JsonObject } from '../wire-format.ts'

/** Gemini's REST interface takes every member of a request in camel case and in snake case: `systemInstruction`, `system_instruction`. */
export function either(value: JsonObject, key: string): unknown {
  return value[key] ?? value[snakeCase(key)]
}

export function eitherObject(value: JsonObject, key: string): JsonObject | undefined {
  const member = either(value, key)
  return isObject(member) ? member : undefined
}

export function eitherText(value: JsonObject, key: string): string {
  const member = either(value, key)
  return typeof member === 'string' ? member : ''
}

export function eitherList(value: JsonObject, key: string): readonly unknown[] {
  const member = either(value, key)
  return Array.isArray(member) ? member : []
}

/** The name in camel case, whichever case it came in. */
export function camelCase(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** Asked for at every part of every turn, always about the same few names. */
const snakeNames = new Map<string, string>()

function snakeCase(key: string): string {
  const known = snakeNames.get(key)
  if (known !== undefined) return known
  const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  snakeNames.set(key, name)
  return name
}
