import { isObject, type JsonObject } from '../wire-format.ts'
import { camelCase } from './members.ts'
import { changingRules } from './schema.ts'
import { describedRules, knownRequired, listOf, mergeAllOf, type Place, placeAt, resolve } from './schema-nodes.ts'

/**
 * A JSON schema in the OpenAPI form of `parameters` and `responseSchema`: types in capitals, no references, one type each. Undefined
 * when nothing remains, because Gemini refuses an object without members. Source: protocols notes 3.5.
 */
export function writeOpenApiSchema(schema: JsonObject): JsonObject | undefined {
  const place = placeAt(schema)
  const hasMembers = isObject(schema.properties) ? Object.keys(schema.properties).length > 0 : isDefined(schema)
  return hasMembers ? writeNode({ ...(isDefined(schema) ? {} : { type: 'object' }), ...schema }, place) : undefined
}

/** Converts a caller's schema in the OpenAPI form to JSON schema. */
export function readOpenApiSchema(schema: JsonObject): JsonObject {
  const node = Object.fromEntries(Object.entries(schema).map(([key, value]) => [camelCase(key), value]))
  const read: Record<string, unknown> = {}
  for (const key of readMembers) if (node[key] !== undefined) read[key] = countOf(node[key], key)
  const type = typeof node.type === 'string' && node.type !== 'TYPE_UNSPECIFIED' ? node.type.toLowerCase() : undefined
  if (type !== undefined) read.type = node.nullable === true ? [type, 'null'] : type
  if (isObject(node.properties)) {
    read.properties = Object.fromEntries(Object.entries(node.properties).map(([name, value]) => [name, readChild(value)]))
  }
  if (isObject(node.items)) read.items = readChild(node.items)
  const choices = listOf(node.anyOf).map(readChild)
  if (choices.length > 0) read.anyOf = node.nullable === true && type === undefined ? [...choices, { type: 'null' }] : choices
  if (Array.isArray(node.enum) && node.nullable === true) read.enum = [...node.enum, null]
  return read
}

function readChild(value: unknown): JsonObject {
  return isObject(value) ? readOpenApiSchema(value) : {}
}

/** Google writes 64-bit integers as strings. */
function countOf(value: unknown, key: string): unknown {
  return /^m(in|ax)[A-Z]/.test(key) && typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
}

const countMembers = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum', 'minProperties', 'maxProperties']
const readMembers = ['title', 'description', 'format', 'enum', 'required', 'default', 'pattern', ...countMembers]

function writeNode(given: unknown, at: Place): JsonObject {
  if (!isObject(given) || --at.left.nodes < 0) return { type: 'STRING' }
  if (typeof given.$ref === 'string') return writeTarget(given.$ref, given, at)
  const { node, place } = mergeAllOf(given, at)
  const choices = choicesOf(node)
  if (choices) return writeChoices(node, choices, place)

  const type = typeOf(node)
  const written: Record<string, unknown> = { type: type.toUpperCase() }
  if (isNullable(node)) written.nullable = true
  const description = describedRules(node, changingRules)
  if (description !== undefined) written.description = description
  for (const key of ['title', 'pattern', 'default']) if (node[key] !== undefined) written[key] = node[key]
  for (const key of countMembers) if (typeof node[key] === 'number') written[key] = node[key]
  if (typeof node.format === 'string' && formats.has(node.format)) written.format = node.format

  writeValues(node, type, written)
  if (type === 'object') Object.assign(written, writeMembers(node, place))
  if (type === 'array') written.items = writeItems(node, place)
  return written
}

/** Expands a reference. An endless one becomes an arbitrary object. */
function writeTarget(ref: string, { $ref: _, ...beside }: JsonObject, at: Place): JsonObject {
  const target = resolve(ref, at)
  return target ? writeNode({ ...target.node, ...beside }, target.place) : { type: 'OBJECT', properties: anyMember }
}

/** The alternatives of a node, except null; undefined when there is only one. */
function choicesOf(node: JsonObject): readonly unknown[] | undefined {
  const { anyOf, oneOf, type, ...rest } = node
  const listed = [...listOf(anyOf), ...listOf(oneOf)]
  const types = listOf(type).filter((entry) => entry !== 'null')
  if (listed.length > 0) return listed.filter((entry) => !(isObject(entry) && entry.type === 'null'))
  return types.length > 1 ? types.map((entry) => ({ ...rest, type: entry })) : undefined
}

function writeChoices(node: JsonObject, choices: readonly unknown[], place: Place): JsonObject {
  const nullable = isNullable(node) ? { nullable: true } : {}
  const description = typeof node.description === 'string' ? { description: node.description } : {}
  const [only] = choices
  if (choices.length === 1) return { ...writeNode(only, place), ...nullable, ...description }
  return { anyOf: choices.map((choice) => writeNode(choice, place)), ...nullable, ...description }
}

function isNullable(node: JsonObject): boolean {
  const listed = [...listOf(node.anyOf), ...listOf(node.oneOf)]
  return (
    node.nullable === true ||
    listOf(node.type).includes('null') ||
    listOf(node.enum).includes(null) ||
    listed.some((entry) => isObject(entry) && entry.type === 'null')
  )
}

function typeOf(node: JsonObject): string {
  const stated = [node.type, ...listOf(node.type)].find((type) => typeof type === 'string' && type !== 'null')
  if (typeof stated === 'string') return stated.toLowerCase()
  if (isObject(node.properties) || node.additionalProperties !== undefined) return 'object'
  if (node.items !== undefined || node.prefixItems !== undefined) return 'array'
  const [value] = node.const === undefined ? listOf(node.enum).filter((entry) => entry !== null) : [node.const]
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'string'
}

/** Only strings can be in an enum; values of other types are listed in the description, so that the type is kept. */
function writeValues(node: JsonObject, type: string, written: Record<string, unknown>): void {
  const values = (node.const === undefined ? listOf(node.enum) : [node.const]).filter((value) => value !== null)
  if (values.length === 0) return
  if (type === 'string') {
    written.enum = values.map(String)
    written.format = 'enum'
  } else
    written.description =
      `${written.description ?? ''} One of: ${values.map((value) => JSON.stringify(value)).join(', ')}.`.trim()
}

function writeMembers(node: JsonObject, place: Place): JsonObject {
  const properties = isObject(node.properties) ? Object.entries(node.properties) : []
  if (properties.length === 0) return { properties: anyMember }
  const required = knownRequired(node.required, isObject(node.properties) ? node.properties : undefined)
  return {
    properties: Object.fromEntries(properties.map(([name, value]) => [name, writeNode(value, place)])),
    ...(required.length > 0 ? { required } : {}),
  }
}

function writeItems(node: JsonObject, place: Place): JsonObject {
  const tuple = Array.isArray(node.items) ? node.items : listOf(node.prefixItems)
  if (tuple.length > 0) return writeChoices({}, tuple, place)
  return isObject(node.items) ? writeNode(node.items, place) : { type: 'STRING' }
}

/** Stands for members of any name, since Gemini refuses an object without members. */
const anyMember: JsonObject = { value: { type: 'STRING', description: 'Any value, as JSON text.' } }

const formats = new Set(['date-time', 'enum', 'int32', 'int64', 'float', 'double'])

/** Whether a root schema specifies more than that it is an object. */
function isDefined(schema: JsonObject): boolean {
  const isConstrained = ['$ref', 'allOf', 'anyOf', 'oneOf', 'items', 'enum', 'const'].some((key) => schema[key] !== undefined)
  return isConstrained || (typeof schema.type === 'string' && schema.type !== 'object')
}
