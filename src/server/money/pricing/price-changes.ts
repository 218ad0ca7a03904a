import { type PriceChange, tokenPriceNames } from '../../../contract/routes/pricing.ts'
import { yieldToEventLoop } from '../../base/lib/time/yield-to-event-loop.ts'
import type { PriceData, PublicPrice } from './price-data.ts'
import { pricesIn, startOf } from './price-times.ts'
import type { MatchLogic, PriceEntry, PriceVendors } from './vendor-prices.ts'

/** Price data with the vendors that it was read from. */
export interface ReadVendors {
  readonly data: PriceData
  readonly vendors: PriceVendors
}

/** The price data in use, and data that may replace it. */
export interface ReadPair {
  readonly before: ReadVendors
  readonly after: ReadVendors
}

/** A name that calls use, and the id of a vendor whose price may be charged for it. */
export interface VendorModel {
  readonly vendor: string
  readonly model: string
}

/**
 * The changes between two versions of price data, for a person to judge: suspect changes first, then those of models that this site
 * serves, then by name. All models of the vendors that have changed are looked up as for a charge, and so are their `served` ones,
 * whose names the patterns of the data may match to another model. Prices that begin on a later day are separate changes. Yields to
 * the event loop.
 */
export async function comparePrices(
  { before, after }: ReadPair,
  { served, nowMs }: { readonly served: readonly VendorModel[]; readonly nowMs: number },
): Promise<PriceChange[]> {
  const changed = changedVendors(before.vendors, after.vendors)
  const today = new Date(nowMs).toISOString().slice(0, 10)
  const names = namesIn([...before.vendors, ...after.vendors], { served, today }).filter(({ vendor }) => changed.has(vendor))
  const changes: PriceChange[] = []
  for (const [index, { vendor, model, isServed, days }] of names.entries()) {
    if (index % lookupsPerTurn === 0) await yieldToEventLoop()
    for (const from of ['', ...days]) {
      const at = from === '' ? nowMs : Date.parse(from)
      const change = changeOf(before.data.of(vendor, model, at), after.data.of(vendor, model, at))
      if (change)
        changes.push({
          ...{
            vendor_id: vendor,
            model,
            from,
            served: isServed,
            by_pattern: isByPattern(after.data.entryOf(vendor, model), model),
          },
          ...{ warning: warningOf(change, isServed), ...change },
        })
    }
  }
  const rank = ({ warning, served: isServed }: PriceChange) => (warning ? 0 : isServed ? 1 : 2)
  return changes.sort((one, other) => rank(one) - rank(other) || compareText(one.model, other.model))
}

/** Whether an entry lists a model neither as its id nor as one of its names. */
function isByPattern(entry: PriceEntry | undefined, model: string): boolean {
  const name = model.toLowerCase()
  const isName = (match: MatchLogic): boolean =>
    'equals' in match ? match.equals.toLowerCase() === name : 'or' in match && match.or.some(isName)
  return entry !== undefined && entry.id.toLowerCase() !== name && !isName(entry.match)
}

/** The ids of vendors that, or whose fallbacks, are not the same in both data: a few of them in most updates. */
function changedVendors(before: PriceVendors, after: PriceVendors): ReadonlySet<string> {
  const [was, is] = [textsOf(before), textsOf(after)]
  return new Set([...was.keys(), ...is.keys()].filter((id) => was.get(id) !== is.get(id)))
}

function textsOf(vendors: PriceVendors): ReadonlyMap<string, string> {
  const byId = new Map(vendors.map((vendor) => [vendor.id, vendor]))
  return new Map(
    vendors.map((vendor) => {
      const fallbacks = vendor.fallback_model_providers?.map((id) => byId.get(id))
      return [vendor.id, JSON.stringify([vendor, fallbacks])]
    }),
  )
}

/** Lookups between two yields to the event loop: each takes up to a third of a millisecond. */
export const lookupsPerTurn = 25

/** A text that identifies a model of a vendor. */
export function keyOf({ vendor, model }: VendorModel): string {
  return `${vendor} ${model}`
}

interface Name extends VendorModel {
  readonly isServed: boolean
  /** Future days on which its price may change. */
  readonly days: readonly string[]
}

function namesIn(
  vendors: PriceVendors,
  { served, today }: { readonly served: readonly VendorModel[]; readonly today: string },
): readonly Name[] {
  const names = new Map<string, Name>()
  for (const name of served) names.set(keyOf(name), { ...name, isServed: true, days: [] })
  for (const { id: vendor, models } of vendors)
    for (const entry of models) {
      const name = { vendor, model: entry.id }
      const known = names.get(keyOf(name)) ?? { ...name, isServed: false, days: [] }
      const days = pricesIn(entry)
        .flatMap((each) => startOf(each) ?? [])
        .filter((day) => day > today)
      names.set(keyOf(name), { ...known, days: [...new Set([...known.days, ...days])].sort() })
    }
  return [...names.values()]
}

type Change = Pick<PriceChange, 'vendor' | 'before' | 'after'>

function changeOf(before: PublicPrice | undefined, after: PublicPrice | undefined): Change | undefined {
  const vendor = after?.vendor ?? before?.vendor
  const [now, becomes] = [shown(before), shown(after)]
  return vendor === undefined || JSON.stringify(now) === JSON.stringify(becomes)
    ? undefined
    : { vendor, before: now, after: becomes }
}

function shown(price: PublicPrice | undefined): PriceChange['before'] {
  return price ? { prices: price.prices, steps: [...price.steps], uncovered: price.uncovered ?? null } : null
}

/** US dollars per million tokens, above any model's price so far. */
const highAbove = 1000
const tenfold = 10

function warningOf({ before, after }: Change, isServed: boolean): PriceChange['warning'] {
  const now = after ? listed(after) : []
  const was = before ? listed(before) : []
  if (was.some((price, at) => price > 0 && now[at] === 0)) return 'zero'
  if (!after || after.uncovered) return isServed && before && !before.uncovered ? 'lost' : null
  if (now.some((price) => price > highAbove)) return 'high'
  return was.some((price, at) => isTenfold(price, now[at])) ? 'tenfold' : null
}

/** The prices of short prompts, then those of the longest, one for each kind of token; NaN where there is none. */
function listed({ prices, steps }: NonNullable<PriceChange['before']>): readonly number[] {
  const longest = steps.at(-1)?.prices ?? prices
  return [prices, longest].flatMap((each) => tokenPriceNames.map((name) => each[name] ?? Number.NaN))
}

function isTenfold(was: number, now = Number.NaN): boolean {
  return was > 0 && now > 0 && (now / was >= tenfold || was / now >= tenfold)
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
