import { z } from 'zod'
import { explain } from '../issues.ts'
import type { Text } from '../text.ts'
import type { Option } from './define.ts'

/**
 * Converts between the typed value of an option and the string that is stored and exchanged: switches are `true` or `false`,
 * numbers their digits, maps and lists JSON, everything else the text itself.
 */
type Decoded = { readonly value: unknown } | { readonly reason: Text; readonly badJson: boolean }

/** No string longer than this is ever read as an option. */
export const optionTextLengthMax = 1_000_000

export function encodeOption(option: Option, value: unknown): string {
  return kindOf(option) === 'json' ? JSON.stringify(value, null, 2) : String(value)
}

/** Reads and checks the string form. The value is deeply frozen, and its objects have no prototype, so that any name can be looked up. */
export function decodeOption(option: Option, text: string): Decoded {
  if (text.length > optionTextLengthMax) return refused('内容过长', 'is too long')
  const read = readText(option, text)
  if ('reason' in read) return read
  const parsed = schemaOf(option).safeParse(read.value)
  if (!parsed.success) return { reason: explain(parsed.error), badJson: false }
  return { value: sealed(parsed.data) }
}

const schemas = new WeakMap<Option, z.ZodType>()

function schemaOf(option: Option): z.ZodType {
  const schema = schemas.get(option) ?? option.schema(z)
  schemas.set(option, schema)
  return schema
}

/** A deeply frozen copy whose objects have no prototype. */
export function sealed(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(sealed))
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = Object.create(null)
  for (const [key, entry] of Object.entries(value)) copy[key] = sealed(entry)
  return Object.freeze(copy)
}

function readText(option: Option, text: string): Decoded {
  switch (kindOf(option)) {
    case 'boolean':
      if (text === 'true' || text === 'false') return { value: text === 'true' }
      return refused('须为 true 或 false', 'must be true or false')
    case 'number':
      if (/^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text.trim())) return { value: Number(text) }
      return refused('须为数字', 'must be a number')
    case 'json':
      return readJson(text)
    case 'text':
      return { value: text }
  }
}

function kindOf({ widget }: Option): 'boolean' | 'number' | 'json' | 'text' {
  if (widget === 'switch') return 'boolean'
  if (widget === 'number') return 'number'
  return jsonWidgets.has(widget) ? 'json' : 'text'
}

const jsonWidgets: ReadonlySet<string> = new Set([
  ...['ratio-map', 'text-map', 'header-lists', 'chats', 'group-limits', 'group-counts', 'video-prices'],
])

const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

function readJson(text: string): Decoded {
  let forbidden = ''
  try {
    const value: unknown = JSON.parse(text, (key, entry) => {
      if (forbiddenKeys.has(key)) forbidden = key
      return entry
    })
    return forbidden === '' ? { value } : refused(`不允许使用键名 ${forbidden}`, `must not have the key ${forbidden}`)
  } catch {
    // Not JSON, or nested so deeply that reading it would exhaust the stack.
    return { reason: { zh: '不是合法的 JSON 字符串', en: 'is not a valid JSON string' }, badJson: true }
  }
}

function refused(zh: string, en: string): Decoded {
  return { reason: { zh, en }, badJson: false }
}
