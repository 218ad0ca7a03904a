import { type ModelPrice, modelPriceOf, ratioPriceOf } from '../../contract/model-price.ts'
import type { OptionValues } from '../../contract/options/index.ts'
import { fail } from '../lib/failure.ts'
import type { Core } from '../options/core.ts'
import { derived } from '../options/derived.ts'
import { groupRatio } from './groups.ts'
import type { Price } from './quote.ts'

/**
 * What each model costs in each group, from the options of the moment: `quote.ts` turns such a price and a usage into units, and
 * `wallet/` charges them. Which channel serves a model does not matter here.
 */
export interface Catalog {
  /**
   * The price of a model in a group, the same frozen object until an option changes. A fixed price comes before a ratio. A model
   * without either costs `fallbackModelRatio` in self-use mode or when its user accepts that; otherwise throws `price_missing`.
   */
  priceOf(wanted: { model: string; group: string; acceptsUnpriced: boolean }): Price
  /** The price before the group, or undefined when none was set: for price lists. */
  modelPriceOf(model: string): ModelPrice | undefined
}

/** Ratio of models without a price, as dear as the dearest models: 75 dollars per million tokens. */
export const fallbackModelRatio = 37.5

export function openCatalog({ options }: Pick<Core, 'options'>): Catalog {
  const table = derived(options, priceTable)
  return {
    priceOf: (wanted) => table().priceOf(wanted),
    modelPriceOf: (model) => table().modelPriceOf(model),
  }
}

/** Custom assistants all have names of their own; each kind has one price, under its wildcard. */
export function priceName(model: string): string {
  if (model.startsWith('gpt-4-gizmo')) return 'gpt-4-gizmo-*'
  if (model.startsWith('gpt-4o-gizmo')) return 'gpt-4o-gizmo-*'
  return model
}

function priceTable(options: OptionValues): Catalog {
  // Only priced models are kept, so that made-up names of clients take no memory.
  const known = new Map<string, Map<string, Price>>()

  return {
    priceOf({ model, group, acceptsUnpriced }) {
      const name = priceName(model)
      const kept = known.get(group)?.get(name)
      if (kept) return kept

      const set = modelPriceOf(options, name)
      if (!set && !acceptsUnpriced && !options.SelfUseModeEnabled) fail('price_missing', { model })
      const price: Price = Object.freeze({
        ...(set ?? ratioPriceOf(options, name, fallbackModelRatio)),
        group,
        groupRatio: groupRatio(options, group),
        quotaPerUnit: options.QuotaPerUnit,
        unpriced: set === undefined,
      })
      if (set) known.set(group, (known.get(group) ?? new Map()).set(name, price))
      return price
    },
    modelPriceOf: (model) => modelPriceOf(options, priceName(model)),
  }
}
