import { AppError, fail } from '../../base/lib/failure.ts'
import { isObject, type JsonObject } from './wire-format.ts'

/** Readers of the request members that several formats share. Each throws a named error that says how to fix it. */
export const outputTokensLimit = 10_000_000

export function readModel(body: JsonObject): string {
  const model = body.model
  if (typeof model !== 'string' || model.trim() === '') fail('model_required')
  if (model.length > 255) fail('field_invalid', { field: 'model', reason: 'at most 255 characters' })
  return model
}

export function readFlag(body: JsonObject, field: string): boolean {
  const value = body[field]
  if (value === undefined || value === null) return false
  if (typeof value !== 'boolean') fail('field_invalid', { field, reason: 'must be true or false' })
  return value
}

/** An optional whole number within bounds, checked before anything is priced. */
export function readCount(body: JsonObject, field: string, bounds: { min: number; max: number }): number | undefined {
  const value = body[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value)) fail('field_invalid', { field, reason: 'must be a whole number' })
  if (value < bounds.min || value > bounds.max) fail('amount_out_of_range', { field })
  return value
}

/** The error when two of these members, which set the same limit, have different values: hosts differ in which one they use. */
export function limitConflict(limits: Readonly<Record<string, unknown>>): AppError | undefined {
  let first: string | undefined
  let limit: unknown
  for (const name in limits) {
    const value = limits[name]
    if (value === undefined || value === null) continue
    if (first === undefined) {
      first = name
      limit = value
    } else if (value !== limit) return conflictOf(first, name)
  }
  return undefined
}

function conflictOf(field: string, other: string): AppError {
  const reason = {
    zh: `与 ${other} 是同一限制但取值不同，请只保留一个`,
    en: `${other} names the same limit with another value; send one of them`,
  }
  return new AppError('field_invalid', { field, reason })
}

/** Throws the failures of `limitConflict`. */
export function refuseLimitConflict(limits: Readonly<Record<string, unknown>>): void {
  const conflict = limitConflict(limits)
  if (conflict) throw conflict
}

export function requireArray(body: JsonObject, field: string): readonly unknown[] {
  const value = body[field]
  if (!Array.isArray(value) || value.length === 0)
    fail('field_invalid', { field, reason: 'must be a list with at least one entry' })
  return value
}

export function requirePresent(body: JsonObject, field: string): void {
  if (body[field] === undefined || body[field] === null) fail('field_invalid', { field, reason: 'is required' })
}

/** Gathers all texts below a value of a message list, and counts the parts that are not text. */
export function collectText(value: unknown, into: { texts: string[]; media: number }, depth = 0): void {
  if (depth > 64) fail('field_invalid', { field: 'body', reason: 'nested deeper than 64 levels' })
  if (typeof value === 'string') {
    into.texts.push(value)
    return
  }
  if (Array.isArray(value)) {
    for (const entry of value) collectText(entry, into, depth + 1)
    return
  }
  if (!isObject(value)) return
  if (isMedia(value)) {
    into.media++
    return
  }
  for (const key in value) if (key !== 'cache_control' && key !== 'id') collectText(value[key], into, depth + 1)
}

const mediaTypes = new Set([
  ...['image_url', 'image', 'input_image', 'input_audio', 'audio', 'video'],
  ...['file', 'input_file', 'document', 'document_url', 'file_url'],
])

function isMedia(part: JsonObject): boolean {
  return typeof part.type === 'string' && mediaTypes.has(part.type)
}
