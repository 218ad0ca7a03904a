import { type ModelPrice, modelPriceOf, type PriceOptions, patternMaps, priceMaps } from '../../../../contract/model-price.ts'
import { isNumberText, type ModelPrices, noPrices, numbersOf, type OptionTexts, optionOf, priceFields, tidy } from './table.ts'

/** The saved price options. */
export function priceOptions(texts: OptionTexts): PriceOptions {
  const maps = Object.fromEntries([...priceMaps, ...patternMaps].map((name) => [name, numbersOf(texts[name])]))
  // A map for each of the names.
  return { ...(maps as Omit<PriceOptions, 'WebSearchPrice'>), WebSearchPrice: Number(texts.WebSearchPrice ?? 0) }
}

/** The figures that apply to a model where none is set, as multiples of its input price; undefined without such a price. */
export function builtInFigures(model: string, prices: ModelPrices, options: PriceOptions): ModelPrices | undefined {
  const price = examplePrice(model, { ...noPrices, ratio: prices.ratio }, options)
  if (!price || prices.ratio === '') return undefined
  const { completionRatio, cacheRatio, createCacheRatio } = price
  const [completion, cacheRead, cacheWrite] = [completionRatio, cacheRatio, createCacheRatio].map(tidy)
  return { ...noPrices, completion: completion ?? '', cacheRead: cacheRead ?? '', cacheWrite: cacheWrite ?? '' }
}

/** A model's price once the figures of the editor are applied, by the rule that charges; undefined while they are invalid. */
export function examplePrice(model: string, prices: ModelPrices, options: PriceOptions): ModelPrice | undefined {
  if (!priceFields.every((field) => isNumberText(prices[field]))) return undefined
  const typed = priceFields.map((field) => [optionOf[field], prices[field] === '' ? {} : { [model]: Number(prices[field]) }])
  return modelPriceOf({ ...options, ...Object.fromEntries(typed) }, model)
}
