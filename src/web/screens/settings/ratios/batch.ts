import type { ModelPrice } from '../../../../contract/model-price.ts'
import { ratioToUsdPerMillion } from '../../../../contract/quota.ts'
import { type ModelPrices, multipleOf, type PriceField, ratioOf } from './table.ts'

/** Setting values of many models at once: dollars, which are converted to ratios of each model, or ratios directly. */
export type BatchMode = 'usd' | 'price' | 'ratio' | 'completion' | 'both' | 'cache'

export const batchFields: Readonly<Record<BatchMode, readonly PriceField[]>> = {
  usd: ['ratio', 'completion', 'cacheRead', 'cacheWrite'],
  price: ['price'],
  ratio: ['ratio'],
  completion: ['completion'],
  both: ['ratio', 'completion'],
  cache: ['cacheRead', 'cacheWrite'],
}

/** Whether one of the figures is enough. */
export const isAnyEnough = (mode: BatchMode): boolean => mode === 'usd' || mode === 'cache'

/**
 * The figures of a model with the entered ones, '' for unchanged ones; undefined where dollars of output or of a cache need a missing
 * input price. A fixed price replaces the ratios, and the other way round.
 */
export function filledIn(mode: BatchMode, given: ModelPrices, prices: ModelPrices, perUsd: number): ModelPrices | undefined {
  if (mode === 'price') return { ...prices, price: given.price, ratio: '', completion: '' }
  const wanted = batchFields[mode].filter((field) => given[field] !== '')
  if (mode !== 'usd') return { ...prices, price: '', ...Object.fromEntries(wanted.map((field) => [field, given[field]])) }

  const ratio = given.ratio === '' ? prices.ratio : ratioOf(given.ratio, perUsd)
  const multiples = wanted
    .filter((field) => field !== 'ratio')
    .map((field) => [field, multipleOf(given[field], ratio, perUsd)] as const)
  if (multiples.some(([, multiple]) => multiple === undefined)) return undefined
  return { ...prices, price: '', ratio, ...Object.fromEntries(multiples) }
}

/** A model's price in dollars, per call or per million tokens; null where it has no such price. */
export function dollarsOf(price: ModelPrice | undefined, perUsd: number): Readonly<Record<PriceField, number | null>> {
  const byCall = price !== undefined && price.fixedUsd >= 0
  const input = price === undefined || byCall ? null : ratioToUsdPerMillion(price.modelRatio, perUsd)
  const times = (ratio = 0) => (input === null ? null : input * ratio)
  return {
    price: byCall ? price.fixedUsd : null,
    ratio: input,
    completion: times(price?.completionRatio),
    cacheRead: times(price?.cacheRatio),
    cacheWrite: times(price?.createCacheRatio),
  }
}
