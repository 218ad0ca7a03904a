import { decodeComponent } from '../../../base/lib/net/parse-url.ts'
import { isObject, type JsonObject } from '../wire-format.ts'

/** The context of a node of a JSON schema while it is rewritten: its root, and the references that led to it. */
export interface Place {
  readonly root: JsonObject
  readonly trail: readonly string[]
  /** The number of nodes that may still be written. References multiply: without a bound a small schema could expand endlessly. */
  readonly left: { nodes: number }
}

export function placeAt(root: JsonObject): Place {
  return { root, trail: [], left: { nodes: nodesMax } }
}

const nodesMax = 5000
const depthMax = 5
/** The maximum chain of references, circular or not, since each one uses stack. */
const trailMax = 64

/** The target of a reference, and its context; undefined when it is missing, or circular for the fifth time. */
export function resolve(ref: string, { root, trail, left }: Place): { node: JsonObject; place: Place } | undefined {
  const isEndless = trail.length >= depthMax && trail.includes(ref)
  const node = isEndless || trail.length >= trailMax ? undefined : lookUp(root, ref)
  return node && { node, place: { root, trail: [...trail, ref], left } }
}

/** The object at a JSON pointer of the same document. */
export function lookUp(root: JsonObject, ref: string): JsonObject | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let at: unknown = root
  for (const step of ref.slice(2).split('/')) {
    const key = decodeComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(key)]
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return isObject(at) ? at : undefined
}

/** The node with all members of its `allOf`. Of repeated members the first is kept. */
export function mergeAllOf(node: JsonObject, place: Place): { node: JsonObject; place: Place } {
  if (!Array.isArray(node.allOf)) return { node, place }
  const { allOf, ...own } = node
  let merged: JsonObject = own
  let inner = place
  for (const entry of allOf.filter(isObject)) {
    const target = typeof entry.$ref === 'string' ? resolve(entry.$ref, inner) : { node: entry, place: inner }
    if (!target || --place.left.nodes < 0) continue
    const { $ref: _, ...beside } = entry
    const added = mergeAllOf(target.node === entry ? entry : { ...target.node, ...beside }, target.place)
    merged = mergeTwo(merged, added.node)
    inner = { ...inner, trail: added.place.trail.length > inner.trail.length ? added.place.trail : inner.trail }
  }
  return { node: merged, place: inner }
}

function mergeTwo(one: JsonObject, other: JsonObject): JsonObject {
  const properties = isObject(one.properties) || isObject(other.properties)
  const required = [...listOf(one.required), ...listOf(other.required)]
  return {
    ...other,
    ...one,
    ...(properties ? { properties: mergeProperties(one.properties, other.properties) } : {}),
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  }
}

/** A property that both schemas define has to satisfy both. */
function mergeProperties(one: unknown, other: unknown): JsonObject {
  const [first, second] = [isObject(one) ? one : {}, isObject(other) ? other : {}]
  const both = Object.keys(first).filter((key) => Object.hasOwn(second, key))
  return { ...second, ...first, ...Object.fromEntries(both.map((key) => [key, { allOf: [first[key], second[key]] }])) }
}

/** The names in `required` that exist in the properties. */
export function knownRequired(required: unknown, properties: JsonObject | undefined): string[] {
  return listOf(required).filter((name): name is string => typeof name === 'string' && Object.hasOwn(properties ?? {}, name))
}

/** The description of a node with one sentence for the rules that the form has no keyword for and that change its meaning. */
export function describedRules(node: JsonObject, rules: readonly string[]): string | undefined {
  const description = typeof node.description === 'string' ? node.description : ''
  const left = Object.fromEntries(rules.filter((rule) => node[rule] !== undefined).map((rule) => [rule, node[rule]]))
  if (Object.keys(left).length === 0) return description || undefined
  return `${description}${description === '' ? '' : ' '}Must also follow the JSON schema ${JSON.stringify(left).slice(0, ruleLengthMax)}.`
}

const ruleLengthMax = 400

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
