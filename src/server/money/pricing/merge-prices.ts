import { yieldToEventLoop } from '../../base/lib/time/yield-to-event-loop.ts'
import { keyOf, lookupsPerTurn, type ReadPair, type VendorModel } from './price-changes.ts'
import type { PriceEntry, PriceVendors } from './vendor-prices.ts'

/**
 * The vendors of the data in use with the newer prices of these models: every other name keeps its price. Each model becomes a
 * separate entry at the start of the vendor's list, which matches only that name. Yields to the event loop.
 */
export async function mergePrices({ before, after }: ReadPair, models: readonly VendorModel[]): Promise<PriceVendors> {
  const chosen = new Set(models.map(keyOf))
  const entries = new Map<string, PriceEntry[]>()
  const put = ({ vendor, model }: VendorModel, found: PriceEntry | undefined) => {
    // An entry without prices means that the model has none, even if a pattern matches its name.
    const { prices = {}, price_variants } = found ?? {}
    const entry = { id: model, match: { equals: model }, prices, ...(price_variants ? { price_variants } : {}) }
    entries.set(vendor, [...(entries.get(vendor) ?? []), entry])
  }

  for (const [index, { vendor, model }] of models.entries()) {
    if (index % lookupsPerTurn === 0) await yieldToEventLoop()
    put({ vendor, model }, after.data.entryOf(vendor, model))
    // Vendors that fall back to the list of this vendor were not chosen: they keep their prices.
    for (const { id, fallback_model_providers: fallbacks = [] } of before.vendors)
      if (fallbacks.includes(vendor) && !chosen.has(keyOf({ vendor: id, model })))
        put({ vendor: id, model }, before.data.entryOf(id, model))
  }
  const known = new Set(before.vendors.map(({ id }) => id))
  const added = after.vendors.flatMap(({ id, name }) => (entries.has(id) && !known.has(id) ? [{ id, name, models: [] }] : []))
  return [...before.vendors, ...added].map((vendor) => inFront(entries.get(vendor.id) ?? [], vendor))
}

/** Replaces entries that were added for the same names before. */
function inFront(entries: readonly PriceEntry[], vendor: PriceVendors[number]): PriceVendors[number] {
  if (entries.length === 0) return vendor
  const names = new Set(entries.map(({ id }) => id.toLowerCase()))
  const others = vendor.models.filter(({ match }) => !('equals' in match && names.has(match.equals.toLowerCase())))
  return { ...vendor, models: [...entries, ...others] }
}
