import { type ModelPrice, modelPriceOf, priceMaps, ratioPriceOf } from '../../../contract/model-price.ts'
import { defaults } from '../../../contract/options/defaults.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'
import { groupRatio } from './groups.ts'
import type { PriceData, Uncovered } from './price-data.ts'
import { type PricedPublicly, type PublicModel, publicPrices, type Vendors } from './public-prices.ts'
import type { Price } from './quote.ts'

/**
 * The price of each model in each group: by the current options, otherwise by the public price data for the vendors of the channels
 * that serve it. `quote.ts` computes units from such a price and a usage, and `wallet/` charges them. The channel that serves a call
 * does not matter.
 */
export interface Catalog {
  /**
   * The price of a model in a group, the same frozen object until an option, a channel, the price data or the price of the time changes. A fixed
   * price takes precedence over a ratio, and both over public data. A model without a price costs `fallbackModelRatio` in self-use
   * mode or if the user accepts that; otherwise throws `price_missing`.
   */
  priceOf(wanted: { model: string; group: string; acceptsUnpriced: boolean }): Price
  /** The price before the group, or undefined when there is none: for price lists. */
  modelPriceOf(model: string): ModelPrice | undefined
  /** Why the public price of a model without a price is not charged; undefined where there is no such price. */
  uncovered(model: string): Uncovered | undefined
}

/** Ratio of models without a price, as expensive as the most expensive models: 75 dollars per million tokens. */
export const fallbackModelRatio = 37.5

/** `data` and `vendors` return a new object whenever the price data, or a channel, has changed. */
export function openCatalog(
  { options, now }: Pick<Core, 'options' | 'now'>,
  { data, vendors }: { readonly data: () => PriceData; readonly vendors: () => Vendors },
): Catalog {
  let made: { readonly options: OptionValues; readonly own: OwnPrices } | undefined
  let open: { readonly from: Sources; readonly prices: GroupPrices } | undefined

  function own(): OwnPrices {
    if (made?.options !== options.current) made = { options: options.current, own: ownPrices(options.current) }
    return made.own
  }

  /** Read only for models that the options do not price. */
  function shared(): GroupPrices {
    const from: Sources = { own: own(), data: data(), vendors: vendors() }
    if (!open || !isSame(open.from, from)) {
      const find = publicPrices(options.current, from)
      open = { from, prices: groupPrices(options.current, (name) => find(name, now())) }
    }
    return open.prices
  }

  return {
    priceOf({ model, group, acceptsUnpriced }) {
      const name = priceName(model)
      const set = own().priceOf(name, group)
      if (set) return set
      const isShared = options.current.PublicPriceDataEnabled
      const found = isShared ? shared().priceOf(name, group) : undefined
      if (found) return found
      if (!acceptsUnpriced && !options.current.SelfUseModeEnabled) fail('price_missing', { model })
      return inGroup(options.current, { price: ratioPriceOf(options.current, name, fallbackModelRatio), group, unpriced: true })
    },
    modelPriceOf(model) {
      const name = priceName(model)
      const set = own().modelPriceOf(name)
      if (set || !options.current.PublicPriceDataEnabled) return set
      const found = shared().find(name)
      return found && 'price' in found ? found.price : undefined
    },
    uncovered(model) {
      const found = shared().find(priceName(model))
      return found && 'uncovered' in found ? found.uncovered : undefined
    },
  }
}

/** The inputs of public prices. */
interface Sources {
  readonly own: OwnPrices
  readonly data: PriceData
  readonly vendors: Vendors
}

function isSame(one: Sources, other: Sources): boolean {
  return one.own === other.own && one.data === other.data && one.vendors === other.vendors
}

/** Custom assistants all have names of their own; each kind has one price, under its wildcard. */
function priceName(model: string): string {
  if (model.startsWith('gpt-4-gizmo')) return 'gpt-4-gizmo-*'
  if (model.startsWith('gpt-4o-gizmo')) return 'gpt-4o-gizmo-*'
  return model
}

interface OwnPrices {
  priceOf(name: string, group: string): Price | undefined
  modelPriceOf(name: string): ModelPrice | undefined
}

/** The prices that the options have. Only priced models are kept, so that made-up names of clients take no memory. */
function ownPrices(options: OptionValues): OwnPrices {
  const known = new Map<string, Map<string, Price>>()
  const priced = (name: string): ModelPrice | undefined => {
    const set = modelPriceOf(options, name)
    return set && { ...set, source: isDefault(options, name) ? 'default' : 'own' }
  }
  return {
    priceOf(name, group) {
      const kept = known.get(group)?.get(name)
      if (kept) return kept
      const set = priced(name)
      if (!set) return undefined
      const price = inGroup(options, { price: set, group })
      known.set(group, (known.get(group) ?? new Map()).set(name, price))
      return price
    },
    modelPriceOf: priced,
  }
}

function isDefault(options: OptionValues, name: string): boolean {
  return priceMaps.every((map) => options[map][name] === defaults[map][name])
}

interface GroupPrices {
  readonly find: (name: string) => PublicModel | undefined
  priceOf(name: string, group: string): Price | undefined
}

/** Public prices in the groups that ask for them. */
function groupPrices(options: OptionValues, find: GroupPrices['find']): GroupPrices {
  const known = new WeakMap<ModelPrice, Map<string, Price>>()
  return {
    find,
    priceOf(name, group) {
      const found = find(name)
      if (!found || !('price' in found)) return undefined
      const groups = known.get(found.price) ?? new Map<string, Price>()
      known.set(found.price, groups)
      const price = groups.get(group) ?? inGroup(options, { ...found, group })
      groups.set(group, price)
      return price
    },
  }
}

interface ForGroup {
  readonly price: ModelPrice
  readonly group: string
  readonly unpriced?: boolean
  /** See `PricedPublicly`. */
  readonly soon?: PricedPublicly['soon']
}

function inGroup(options: OptionValues, { price, group, unpriced = false, soon = 0 }: ForGroup): Price {
  const { steps, later = [], ...factors } = price
  const ofGroup = { group, groupRatio: groupRatio(options, group), quotaPerUnit: options.QuotaPerUnit, unpriced }
  const { source } = price
  const inSteps = steps?.map((step) => ({
    above: step.above,
    price: Object.freeze({ ...step.price, ...ofGroup, ...(source ? { source } : {}) }),
  }))
  const toMeet = later.slice(0, soon).map((next) => ({ at: next.at, price: inGroup(options, { price: next.price, group }) }))
  return Object.freeze({
    ...factors,
    ...ofGroup,
    ...(inSteps ? { steps: Object.freeze(inSteps) } : {}),
    ...(toMeet.length > 0 ? { later: Object.freeze(toMeet) } : {}),
  })
}
