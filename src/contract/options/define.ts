import type { z } from 'zod'
import type { Choice, Widget } from '../fields.ts'
import type { Text } from '../text.ts'
import type { Unit } from '../units.ts'

/** The exports of `zod`, as `z`. */
export type Zod = typeof z

/**
 * A schema that is created when a value is checked. zod is passed as an argument, so that a declaration does not import it: a
 * settings form is drawn without it.
 */
export type MakeSchema<Value> = (z: Zod) => z.ZodType<Value>

/** The role that may write an option: `admin` for operation, `root` for options that can take over accounts or money. */
export type Writer = 'admin' | 'root'

/** The place of options in the settings form. A section is a card of a tab. */
export interface Place {
  /** Unique among the sections. */
  readonly name: string
  readonly tab: 'operation' | 'prices' | 'ratelimit' | 'models' | 'system' | 'other'
  readonly label: Text
  readonly help?: Text
  readonly writer: Writer
}

/**
 * One option: its default, its schema (over the typed value), its form widget and its texts. The stored and exchanged form is
 * always a string; `codec.ts` turns one into the other by the widget.
 */
export interface Option<Value = unknown> {
  /** Absent only for the built-in price tables, which are too big for the web: `defaults.ts` adds them. */
  readonly default?: NoInfer<Value>
  readonly schema: MakeSchema<Value>
  readonly widget: Widget
  readonly label: Text
  readonly help?: Text
  readonly unit?: Unit
  readonly choices?: readonly Choice[]
  /** Never returned by any call. A save without a value keeps it, one with an empty value clears it. */
  readonly secret?: true
  /** Overrides the writer of the section. */
  readonly writer?: Writer
}

export type Options = Readonly<Record<string, Option>>

export interface Section<Contents extends Options = Options> {
  readonly place: Place
  readonly options: Contents
}

export function option<Value>(declaration: Option<Value>): Option<Value> {
  return Object.freeze(declaration)
}

/** One settings section with its options; the key of each option is its name everywhere. */
export function section<const Contents extends Options>(place: Place, options: Contents): Section<Contents> {
  return Object.freeze({ place: Object.freeze(place), options: Object.freeze(options) })
}

/** The options of all sections in one object type. */
export type Merged<Sections extends readonly Section[]> = Sections extends readonly [
  infer First extends Section,
  ...infer Rest extends readonly Section[],
]
  ? First['options'] & Merged<Rest>
  : unknown

export type ValuesOf<Contents> = { readonly [Key in keyof Contents]: Contents[Key] extends Option<infer Value> ? Value : never }
