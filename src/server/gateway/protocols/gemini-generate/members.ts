import { fail } from '../../../base/lib/failure.ts'
import { isObject, type JsonObject } from '../wire-format.ts'

/**
 * Gemini's REST interface accepts every member of a request in camel case and in snake case: `systemInstruction`,
 * `system_instruction`.
 */
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

/** The groups of tools of a request. A single group may be written without a list. */
export function toolGroups(body: JsonObject): JsonObject[] {
  const single = eitherObject(body, 'tools')
  return single ? [single] : eitherList(body, 'tools').filter(isObject)
}

/** The name in camel case, from either case. */
export function camelCase(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** Caches names in snake case: they are looked up for every part, and only a few exist. */
const snakeNames = new Map<string, string>()

function snakeCase(key: string): string {
  const known = snakeNames.get(key)
  if (known !== undefined) return known
  const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  snakeNames.set(key, name)
  return name
}

/**
 * Throws `field_invalid` for an object, at any depth, that has one member in both spellings: the vendor and the gateway may read
 * different ones of the two, and thus different limits. Objects whose members the caller names, such as arguments, are not checked.
 */
export function refuseTwoSpellings(value: unknown, path = '', depth = 0): void {
  if (depth > depthMax) return
  if (Array.isArray(value)) for (const entry of value) refuseTwoSpellings(entry, path, depth + 1)
  if (!isObject(value)) return
  for (const key in value) {
    const member = value[key]
    if (member === undefined || member === null) continue
    const camel = key.includes('_') ? camelCase(key) : key
    if (camel !== key && Object.hasOwn(value, camel) && value[camel] !== null) refusePair(path + camel, path + key)
    if (typeof member === 'object' && !namedByCaller.has(camel)) refuseTwoSpellings(member, `${path}${key}.`, depth + 1)
  }
}

/** The depth to which bodies may be nested. */
const depthMax = 100

const namedByCaller: ReadonlySet<string> = new Set([
  ...['args', 'partialArgs', 'response', 'labels', 'parameters', 'parametersJsonSchema', 'responseJsonSchema'],
  'responseSchema',
])

function refusePair(field: string, other: string): never {
  return fail('field_invalid', {
    field,
    reason: { zh: `与 ${other} 重复，请只保留一个`, en: `${other} names the same; send one of them` },
  })
}
