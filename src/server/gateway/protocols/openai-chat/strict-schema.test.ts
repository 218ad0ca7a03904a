import { describe, expect, it } from 'vitest'
import { fitsStrict } from './strict-schema.ts'

const closed = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})

describe('a schema that OpenAI can enforce strictly', () => {
  it.each([
    closed({}),
    closed({ a: { type: 'string' }, b: { type: ['object', 'null'], properties: {}, required: [], additionalProperties: false } }),
    closed(
      { a: { type: 'array', items: closed({ b: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/c' }] } }) } },
      { $defs: { c: closed({}) } },
    ),
  ])('allows no other members in any object: %j', (schema) => expect(fitsStrict(schema)).toBe(true))

  it.each([
    {},
    { type: 'array', items: {} },
    closed({ a: {} }, { required: [] }),
    closed({ a: {} }, { additionalProperties: true }),
    closed({ a: { type: 'object' } }),
    closed({ a: { oneOf: [] } }),
    closed({ a: { type: 'string', default: 'b' } }),
    closed({ a: true }),
    closed({}, { $defs: { c: { type: 'object' } } }),
    Array.from({ length: 12 }).reduce<object>((inner) => closed({ a: inner }), closed({})),
  ])('is not one like %j', (schema) => expect(fitsStrict(schema as Record<string, unknown>)).toBe(false))
})
