import { isObject, type JsonObject, textAt } from '../wire-format.ts'

/**
 * A page of the input of a response, in which every item has an id: `order` (by default the newest first), `limit`, `after` and
 * `before`. Source: types of the official SDK 7.51.
 */
export function listInput(items: readonly unknown[], query: URLSearchParams): JsonObject {
  const all = items.filter(isObject).map(listed)
  const ordered = query.get('order') === 'asc' ? all : all.toReversed()
  const from = ordered.findIndex(({ id }) => id === query.get('after')) + 1
  const end = ordered.findIndex(({ id }) => id === query.get('before'))
  const rest = ordered.slice(from, end < 0 ? undefined : end)
  const data = rest.slice(0, limitOf(query.get('limit')))
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: data.length < rest.length,
  }
}

function limitOf(text: string | null): number {
  const limit = Number(text ?? 20)
  return Number.isInteger(limit) ? Math.min(Math.max(limit, 1), 100) : 20
}

/** An item as the vendor returns it: with an id and a status, and for messages a list of parts. */
function listed(item: JsonObject, index: number): JsonObject & { readonly id: string } {
  const isMessage = item.type === undefined || item.type === 'message'
  const type = isMessage ? 'message' : textAt(item, 'type')
  const id = textAt(item, 'id') || `${isMessage ? 'msg' : 'item'}_${index}`
  if (!isMessage) return { status: 'completed', ...item, id }
  const kind = item.role === 'assistant' ? 'output_text' : 'input_text'
  const content = typeof item.content === 'string' ? [{ type: kind, text: item.content }] : item.content
  return { status: 'completed', ...item, id, type, content }
}
