import type { Merged, Option, Place, ValuesOf, Writer } from './define.ts'
import { sections as models } from './tabs/models.ts'
import { sections as operation } from './tabs/operation.ts'
import { sections as other } from './tabs/other.ts'
import { sections as prices } from './tabs/prices.ts'
import { sections as rateLimit } from './tabs/ratelimit.ts'
import { sections as system } from './tabs/system.ts'

/**
 * Every option of the product, by settings section in the order of the screens. A new option is one entry in its section, a new
 * section is listed with its tab; the web loads each tab separately. The default price tables are in `defaults.ts`, which only the
 * server reads.
 */
export const sections = [...operation, ...prices, ...rateLimit, ...models, ...system, ...other] as const

type AllOptions = Merged<typeof sections>
export type OptionKey = keyof AllOptions
/** The typed values of all options. */
export type OptionValues = ValuesOf<AllOptions>

/** Key to declaration. */
// The object holds exactly the entries of the sections, whose keys `checkOptions` finds unique.
export const allOptions = Object.freeze(Object.assign({}, ...sections.map(({ options }) => options))) as AllOptions

const places = new Map<string, Place>(
  sections.flatMap(({ place, options }) => Object.keys(options).map((key) => [key, place] as const)),
)

export interface FoundOption {
  readonly key: OptionKey
  readonly option: Option
  readonly place: Place
  readonly writer: Writer
}

/** The declaration of a key from a request. */
export function findOption(key: string): FoundOption | undefined {
  const place = places.get(key)
  if (!place) return undefined
  // A key with a place is one of the declared ones.
  const known = key as OptionKey
  const option: Option = allOptions[known]
  return { key: known, option, place, writer: option.writer ?? place.writer }
}
