/** Price data in the form of genai-prices: vendors, their models, and the prices of each. Prices are in US dollars. */
export type PriceVendors = readonly PriceVendor[]

export interface PriceVendor {
  readonly id: string
  readonly name: string
  /** The names of the vendor's own models. */
  readonly model_match?: MatchLogic | undefined
  /** Vendors whose lists count after its own. */
  readonly fallback_model_providers?: readonly string[] | undefined
  readonly models: readonly PriceEntry[]
}

export interface PriceEntry {
  readonly id: string
  readonly match: MatchLogic
  /** The last one in force counts, or the first where none is. */
  readonly prices: UnitPrices | readonly ConditionalPrice[]
  /** Prices in another service tier or at another speed; the first one in force counts. */
  readonly price_variants?: readonly PriceVariant[] | undefined
  /** The source of an entry that genai-prices lacks. */
  readonly origin?: 'litellm' | undefined
}

/** By unit, such as `input_mtok`: a million tokens. A stepped price is that of the whole call. */
export type UnitPrices = Readonly<Record<string, number | SteppedPrice>>

interface SteppedPrice {
  readonly base: number
  /** In ascending order; for prompts of more than `start` tokens. */
  readonly tiers: readonly { readonly start: number; readonly price: number }[]
}

export interface ConditionalPrice {
  readonly constraint?: PriceConstraint | null | undefined
  readonly prices: UnitPrices
}

interface PriceVariant extends ConditionalPrice {
  /** The member of a request that selects it, such as `{ service_tier: 'priority' }`. */
  readonly when: Readonly<Record<string, string>>
}

/** From a day on, such as `2026-12-01`; or each day between two times, such as `01:00:00Z`. Days are days in UTC. */
export type PriceConstraint = { readonly start_date: string } | { readonly start_time: string; readonly end_time: string }

/** The names of a model; upper and lower case do not matter, apart from regular expressions, which see lower case. */
export type MatchLogic =
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }
  | { readonly or: readonly MatchLogic[] }
  | { readonly and: readonly MatchLogic[] }

/** Whether a name, in lower case, is one of these. */
export function matches(match: MatchLogic, name: string): boolean {
  if ('equals' in match) return name === match.equals.toLowerCase()
  if ('starts_with' in match) return name.startsWith(match.starts_with.toLowerCase())
  if ('ends_with' in match) return name.endsWith(match.ends_with.toLowerCase())
  if ('contains' in match) return name.includes(match.contains.toLowerCase())
  if ('regex' in match) return patternOf(match.regex).test(name)
  return 'or' in match ? match.or.some((one) => matches(one, name)) : match.and.every((one) => matches(one, name))
}

const patterns = new Map<string, RegExp>()

/** Only as many as the data in use has: `published-data.ts` limits them. */
function patternOf(text: string): RegExp {
  const known = patterns.get(text) ?? new RegExp(text)
  patterns.set(text, known)
  return known
}

/** The entry of a vendor that lists a model, or of the vendors that its list falls back to. */
export function entryAt(vendor: PriceVendor | undefined, model: string, vendors: PriceVendors): PriceEntry | undefined {
  const name = model.toLowerCase()
  // A date without dashes, as in `gpt-5.2-20251211`, is written with dashes in some lists.
  const dashed = name.replace(/-(20\d\d)(\d\d)(\d\d)$/, '-$1-$2-$3')
  return entryNamed(vendor, name, vendors) ?? (dashed === name ? undefined : entryNamed(vendor, dashed, vendors))
}

function entryNamed(vendor: PriceVendor | undefined, name: string, vendors: PriceVendors): PriceEntry | undefined {
  const isNamed = ({ match }: PriceEntry) => matches(match, name)
  const own = vendor?.models.find(isNamed)
  if (own || !vendor?.fallback_model_providers) return own
  for (const id of vendor.fallback_model_providers) {
    const found = vendors.find((other) => other.id === id)?.models.find(isNamed)
    if (found) return found
  }
  return undefined
}
