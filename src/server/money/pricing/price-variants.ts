import { isInForce } from './price-times.ts'
import type { PriceEntry, UnitPrices } from './vendor-prices.ts'

/**
 * The service tiers and speeds that the data has prices for, as multiples of the ordinary price of input or output, whichever is greater:
 * vendors have one factor for all kinds of tokens, and round the prices of cached ones.
 */
export function tierFactorsIn({ price_variants: variants = [] }: PriceEntry, ordinary: UnitPrices, nowMs: number) {
  const factors: Record<string, number> = {}
  for (const { when, constraint, prices } of variants) {
    const [value] = ['service_tier', 'speed'].flatMap((member) => when[member] ?? [])
    if (value === undefined || Object.hasOwn(factors, value) || !isInForce(constraint, nowMs)) continue
    const ratios = ['input_mtok', 'output_mtok'].flatMap((unit) => ratiosBetween(prices[unit], ordinary[unit]))
    if (ratios.length > 0) factors[value] = Math.max(...ratios)
  }
  return factors
}

type Price = UnitPrices[string]

function ratiosBetween(price: Price | undefined, ordinary: Price | undefined): number[] {
  if (price === undefined || ordinary === undefined) return []
  const starts = [price, ordinary].flatMap((each) => (typeof each === 'number' ? [] : each.tiers.map(({ start }) => start)))
  return [0, ...starts].flatMap((start) => {
    const [one, other] = [priceAbove(price, start), priceAbove(ordinary, start)]
    return other > 0 ? [Math.ceil(Number(((one / other) * 10_000).toPrecision(10))) / 10_000] : []
  })
}

function priceAbove(price: Price, start: number): number {
  if (typeof price === 'number') return price
  return price.tiers.findLast((tier) => start > 0 && tier.start <= start)?.price ?? price.base
}
