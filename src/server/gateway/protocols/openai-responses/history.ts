import { isObject, type JsonObject, textAt } from '../wire-format.ts'

/**
 * The items of an input, which may also be a string with the user's text. Undefined for other values. Source: protocols notes 1.3.
 */
export function inputItems(input: unknown): readonly unknown[] | undefined {
  if (Array.isArray(input)) return input
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return input === undefined || input === null ? [] : undefined
}

/**
 * The output of an answer as input of the next request. Reasoning without encrypted state is left out: its vendor has not stored its
 * id. Source: edge case 157.
 */
export function outputAsInput(output: readonly unknown[]): readonly unknown[] {
  return output.filter((item) => isObject(item) && (item.type !== 'reasoning' || textAt(item, 'encrypted_content') !== ''))
}

/** The ids of the items that an input references, without duplicates. */
export function referencesIn(items: readonly unknown[]): string[] {
  return [...new Set(items.filter(isReference).map((item) => textAt(item, 'id')))]
}

/** The items with known references replaced by the referenced items. */
export function withReferred(items: readonly unknown[], known: ReadonlyMap<string, readonly unknown[]>): readonly unknown[] {
  return known.size === 0
    ? items
    : items.flatMap((item) => (isReference(item) ? known.get(textAt(item, 'id')) : undefined) ?? [item])
}

/** The vendor also accepts a reference without a type. */
function isReference(item: unknown): item is JsonObject {
  if (!isObject(item) || typeof item.id !== 'string') return false
  return item.type === 'item_reference' || ((item.type === undefined || item.type === null) && item.role === undefined)
}
