import { z } from 'zod'
import type { Route } from '../../src/contract/route.ts'
import { spreadText } from './canaries.ts'

/** Characters with a meaning in SQL and its patterns. */
export const sqlSigns = [
  `'`,
  `"`,
  `' OR '1'='1`,
  `'; drop table users; --`,
  '%',
  '_',
  '\\',
  '%_%',
  '1) or (1=1',
  '/*',
  '--',
  '?',
  '$1',
  ':a',
]
export const oddNames = ['\u202eevil', 'a\u200bb', 'nul\u0000', '\ud800', '😀'.repeat(12), ' trailing ', '\u00a0', 'ＡＤＭＩＮ']

const words = [...sqlSigns, ...oddNames, '', 'id', 'name', '1', '-1', '0', 'x'.repeat(300), '\u0000', '{{', 'null', '{}', '[]']
const fields = [
  ...['id', 'ids', 'name', 'key', 'value', 'quota', 'models', 'group', 'tag', 'status', 'action', 'email', 'type', 'amount'],
  ...['username', 'password', 'code', '__proto__'],
]
const likely = ['1', 'default', 'a name', 'https://127.0.0.1:9/b', 'a@example.com']
const numbers = [0, 1, 2, 7, -1, 1.5, 100, 2 ** 31, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 2 ** 53, 1e308, 1e-9]

/** The parts of JSON Schema that describe a value. */
interface Shape {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Shape>>
  readonly additionalProperties?: Shape | boolean
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
}

/** Bodies and queries for a route: some random, most by its schema except for some values. The same for the same seed. */
export function fuzzer(seed: number) {
  for (const text of [...words, ...likely]) spreadText(wellFormed(text))
  let state = seed
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  const pick = <Value>(values: readonly Value[]): Value | undefined => values[next(values.length)]
  const word = () => wellFormed(pick(words) ?? '')
  const value = (depth: number): unknown => {
    const kind = next(depth > 0 ? 9 : 6)
    if (kind === 0) return null
    if (kind === 1) return next(2) === 0
    if (kind === 2) return next(1000) - 500
    if (kind === 3) return pick(numbers)
    if (kind <= 5) return word()
    if (kind === 6) return Array.from({ length: next(4) }, () => value(depth - 1))
    return Object.fromEntries(Array.from({ length: next(6) + 1 }, () => [pick(fields) ?? 'x', value(depth - 1)]))
  }
  const shaped = (shape: Shape, depth = 5): unknown => {
    if (next(12) === 0 || depth === 0) return value(1)
    const choices = shape.anyOf ?? shape.oneOf
    if (choices) return shaped(pick(choices) ?? {}, depth - 1)
    if (shape.enum) return pick(shape.enum)
    if ('const' in shape) return shape.const
    if (shape.type === 'string') return next(3) === 0 ? word() : pick(likely)
    if (shape.type === 'number' || shape.type === 'integer') return next(3) === 0 ? pick(numbers) : next(5)
    if (shape.type === 'boolean') return next(2) === 0
    if (shape.type === 'array') return Array.from({ length: next(4) }, () => shaped(shape.items ?? {}, depth - 1))
    if (shape.type !== 'object') return value(1)
    const named = Object.entries(shape.properties ?? {}).filter(() => next(8) > 0)
    const free = typeof shape.additionalProperties === 'object' ? [[word(), shaped(shape.additionalProperties, depth - 1)]] : []
    return Object.fromEntries([...named.map(([name, inner]) => [name, shaped(inner, depth - 1)]), ...free])
  }

  return {
    word,
    /** The address with its query, and the body if the route has one. */
    request(path: string, { query, body }: Route): { path: string; body?: string } {
      const isPlain = next(4) === 0
      const names = isPlain ? [pick(fields) ?? 'p', 'p'] : Object.keys(query?.shape ?? { p: 0 }).filter(() => next(3) === 0)
      const values = names.map((name) => [name, next(2) === 0 ? word() : String(next(9))])
      const target = path.replace(/:\w+/g, () => (next(2) === 0 ? encodeURIComponent(word()) : String(next(5))))
      const sent = body && (isPlain ? value(3) : shaped(shapeOf(body)))
      return { path: `${target}?${new URLSearchParams(values)}`, ...(body ? { body: JSON.stringify(sent) ?? 'null' } : {}) }
    },
  }
}

const shapes = new WeakMap<z.ZodType, Shape>()

function shapeOf(schema: z.ZodType): Shape {
  // The conversion of a schema is JSON Schema.
  const shape = shapes.get(schema) ?? (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape)
  shapes.set(schema, shape)
  return shape
}

/** A lone surrogate cannot be part of a URL. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}
