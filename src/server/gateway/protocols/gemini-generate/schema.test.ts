import { describe, expect, it } from 'vitest'
import { isObject, type JsonObject } from '../wire-format.ts'
import { readOpenApiSchema, writeOpenApiSchema } from './openapi-schema.ts'
import { writeJsonSchema } from './schema.ts'

/** One property of an object, in either form. */
const inJson = (node: unknown) => member(writeJsonSchema({ type: 'object', properties: { a: node } }))
const inOpenApi = (node: unknown) => member(writeOpenApiSchema({ type: 'object', properties: { a: node } }))

function member(schema: JsonObject | undefined): unknown {
  return isObject(schema?.properties) ? schema.properties.a : undefined
}

const awkward: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'x',
  $comment: 'y',
  type: 'object',
  properties: {
    kind: { const: 'tide' },
    level: { type: 'number', exclusiveMinimum: 0, multipleOf: 0.1, examples: [1] },
    count: { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], uniqueItems: true },
    map: { type: 'object', propertyNames: { pattern: '^a' }, additionalProperties: { type: 'string' } },
    text: { type: 'string', minLength: 1, maxLength: 5, pattern: '^a', format: 'email', default: 'a' },
  },
  additionalProperties: false,
  required: ['kind', 'gone'],
}

describe('a schema for parametersJsonSchema', () => {
  it('[97] has only keywords that Gemini supports, and keeps its meaning where possible', () => {
    expect(writeJsonSchema(awkward)).toEqual({
      type: 'object',
      properties: {
        kind: { enum: ['tide'] },
        level: { type: 'number' },
        count: { type: 'integer', minimum: 1, maximum: 9 },
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
        map: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'Must also follow the JSON schema {"propertyNames":{"pattern":"^a"}}.',
        },
        text: { type: 'string', format: 'email', default: 'a' },
      },
      additionalProperties: false,
      required: ['kind'],
    })
  })

  it('[98] keeps several types of one node', () => {
    expect(inJson({ type: ['string', 'null'] })).toEqual({ type: ['string', 'null'] })
  })

  it('[99] keeps an enum of numbers, and has other values in the description', () => {
    expect(inJson({ enum: [1, 2] })).toEqual({ enum: [1, 2] })
    expect(inJson({ type: 'boolean', const: true })).toEqual({ type: 'boolean', description: 'One of: [true].' })
  })

  it('[100] has items for an array without any', () => {
    expect(inJson({ type: 'array' })).toEqual({ type: 'array', items: {} })
    expect(inJson({ type: 'array', items: [{ type: 'string' }] })).toEqual({ type: 'array', prefixItems: [{ type: 'string' }] })
  })

  it('[101] requires only existing members', () => {
    expect(writeJsonSchema({ type: 'object', properties: {}, required: ['a'] })).toEqual({ type: 'object', properties: {} })
    expect(writeJsonSchema({ type: 'object', required: ['a'] })).toEqual({ type: 'object' })
  })

  it('[96] adds the type of the root', () => {
    expect(writeJsonSchema({ properties: {} })).toEqual({ type: 'object', properties: {} })
    expect(writeJsonSchema({ anyOf: [{ type: 'string' }] })).toEqual({ anyOf: [{ type: 'string' }] })
  })

  it('[102] keeps references to definitions, without other members in their node, recursive ones too', () => {
    const tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/definitions/tree' } } } }
    expect(
      writeJsonSchema({
        $ref: '#/definitions/tree',
        definitions: { tree: { ...tree, properties: { ...tree.properties, up: { $ref: '#/definitions/tree', title: 'x' } } } },
      }),
    ).toEqual({
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#/$defs/tree' } }, up: { $ref: '#/$defs/tree' } },
      $defs: {
        tree: {
          type: 'object',
          properties: { children: { type: 'array', items: { $ref: '#/$defs/tree' } }, up: { $ref: '#/$defs/tree' } },
        },
      },
    })
  })

  it('[102] expands all other references, and cuts endless ones', () => {
    const written = JSON.stringify(
      writeJsonSchema({ type: 'object', properties: { a: { $ref: '#' }, b: { $ref: '#/nowhere' } } }),
    )
    expect(written).not.toContain('$ref')
    expect(written.length).toBeLessThan(1000)
  })

  it('merges `allOf`', () => {
    expect(
      inJson({
        allOf: [{ type: 'object', properties: { x: { type: 'string' } }, required: ['x'] }, { properties: { y: {} } }],
        description: 'both',
      }),
    ).toEqual({ type: 'object', properties: { x: { type: 'string' }, y: {} }, required: ['x'], description: 'both' })
  })
})

describe('a schema in the older form', () => {
  it('[97] has only keywords that Gemini supports, and keeps its meaning where possible', () => {
    expect(writeOpenApiSchema(awkward)).toEqual({
      type: 'OBJECT',
      properties: {
        kind: { type: 'STRING', enum: ['tide'], format: 'enum' },
        level: { type: 'NUMBER' },
        count: { type: 'INTEGER' },
        pair: { type: 'ARRAY', items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] } },
        map: {
          type: 'OBJECT',
          properties: { value: { type: 'STRING', description: 'Any value, as JSON text.' } },
          description: 'Must also follow the JSON schema {"propertyNames":{"pattern":"^a"}}.',
        },
        text: { type: 'STRING', minLength: 1, maxLength: 5, pattern: '^a', default: 'a' },
      },
      required: ['kind'],
    })
  })

  it('[98] has nullable for the type null', () => {
    expect(inOpenApi({ type: ['string', 'null'] })).toEqual({ type: 'STRING', nullable: true })
    expect(inOpenApi({ anyOf: [{ type: 'integer' }, { type: 'null' }] })).toEqual({ type: 'INTEGER', nullable: true })
    expect(inOpenApi({ type: ['string', 'number'] })).toEqual({ anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] })
  })

  it('[99] has only enums of strings; numbers keep their type and are listed in the description', () => {
    expect(inOpenApi({ enum: [1, 2] })).toEqual({ type: 'NUMBER', description: 'One of: 1, 2.' })
    expect(inOpenApi({ type: 'string', enum: ['a', null] })).toEqual({
      type: 'STRING',
      nullable: true,
      enum: ['a'],
      format: 'enum',
    })
  })

  it('[100] has items for an array without any', () => {
    expect(inOpenApi({ type: 'array' })).toEqual({ type: 'ARRAY', items: { type: 'STRING' } })
    expect(inOpenApi(true)).toEqual({ type: 'STRING' })
  })

  it('[101] requires only existing members', () => {
    expect(writeOpenApiSchema({ type: 'object', properties: { a: {} }, required: ['a', 'b'] })).toMatchObject({ required: ['a'] })
  })

  it('[102] expands references, and cuts endless ones', () => {
    const schema = { $ref: '#/$defs/t', $defs: { t: { type: 'object', properties: { next: { $ref: '#/$defs/t' } } } } }
    const written = JSON.stringify(writeOpenApiSchema(schema))
    expect(written).not.toContain('$ref')
    expect(written.match(/"next"/g)?.length).toBeGreaterThan(2)
    expect(written.length).toBeLessThan(2000)
  })

  it('[102] stays small when references multiply', () => {
    const defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [
        `d${at}`,
        {
          type: 'object',
          properties: Object.fromEntries('abcdef'.split('').map((key) => [key, { $ref: `#/$defs/d${at + 1}` }])),
        },
      ]),
    )
    const chain = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [
        `d${at}`,
        { type: 'object', properties: { a: { $ref: `#/$defs/d${at + 1}` } } },
      ]),
    )
    const merged = { $defs: { x: { allOf: [{ $ref: '#/$defs/x' }, { $ref: '#/$defs/x' }] } }, $ref: '#/$defs/x' }
    for (const schema of [{ $ref: '#/$defs/d0', $defs: defs }, { $ref: '#/$defs/d0', $defs: chain }, merged]) {
      expect(JSON.stringify(writeOpenApiSchema(schema)).length).toBeLessThan(1_000_000)
      expect(JSON.stringify(writeJsonSchema(schema)).length).toBeLessThan(1_000_000)
    }
  })

  it('is left out when it is empty', () => {
    expect(writeOpenApiSchema({ type: 'object', properties: {} })).toBeUndefined()
    expect(writeOpenApiSchema({})).toBeUndefined()
  })

  it("accepts callers' JSON schema", () => {
    expect(
      readOpenApiSchema({
        type: 'OBJECT',
        properties: {
          a: { type: 'STRING', nullable: true, enum: ['x'] },
          b: { type: 'ARRAY', items: { type: 'INTEGER' }, min_items: '1' },
          c: { any_of: [{ type: 'NUMBER' }, { type: 'BOOLEAN' }], nullable: true },
        },
        required: ['a'],
        property_ordering: ['b', 'a'],
      }),
    ).toEqual({
      type: 'object',
      properties: {
        a: { type: ['string', 'null'], enum: ['x', null] },
        b: { type: 'array', items: { type: 'integer' }, minItems: 1 },
        c: { anyOf: [{ type: 'number' }, { type: 'boolean' }, { type: 'null' }] },
      },
      required: ['a'],
    })
  })
})
