/**
 * The JSON schema keywords that vendors support for enforced schemas. Sources: OpenAI "Structured outputs", Anthropic "Structured
 * outputs", Gemini API reference (`Schema` and `responseJsonSchema`), read 2026-11.
 */
type SchemaRule = keyof typeof rules

interface Rule {
  readonly keywords: ReadonlySet<string>
  readonly types: ReadonlySet<string>
  /** Objects must have `additionalProperties: false`. */
  readonly isClosed: boolean
  /** Objects must require all of their properties. */
  readonly requiresAll: boolean
  readonly formats?: ReadonlySet<string>
  /** An object must have properties, an array items. */
  readonly isFilled: boolean
}

const jsonTypes = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
const shared = ['type', 'title', 'description', 'enum', 'items', 'properties', 'required', 'anyOf']
const references = ['$ref', '$defs']
const numbers = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

const rules = {
  'openai-strict': {
    keywords: new Set([
      ...[...shared, ...references, ...numbers, '$schema', 'definitions', 'additionalProperties', 'const', 'pattern', 'format'],
      ...['minItems', 'maxItems', 'minLength', 'maxLength'],
    ]),
    types: jsonTypes,
    isClosed: true,
    requiresAll: true,
    isFilled: false,
  },
  'anthropic-output': {
    keywords: new Set([
      ...[...shared, ...references, '$schema', 'definitions', 'additionalProperties', 'const', 'allOf', 'format'],
      ...['minItems', 'default'],
    ]),
    types: jsonTypes,
    isClosed: true,
    requiresAll: false,
    formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']),
    isFilled: false,
  },
  'gemini-json': {
    keywords: new Set([
      ...[...shared, ...references, '$id', '$anchor', 'format', 'prefixItems', 'minItems', 'maxItems', 'minimum', 'maximum'],
      ...['oneOf', 'additionalProperties', 'propertyOrdering'],
    ]),
    types: jsonTypes,
    isClosed: false,
    requiresAll: false,
    isFilled: false,
  },
  'gemini-openapi': {
    keywords: new Set([
      ...[...shared, 'format', 'nullable', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength'],
      ...['pattern', 'example', 'propertyOrdering', 'default', 'minimum', 'maximum'],
    ]),
    types: new Set([...jsonTypes].flatMap((type) => [type, type.toUpperCase()])),
    isClosed: false,
    requiresAll: false,
    formats: new Set(['enum', 'date-time', 'int32', 'int64', 'float', 'double']),
    isFilled: true,
  },
} as const satisfies Record<string, Rule>

/** The violation of the rule in a schema; undefined when it complies. */
export function faultOfSchema(schema: unknown, name: SchemaRule, at = 'schema'): string | undefined {
  const rule: Rule = rules[name]
  if (!isObject(schema)) return `${at} is not an object`
  for (const keyword of Object.keys(schema)) if (!rule.keywords.has(keyword)) return `${at}: '${keyword}' is not permitted`
  const types = [schema.type ?? []].flat()
  if (Array.isArray(schema.type) && name === 'gemini-openapi') return `${at}: several types are not permitted`
  for (const type of types) if (typeof type !== 'string' || !rule.types.has(type)) return `${at}: the type ${type} is not known`
  const isOfType = (type: string) => types.some((own) => String(own).toLowerCase() === type)
  if (typeof schema.format === 'string' && rule.formats && !rule.formats.has(schema.format)) {
    return `${at}: the format '${schema.format}' is not supported`
  }
  return (isOfType('object') ? faultOfObject(schema, rule, at) : undefined) ?? faultWithin(schema, name, at, isOfType('array'))
}

function faultOfObject(schema: Readonly<Record<string, unknown>>, rule: Rule, at: string): string | undefined {
  const properties = isObject(schema.properties) ? Object.keys(schema.properties) : []
  const required = Array.isArray(schema.required) ? schema.required : []
  if (rule.isClosed && schema.additionalProperties !== false) {
    return `${at}: 'additionalProperties' is required to be supplied and to be false`
  }
  if (rule.requiresAll && properties.some((property) => !required.includes(property))) {
    return `${at}: 'required' is required to be supplied and to be an array including every key in properties`
  }
  if (required.some((property) => !properties.includes(String(property)))) return `${at}: 'required' names what is no property`
  if (rule.isFilled && properties.length === 0) return `${at}: should be non-empty for OBJECT type`
  return undefined
}

function faultWithin(
  schema: Readonly<Record<string, unknown>>,
  name: SchemaRule,
  at: string,
  isArray: boolean,
): string | undefined {
  if (isArray && rules[name].isFilled && schema.items === undefined) return `${at}.items: missing field`
  const inner = [
    ...['properties', '$defs', 'definitions'].flatMap((group) =>
      isObject(schema[group]) ? Object.entries(schema[group]).map(([key, value]) => [`${group}.${key}`, value] as const) : [],
    ),
    ...['anyOf', 'oneOf', 'allOf', 'prefixItems'].flatMap((group) =>
      Array.isArray(schema[group]) ? schema[group].map((value, index) => [`${group}.${index}`, value] as const) : [],
    ),
    ...(schema.items === undefined ? [] : [['items', schema.items] as const]),
  ]
  for (const [key, value] of inner) {
    const fault = faultOfSchema(value, name, `${at}.${key}`)
    if (fault) return fault
  }
  return undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
