/**
 * Maps whose entries may apply to some models only: the key is a name, which applies to every model, or `name/pattern`, in which an
 * asterisk matches any text. Used by the options of tool prices and tier factors.
 */

/** The entries of such a map for one model, by name. If several patterns match, the longest is used. */
export function entriesFor(map: Readonly<Record<string, number>>, model: string): Readonly<Record<string, number>> {
  const found = new Map<string, { readonly value: number; readonly length: number }>()
  for (const [key, value] of Object.entries(map)) {
    const slash = key.indexOf('/')
    const [name, pattern] = slash < 0 ? [key, '*'] : [key.slice(0, slash), key.slice(slash + 1)]
    // A bare name is the least specific of all.
    const length = slash < 0 ? 0 : pattern.length
    if (length >= (found.get(name)?.length ?? 0) && fits(pattern, model)) found.set(name, { value, length })
  }
  return Object.fromEntries([...found].map(([name, { value }]) => [name, value]))
}

/** The entry of a map whose keys are names of models or patterns of them: that of the name, else of the longest pattern that fits. */
export function entryFor<Value>(map: Readonly<Record<string, Value>>, model: string): Value | undefined {
  if (Object.hasOwn(map, model)) return map[model]
  const fitting = Object.keys(map).filter((pattern) => pattern.includes('*') && fits(pattern, model))
  const [longest] = fitting.sort((one, other) => other.length - one.length)
  return longest === undefined ? undefined : map[longest]
}

/** The number of a map for a name that a caller may have chosen: inherited properties are not read. */
export function numberIn(map: Readonly<Record<string, number>>, name: string): number | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined
}

/** A pattern also fits the name behind a vendor's prefix: `gpt-*` fits `openai/gpt-4o`. */
function fits(pattern: string, model: string): boolean {
  return matches(pattern, model) || (model.includes('/') && matches(pattern, model.slice(model.lastIndexOf('/') + 1)))
}

function matches(pattern: string, text: string): boolean {
  const [start = '', ...others] = pattern.split('*')
  if (!text.startsWith(start)) return false
  if (others.length === 0) return text === pattern
  const end = others.pop() ?? ''
  let from = start.length
  for (const part of others) {
    const at = text.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return text.length - end.length >= from && text.endsWith(end)
}
