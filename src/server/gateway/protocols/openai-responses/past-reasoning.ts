import { type LeavingThoughts, type PastThoughts, refusedThoughts, splicedEntries } from '../past-thoughts.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../wire-format.ts'
import { isEnvelope } from './envelope.ts'

/**
 * Encrypted reasoning of earlier turns in the input of Responses. The provider removes that of other vendors itself. Source: protocols
 * notes 3.7.
 */
export const pastReasoning: PastThoughts = {
  has: (body) => reasoningIn(body).length > 0,
  seals: (body) => reasoningIn(body).map(sealOf),
  changes,
  without({ json, bytes }, model, asked) {
    const changed = changes(json, model, asked)
    if (!changed) return undefined
    const input = { key: 'input', before: arrayAt(json, 'input'), after: changed.changes.input }
    return { json: { ...json, ...changed.changes }, bytes: splicedEntries(bytes, input), dropped: changed.dropped }
  },
}

function changes(body: JsonObject, _model: string, asked: LeavingThoughts = {}) {
  const refused = refusedThoughts(reasoningIn(body), sealOf, asked)
  if (refused.size === 0) return undefined
  let isWithoutReasoning = false
  const input = arrayAt(body, 'input').flatMap((item) => {
    if (!isObject(item)) return [item]
    if (refused.has(item)) {
      isWithoutReasoning = true
      return []
    }
    isWithoutReasoning &&= isOfModel(item)
    return [isWithoutReasoning && renamed.has(textAt(item, 'type')) ? withoutId(item) : item]
  })
  return { changes: { input }, dropped: ['input.reasoning'] }
}

function reasoningIn(body: JsonObject): JsonObject[] {
  return arrayAt(body, 'input').filter(isObject).filter(isReadable)
}

function isReadable(item: JsonObject): boolean {
  return item.type === 'reasoning' && sealOf(item) !== '' && !isEnvelope(item)
}

function sealOf(item: JsonObject): string {
  return textAt(item, 'encrypted_content')
}

function isOfModel(item: JsonObject): boolean {
  const type = textAt(item, 'type')
  return item.role === 'assistant' || type === 'reasoning' || type.endsWith('_call')
}

/** The vendor knows by their ids that reasoning came before these items, and refuses them without it. Without an id they are valid. */
const renamed: ReadonlySet<string> = new Set(['message', 'function_call', 'custom_tool_call'])

function withoutId({ id: _, ...item }: JsonObject): JsonObject {
  return item
}
