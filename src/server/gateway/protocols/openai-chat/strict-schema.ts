import { arrayAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'

/**
 * Whether a JSON schema follows OpenAI's rules for `strict`: every object lists its members, requires all of them and allows no
 * others, and only some keywords are used. A schema that does not is refused with 400. Source: OpenAI guide to structured outputs,
 * protocols notes 3.5.
 */
export function fitsStrict(schema: JsonObject): boolean {
  return schema.type === 'object' && fits(schema, 0)
}

const depthMax = 10
const refused = [
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
  'prefixItems',
  'uniqueItems',
  'default',
]

function fits(schema: unknown, depth: number): boolean {
  if (!isObject(schema) || depth > depthMax || refused.some((keyword) => keyword in schema)) return false
  const properties = objectAt(schema, 'properties')
  const isObjectType = schema.type === 'object' || (Array.isArray(schema.type) && schema.type.includes('object'))
  if ((isObjectType || properties) && !isClosed(schema, properties)) return false

  const below = [
    ...Object.values(properties ?? {}),
    ...Object.values(objectAt(schema, '$defs') ?? {}),
    ...Object.values(objectAt(schema, 'definitions') ?? {}),
    ...arrayAt(schema, 'anyOf'),
    ...('items' in schema ? [schema.items] : []),
  ]
  return below.every((inner) => fits(inner, depth + 1))
}

function isClosed(schema: JsonObject, properties: JsonObject | undefined): boolean {
  const required = arrayAt(schema, 'required')
  return schema.additionalProperties === false && Object.keys(properties ?? {}).every((name) => required.includes(name))
}
