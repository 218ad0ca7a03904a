import type { OptionValues } from '../../contract/options/index.ts'
import { fail } from '../lib/failure.ts'
import type { Core } from '../options/core.ts'
import { derived } from '../options/derived.ts'
import { familyAudioRatio, familyCompletionRatio } from './completion-rules.ts'
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

export type ModelPrice = Omit<Price, 'group' | 'groupRatio' | 'quotaPerUnit' | 'unpriced'>

/** Ratio of models without a price, as dear as the dearest models: 75 dollars per million tokens. */
export const fallbackModelRatio = 37.5

const cacheRatioDefault = 1
const createCacheRatioDefault = 1.25
/** Audio that a model writes costs twice as much as audio that it reads, with every vendor that sold both in April 2025. */
const audioCompletionRatioDefault = 2

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

      const set = setPrice(options, name)
      if (!set && !acceptsUnpriced && !options.SelfUseModeEnabled) fail('price_missing', { model })
      const price: Price = Object.freeze({
        ...(set ?? ratioPrice(options, name, fallbackModelRatio)),
        group,
        groupRatio: groupRatio(options, group),
        quotaPerUnit: options.QuotaPerUnit,
        unpriced: set === undefined,
      })
      if (set) known.set(group, (known.get(group) ?? new Map()).set(name, price))
      return price
    },
    modelPriceOf: (model) => setPrice(options, priceName(model)),
  }
}

function setPrice(options: OptionValues, name: string): ModelPrice | undefined {
  const fixedUsd = options.ModelPrice[name]
  const modelRatio = options.ModelRatio[name]
  if (fixedUsd !== undefined) return { ...ratioPrice(options, name, modelRatio ?? 0), fixedUsd }
  return modelRatio === undefined ? undefined : ratioPrice(options, name, modelRatio)
}

function ratioPrice(options: OptionValues, name: string, modelRatio: number): ModelPrice {
  const completionRatio = options.CompletionRatio[name] ?? familyCompletionRatio(name)
  return {
    model: name,
    fixedUsd: -1,
    modelRatio,
    completionRatio,
    cacheRatio: options.CacheRatio[name] ?? cacheRatioDefault,
    createCacheRatio: options.CreateCacheRatio[name] ?? createCacheRatioDefault,
    audioRatio: options.AudioRatio[name] ?? familyAudioRatio(name),
    audioCompletionRatio: options.AudioCompletionRatio[name] ?? audioCompletionRatioDefault,
    imageRatio: options.ImageRatio[name] ?? 1,
    imageCompletionRatio: options.ImageCompletionRatio[name] ?? completionRatio,
    searchUsd: options.WebSearchPrice,
  }
}
