import { describe, expect, it } from 'vitest'
import { countOptional, strictSchema, toolSchema } from './schema.ts'

describe('the schema of a tool', () => {
  it('[95] [96] is an object at its root, and unchanged below', () => {
    const inner = { properties: { a: { oneOf: [{ type: 'string' }], pattern: '^x' } }, additionalProperties: true }
    expect(toolSchema(undefined)).toEqual({ type: 'object', properties: {} })
    expect(toolSchema(inner)).toEqual({ ...inner, type: 'object' })
    expect(Object.keys(toolSchema({ type: 'object', required: [], properties: {} }))).toEqual(['type', 'required', 'properties'])
  })

  it('merges the forms of its root: all members, and those required by every form', () => {
    const forms = [
      { properties: { a: { type: 'string' }, b: {} }, required: ['a', 'b'] },
      { properties: { a: { type: 'string' }, c: {} }, required: ['a'] },
    ]
    expect(toolSchema({ type: 'object', anyOf: forms })).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: {}, c: {} },
      required: ['a'],
    })
    expect(toolSchema({ allOf: forms })).toMatchObject({ required: ['a', 'b'] })
  })
})

describe('a strict schema', () => {
  it('[189] describes bounds as text', () => {
    expect(strictSchema({ type: 'string', description: 'A port', minLength: 2, pattern: '^R', format: 'port' })).toEqual({
      type: 'string',
      description: 'A port (minLength: 2; pattern: "^R"; format: port)',
    })
    expect(strictSchema({ type: 'number', minimum: 1, multipleOf: 2 })).toEqual({
      type: 'number',
      description: '(minimum: 1; multipleOf: 2)',
    })
    expect(strictSchema({ type: 'string', format: 'date-time' })).toEqual({ type: 'string', format: 'date-time' })
    expect(strictSchema({ type: 'array', minItems: 1, items: {} })).toEqual({ type: 'array', minItems: 1, items: {} })
    expect(strictSchema({ type: 'array', minItems: 3 })).toEqual({ type: 'array', items: {}, description: '(minItems: 3)' })
  })

  it('allows no other members in any object, and requires only declared members', () => {
    expect(
      strictSchema({
        type: 'object',
        properties: { a: true },
        required: ['a', 'gone'],
        additionalProperties: { type: 'string' },
      }),
    ).toEqual({
      type: 'object',
      properties: { a: {} },
      required: ['a'],
      additionalProperties: false,
      description: '(other members: {"type":"string"})',
    })
  })

  it('has one keyword for alternatives, and merges `allOf`', () => {
    expect(strictSchema({ oneOf: [{ type: 'string' }, { const: null }] })).toEqual({
      anyOf: [{ type: 'string' }, { const: null }],
    })
    const parts = { allOf: [{ properties: { a: {} }, required: ['a'] }, { properties: { b: {} } }], type: 'object' }
    expect(strictSchema(parts)).toEqual({
      type: 'object',
      properties: { a: {}, b: {} },
      required: ['a'],
      additionalProperties: false,
    })
  })

  it('removes unknown keywords, and describes those that change the meaning', () => {
    expect(strictSchema({ $schema: 'x', $id: 'y', default: 1, examples: [1], type: 'integer', title: 'N' })).toEqual({
      type: 'integer',
      title: 'N',
    })
    expect(strictSchema({ type: 'string', not: { const: 'x' } })).toMatchObject({ description: '(not: {"const":"x"})' })
  })

  it('[102] keeps references, and cuts recursive ones', () => {
    const tree = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
    const leaf = { type: 'object', properties: { name: { type: 'string' } } }
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/node' }, b: { $ref: '#/$defs/leaf' }, c: { $ref: '#' } },
      $defs: { node: tree, leaf },
    }
    const strict = strictSchema(schema)
    expect(strict.properties).toEqual({
      a: { description: '(#/$defs/node)' },
      b: { $ref: '#/$defs/leaf' },
      c: { description: '(#)' },
    })
  })

  it('is written in bounded time for any input', () => {
    let deep: Record<string, unknown> = { type: 'string' }
    for (let depth = 0; depth < 5000; depth++) deep = { type: 'object', properties: { a: deep } }
    expect(() => strictSchema(deep)).not.toThrow()
    const count = 20_000
    const chain = Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${(at + 1) % count}` }]),
    )
    // Quadratic time would exceed the test's timeout.
    expect(strictSchema({ type: 'object', $defs: chain })).toBeDefined()
  })

  it('has a count of its optional members, at every depth', () => {
    const schema = { properties: { a: { properties: { b: {}, c: {} }, required: ['b'] }, d: {} }, required: ['a'] }
    expect(countOptional(schema)).toBe(2)
  })
})
