import type { z } from 'zod'
import type { Choice, Widget } from '../fields.ts'
import type { Text } from '../text.ts'

/** Who may write an option: `admin` the ones that only steer the service, `root` those that can take over accounts or money. */
export type Writer = 'admin' | 'root'

/** Where a settings form shows an option. A section is a card of a tab. */
export interface Section {
  readonly tab: 'operation' | 'ratelimit' | 'models' | 'system' | 'other'
  readonly label: Text
  readonly writer: Writer
}

/**
 * One option: its default, its schema (over the typed value), its form widget and its texts. The stored and exchanged form is
 * always a string; `options/codec.ts` of the server turns one into the other by the type of the default.
 */
export interface Option<Value = unknown> {
  readonly default: Value
  readonly schema: z.ZodType<Value>
  readonly widget: Widget
  readonly label: Text
  readonly help?: Text
  readonly unit?: Text
  readonly choices?: readonly Choice[]
  /** Never returned by any call; an empty value in a save leaves it alone. */
  readonly secret?: true
}

export function option<Value>(declaration: Option<Value>): Option<Value> {
  return Object.freeze(declaration)
}

/** One settings section with its options; the key of each option is its name everywhere. */
export function section<const Options extends Readonly<Record<string, Option>>>(
  place: Section,
  options: Options,
): { readonly place: Section; readonly options: Options } {
  return Object.freeze({ place: Object.freeze(place), options: Object.freeze(options) })
}
