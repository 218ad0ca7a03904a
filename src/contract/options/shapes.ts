import type { z } from 'zod'
import { choicesOf } from '../fields.ts'
import { quotaMax } from '../quota.ts'
import type { Text } from '../text.ts'
import { withoutTrailing } from '../trailing.ts'
import { type Unit, units } from '../units.ts'
import type { MakeSchema, Option, Zod } from './define.ts'
import { linesOf } from './lists.ts'

/**
 * The shapes that options have: default, schema and widget together. An option is a shape and its texts:
 * `option({ ...toggle(true), label: … })`.
 */
type Shape<Value> = Pick<Option<Value>, 'default' | 'schema' | 'widget' | 'unit' | 'secret' | 'choices'>

const textLengthMax = 10_000
export const longTextLengthMax = 200_000
const entriesMax = 10_000

/** The message of a custom rule in both languages; `explain` of `issues.ts` reads it. */
export function message(zh: string, en: string) {
  return { error: en, params: { zh, en } }
}

export function toggle(value: boolean): Shape<boolean> {
  return { default: value, schema: (z) => z.boolean(), widget: 'switch' }
}

export function integer(value: number, limits: { min: number; max: number; unit?: Unit }): Shape<number> {
  return number(value, { ...limits, schema: (z) => z.int() })
}

export function number(
  value: number,
  limits: { min: number; max: number; unit?: Unit; schema?: (z: Zod) => z.ZodNumber },
): Shape<number> {
  const schema = (z: Zod) => (limits.schema?.(z) ?? z.number()).min(limits.min).max(limits.max)
  return { default: value, schema, widget: 'number', ...(limits.unit ? { unit: limits.unit } : {}) }
}

export function quota(value: number): Shape<number> {
  return integer(value, { min: 0, max: quotaMax, unit: units.quota })
}

export function line(value = '', lengthMax = 500): Shape<string> {
  const schema = (z: Zod) =>
    z
      .string()
      .trim()
      .max(lengthMax)
      .refine((text) => !/[\r\n]/.test(text), message('须为单行文本', 'must be one line'))
  return { default: value, schema, widget: 'text' }
}

/** A long text that a page shows: Markdown, HTML or a link. */
export function content(value = ''): Shape<string> {
  return { default: value, schema: (z) => z.string().max(longTextLengthMax), widget: 'markdown' }
}

export function secret(): Shape<string> {
  return { default: '', schema: (z) => z.string().trim().max(textLengthMax), widget: 'secret', secret: true }
}

/** One entry per line: trimmed, without empty lines. */
export function lines(value: readonly string[]): Shape<string> {
  const schema = (z: Zod) =>
    z
      .string()
      .max(longTextLengthMax)
      .transform((text) => linesOf(text).join('\n'))
  return { default: value.join('\n'), schema, widget: 'lines' }
}

/** The address of a server: http or https, without credentials, query, fragment and trailing slash; or empty. */
export function address(): Shape<string> {
  const schema = (z: Zod) =>
    z
      .string()
      .trim()
      .max(500)
      .transform((text) => withoutTrailing(text, '/'))
      .refine(
        (text) => text === '' || /^https?:\/\/[^\s/?#@\\]+(\/[^\s?#\\]*)?$/i.test(text),
        message('须为 http(s) 地址', 'must be an http(s) address'),
      )
  return { default: '', schema, widget: 'url' }
}

/** A link that a page shows: http, https or a path of this site; or empty. Never a script. */
export function link(value = ''): Shape<string> {
  const schema = (z: Zod) =>
    z
      .string()
      .trim()
      .max(2000)
      .refine(
        (text) => text === '' || /^(https?:\/\/\S|\/(?![/\\]))[^\r\n]*$/i.test(text),
        message('须为 http(s) 链接', 'must be an http(s) link'),
      )
  return { default: value, schema, widget: 'url' }
}

export function choice<const Value extends string>(value: NoInfer<Value>, labels: Readonly<Record<Value, Text>>): Shape<Value> {
  // The keys of that object.
  const values = Object.keys(labels) as Value[]
  return { default: value, schema: (z) => z.enum(values), widget: 'select', choices: choicesOf(labels) }
}

export type Ratios = Readonly<Record<string, number>>

/** Maps names to numbers from 0 to a million. Numbers below a billionth would need many digits and mean nothing. */
export const ratios: MakeSchema<Ratios> = map((z) =>
  z
    .number()
    .min(0)
    .max(1_000_000)
    .refine((ratio) => ratio === 0 || ratio >= 1e-9, message('非零倍率过小', 'is too small for a ratio other than 0')),
)

export function map<Value>(value: MakeSchema<Value>): MakeSchema<Readonly<Record<string, Value>>> {
  return (z) =>
    z
      .record(z.string().min(1).max(200), value(z))
      .refine(
        (entries) => Object.keys(entries).length <= entriesMax,
        message(`最多 ${entriesMax} 项`, `must have at most ${entriesMax} entries`),
      )
}

/** A map whose entry `default` applies to all other names; if it is saved without one, the given default is added. */
export function mapWithDefault<Value>(value: MakeSchema<Value>, fallback: Value): MakeSchema<Readonly<Record<string, Value>>> {
  return (z) => map(value)(z).transform((entries) => ({ default: fallback, ...entries }))
}
