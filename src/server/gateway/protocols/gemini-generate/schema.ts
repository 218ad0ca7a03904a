import { isObject, type JsonObject } from '../wire-format.ts'
import { describedRules, knownRequired, listOf, lookUp, mergeAllOf, type Place, placeAt, resolve } from './schema-nodes.ts'

/**
 * A JSON schema in the dialect of `parametersJsonSchema` and `responseJsonSchema`: unknown keywords are removed or rewritten, so
 * that Gemini never refuses the schema. Source: protocols notes 3.5 and the vendor's list of supported members.
 */
export function writeJsonSchema(schema: JsonObject): JsonObject {
  const place = placeAt(schema)
  const root = rootOf(schema)
  const written = writeNode(root, place)
  const defs = Object.entries({ ...objectOf(schema.definitions), ...objectOf(schema.$defs) })
  const needsDefs = defs.length > 0 && JSON.stringify([written, schema]).includes('"$ref"')
  return {
    ...(written.type === undefined && !isComposed(written) ? { type: 'object' } : {}),
    ...written,
    ...(needsDefs ? { $defs: Object.fromEntries(defs.map(([name, node]) => [name, writeNode(node, place)])) } : {}),
  }
}

/** A root that is only a reference is expanded: Gemini requires a type at the root. */
function rootOf(schema: JsonObject): JsonObject {
  let root = schema
  for (let steps = 0; typeof root.$ref === 'string' && steps < 5; steps++) root = lookUp(schema, root.$ref) ?? {}
  return root
}

function writeNode(given: unknown, at: Place): JsonObject {
  if (!isObject(given) || --at.left.nodes < 0) return {}
  if (typeof given.$ref === 'string') return writeReference(given.$ref, at)
  const { node, place } = mergeAllOf(given, at)
  const written: Record<string, unknown> = {}
  for (const key of plainMembers) if (node[key] !== undefined) written[key] = node[key]
  const description = describedRules(node, changingRules)
  if (description !== undefined) written.description = description

  writeValues(node, written)
  writeBounds(node, written)
  writeChildren(node, written, place)
  return written
}

/** A reference may have no siblings. Gemini only supports references to definitions; others are expanded. */
function writeReference(ref: string, at: Place): JsonObject {
  const [, name] = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(ref) ?? []
  if (name !== undefined && lookUp(at.root, ref)) return { $ref: `#/$defs/${name}` }
  const target = resolve(ref, at)
  return target ? writeNode(target.node, target.place) : { type: 'object' }
}

/** Gemini has enums of strings and numbers; other values are written into the description. */
function writeValues(node: JsonObject, written: Record<string, unknown>): void {
  const values = node.const === undefined ? listOf(node.enum) : [node.const]
  if (values.length === 0) return
  if (values.every((value) => typeof value === 'string' || typeof value === 'number' || value === null)) written.enum = values
  else written.description = `${written.description ?? ''} One of: ${JSON.stringify(values)}.`.trim()
}

function writeBounds(node: JsonObject, written: Record<string, unknown>): void {
  for (const key of ['minItems', 'maxItems', 'minimum', 'maximum']) if (typeof node[key] === 'number') written[key] = node[key]
  if (node.type !== 'integer') return
  if (typeof node.exclusiveMinimum === 'number') written.minimum ??= Math.floor(node.exclusiveMinimum) + 1
  if (typeof node.exclusiveMaximum === 'number') written.maximum ??= Math.ceil(node.exclusiveMaximum) - 1
}

function writeChildren(node: JsonObject, written: Record<string, unknown>, place: Place): void {
  const child = (value: unknown) => writeNode(value, place)
  if (isObject(node.properties)) {
    written.properties = Object.fromEntries(Object.entries(node.properties).map(([name, value]) => [name, child(value)]))
    const required = knownRequired(node.required, node.properties)
    if (required.length > 0) written.required = required
  }
  const { additionalProperties } = node
  if (typeof additionalProperties === 'boolean') written.additionalProperties = additionalProperties
  else if (isObject(additionalProperties)) written.additionalProperties = child(additionalProperties)

  for (const key of ['anyOf', 'oneOf']) if (listOf(node[key]).length > 0) written[key] = listOf(node[key]).map(child)
  const tuple = Array.isArray(node.items) ? node.items : listOf(node.prefixItems)
  if (tuple.length > 0) written.prefixItems = tuple.map(child)
  if (isObject(node.items)) written.items = child(node.items)
  else if (isArray(node.type) && tuple.length === 0) written.items = {}
}

const plainMembers = ['type', 'title', 'format', 'default', 'propertyOrdering', 'nullable']

/** Rules without a keyword in Gemini that change the valid values, rather than narrow them. */
export const changingRules = [
  'not',
  'if',
  'then',
  'else',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'contains',
]

function isArray(type: unknown): boolean {
  return type === 'array' || listOf(type).includes('array')
}

function isComposed(node: JsonObject): boolean {
  return node.anyOf !== undefined || node.oneOf !== undefined || node.enum !== undefined
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}
