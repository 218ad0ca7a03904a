import { type ModelPrice, modelPriceOf, priceMaps } from '../../../../contract/model-price.ts'
import { isNumberText, type ModelPrices, numbersOf, type OptionTexts, writeTable } from './table.ts'

/** What a model will cost once the figures of the editor are applied, by the rule that charges; undefined where they are no price. */
export function examplePrice(model: string, prices: ModelPrices, options: OptionTexts): ModelPrice | undefined {
  if (![prices.price, prices.ratio, prices.completion].every(isNumberText)) return undefined
  const texts = { ...options, ...writeTable(options, { [model]: prices }) }
  // A map for each of the names.
  const maps = Object.fromEntries(priceMaps.map((name) => [name, numbersOf(texts[name])])) as Record<
    (typeof priceMaps)[number],
    Record<string, number>
  >
  return modelPriceOf({ ...maps, WebSearchPrice: Number(options.WebSearchPrice ?? 0) }, model)
}
