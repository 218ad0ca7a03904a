import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/**
 * The input schema of a tool: an object at its root, without alternatives there, which the vendor refuses. Everything below the root
 * is unchanged. Source: protocols notes 3.5.
 */
export function toolSchema(schema: JsonObject | undefined): JsonObject {
  const { anyOf, oneOf, allOf, ...root } = schema ?? {}
  const forms = [...formsIn(anyOf), ...formsIn(oneOf)]
  const every = [root, ...formsIn(allOf)]
  const properties = propertiesOf([...forms, ...every])
  const required = [
    ...every.flatMap((form) => arrayAt(form, 'required')),
    ...inAll(forms.map((form) => arrayAt(form, 'required'))),
  ]
  return { ...root, type: 'object', properties, ...(required.length > 0 ? { required: [...new Set(required)] } : {}) }
}

/**
 * A schema that the vendor enforces, in `output_config.format` or for a strict tool. Unsupported keywords are removed; if that changes
 * the valid values, the description explains it. Source: protocols notes 3.5.
 */
export function strictSchema(schema: JsonObject): JsonObject {
  return strictNode(schema, { recursive: recursiveRefs(schema), depth: 0 })
}

/** The number of optional members in all objects of a schema, which the vendor limits. */
export function countOptional(schema: unknown, depth = 0): number {
  if (depth > depthMax || typeof schema !== 'object' || schema === null) return 0
  const own = isObject(schema) ? Object.keys(objectAt(schema, 'properties') ?? {}).length - arrayAt(schema, 'required').length : 0
  return Object.values(schema).reduce((sum: number, value) => sum + countOptional(value, depth + 1), Math.max(0, own))
}

/** Deeper than any real schema; anything is allowed below. */
const depthMax = 64

interface Walk {
  /** Recursive references, which the vendor refuses. */
  readonly recursive: ReadonlySet<string>
  readonly depth: number
}

/** Keywords that are kept unchanged. */
const kept = ['type', 'title', 'enum', 'const', '$ref']
/** Moved into the description. */
const notedKeys = [
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'prefixItems',
  'contains',
]
const formats = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])

function strictNode(value: unknown, walk: Walk): JsonObject {
  if (!isObject(value) || walk.depth > depthMax) return {}
  if (typeof value.$ref === 'string' && walk.recursive.has(value.$ref)) return { description: describe(value, [value.$ref]) }
  const schema = merged(value)
  const below = (inner: unknown) => strictNode(inner, { ...walk, depth: walk.depth + 1 })
  const node: Record<string, unknown> = {}
  const notes: string[] = []

  for (const key of kept) if (schema[key] !== undefined) node[key] = schema[key]
  for (const key of notedKeys) if (schema[key] !== undefined) notes.push(`${key}: ${JSON.stringify(schema[key])}`)
  if (typeof schema.format === 'string') {
    if (formats.has(schema.format)) node.format = schema.format
    else notes.push(`format: ${schema.format}`)
  }
  if (typeof schema.minItems === 'number') {
    if (schema.minItems <= 1) node.minItems = schema.minItems
    else notes.push(`minItems: ${schema.minItems}`)
  }

  const variants = [...arrayAt(schema, 'anyOf'), ...arrayAt(schema, 'oneOf')]
  if (variants.length > 0) node.anyOf = variants.map(below)
  for (const key of ['$defs', 'definitions']) {
    const definitions = objectAt(schema, key)
    if (definitions) node[key] = mapValues(definitions, below)
  }
  if (isOf(schema, 'array') || schema.items !== undefined) node.items = below(schema.items)
  if (isOf(schema, 'object') || isObject(schema.properties)) Object.assign(node, objectMembers(schema, notes, below))
  const description = describe(schema, notes)
  return description === '' ? node : { ...node, description }
}

function objectMembers(schema: JsonObject, notes: string[], below: (inner: unknown) => JsonObject): JsonObject {
  const properties = objectAt(schema, 'properties') ?? {}
  const required = arrayAt(schema, 'required').filter((name) => typeof name === 'string' && Object.hasOwn(properties, name))
  if (isObject(schema.additionalProperties)) notes.push(`other members: ${JSON.stringify(schema.additionalProperties)}`)
  return { properties: mapValues(properties, below), required, additionalProperties: false }
}

/** All parts of `allOf`, merged into one schema. */
function merged(schema: JsonObject, depth = 0): JsonObject {
  const { allOf, ...own } = schema
  if (!Array.isArray(allOf) || depth > depthMax) return own
  const parts = formsIn(allOf).map((part) => merged(part, depth + 1))
  const properties = propertiesOf([own, ...parts])
  const required = new Set([own, ...parts].flatMap((part) => arrayAt(part, 'required')))
  return {
    ...Object.fromEntries([...parts, own].flatMap((part) => Object.entries(part))),
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.size > 0 ? { required: [...required] } : {}),
  }
}

function propertiesOf(forms: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(forms.flatMap((form) => Object.entries(objectAt(form, 'properties') ?? {})))
}

function describe(schema: JsonObject, notes: readonly string[]): string {
  const note = notes.length > 0 ? `(${notes.join('; ')})` : ''
  return [textAt(schema, 'description'), note].filter((piece) => piece !== '').join(' ')
}

/**
 * References to definitions, or to the root, that are part of a cycle: those that remain after removing all dead ends in both
 * directions.
 */
function recursiveRefs(schema: JsonObject): Set<string> {
  const targets = new Map<string, unknown>([['#', schema]])
  for (const key of ['$defs', 'definitions']) {
    for (const [name, definition] of Object.entries(objectAt(schema, key) ?? {})) targets.set(`#/${key}/${name}`, definition)
  }
  const leads = new Map([...targets].map(([ref, target]) => [ref, [...refsIn(target)].filter((next) => targets.has(next))]))
  const left = withoutDeadEnds(new Set(targets.keys()), leads)
  return withoutDeadEnds(left, reversed(leads))
}

/** The nodes from which a path leads on without end. */
function withoutDeadEnds(nodes: ReadonlySet<string>, leads: ReadonlyMap<string, readonly string[]>): Set<string> {
  const left = new Set(nodes)
  /** How many of its successors are left, by node. */
  const open = new Map([...left].map((node) => [node, (leads.get(node) ?? []).filter((next) => left.has(next)).length]))
  const from = reversed(leads)
  const dead = [...left].filter((node) => open.get(node) === 0)
  for (const node of dead) {
    left.delete(node)
    for (const before of from.get(node) ?? []) {
      const count = (open.get(before) ?? 0) - 1
      open.set(before, count)
      if (count === 0 && left.has(before)) dead.push(before)
    }
  }
  return left
}

function reversed(leads: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const round = new Map<string, string[]>()
  for (const [from, nexts] of leads) {
    for (const next of nexts) {
      const list = round.get(next)
      if (list) list.push(from)
      else round.set(next, [from])
    }
  }
  return round
}

/** Skips definitions, which are only reached by reference, so that the root does not contain all of them. */
function refsIn(value: unknown, found: Set<string> = new Set(), depth = 0): Set<string> {
  if (depth > depthMax || typeof value !== 'object' || value === null) return found
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string') found.add(inner)
    else if (key !== '$defs' && key !== 'definitions') refsIn(inner, found, depth + 1)
  }
  return found
}

function formsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function inAll(lists: readonly (readonly unknown[])[]): unknown[] {
  const [first = [], ...others] = lists
  return first.filter((entry) => others.every((list) => list.includes(entry)))
}

function isOf(schema: JsonObject, type: string): boolean {
  return schema.type === type || arrayAt(schema, 'type').includes(type)
}

function mapValues(object: JsonObject, map: (value: unknown) => JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]))
}
