import { type ModelPrice, modelPriceOf, type PriceOptions, priceMaps } from '../../../../contract/model-price.ts'
import { isNumberText, type ModelPrices, numbersOf, type OptionTexts } from './table.ts'

/** What the options say of prices, as they are saved. */
export function priceOptions(texts: OptionTexts): PriceOptions {
  const maps = Object.fromEntries(priceMaps.map((name) => [name, numbersOf(texts[name])]))
  // A map for each of the names.
  return { ...(maps as Omit<PriceOptions, 'WebSearchPrice'>), WebSearchPrice: Number(texts.WebSearchPrice ?? 0) }
}

/** What a model will cost once the figures of the editor are applied, by the rule that charges; undefined where they are no price. */
export function examplePrice(
  model: string,
  { price, ratio, completion }: ModelPrices,
  options: PriceOptions,
): ModelPrice | undefined {
  if (![price, ratio, completion].every(isNumberText)) return undefined
  const typed = (text: string) => (text === '' ? {} : { [model]: Number(text) })
  return modelPriceOf(
    { ...options, ModelPrice: typed(price), ModelRatio: typed(ratio), CompletionRatio: typed(completion) },
    model,
  )
}
