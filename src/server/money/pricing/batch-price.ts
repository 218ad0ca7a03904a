import { decimalText, product } from '../../../contract/decimal.ts'
import { type Price, priceMet } from './quote.ts'

/**
 * The price of requests in a batch: that of the moment in which the batch is ordered, with every token and every call at the factor.
 * Tools of the vendor cost what they always cost. Pure.
 */
export function batchPrice(price: Price, factor: number, orderedMs: number): Price {
  const { later: _, ...met } = priceMet(price, orderedMs)
  return discounted(met, factor)
}

function discounted(price: Price, factor: number): Price {
  const { steps } = price
  return {
    ...price,
    modelRatio: times(price.modelRatio, factor),
    fixedUsd: price.fixedUsd >= 0 ? times(price.fixedUsd, factor) : price.fixedUsd,
    ...(steps ? { steps: steps.map((step) => ({ ...step, price: discounted(step.price, factor) })) } : {}),
  }
}

/** Exact for numbers as they are written. */
function times(number: number, factor: number): number {
  return Number(decimalText(product(number, factor)))
}
