import type { PriceChange, TokenPrices } from '../../../contract/routes/pricing.ts'
import { keyOf, type VendorModel } from './price-changes.ts'

/**
 * Which changes of newer price data apply without a person, by the option `PriceDataApply`. A model is applied as a whole: one change that
 * must be asked about, now or on a later day, holds back its other changes. Pure.
 */
type Automatic = 'none' | 'cheaper' | 'all'

/** The models whose changes apply by themselves. */
export function automaticModels(changes: readonly PriceChange[], mode: Automatic): VendorModel[] {
  if (mode === 'none') return []
  const nameOf = ({ vendor_id: vendor, model }: PriceChange): VendorModel => ({ vendor, model })
  const asked = new Set(changes.filter((change) => !isAutomatic(change, mode)).map((change) => keyOf(nameOf(change))))
  const names = new Map(changes.map(nameOf).map((name) => [keyOf(name), name]))
  return [...names].flatMap(([key, name]) => (asked.has(key) ? [] : [name]))
}

/** Never a price that becomes zero, falls by more than half, is gone, or is sold by another unit, nor one found by a likeness of names. */
function isAutomatic({ before, after, warning, by_pattern: byPattern }: PriceChange, mode: 'cheaper' | 'all'): boolean {
  if (warning !== null || byPattern || !after || after.uncovered) return false
  if (!before) return true
  if (before.uncovered) return false
  const pairs = pricePairs(before, after)
  if (pairs.some(([was, is]) => is < was / 2 || (is === 0 && was > 0))) return false
  return mode === 'all' || pairs.every(([was, is]) => is <= was)
}

type Published = NonNullable<PriceChange['before']>

/** Each kind of tokens at each length of the prompt that either price knows, before and after. */
function pricePairs(before: Published, after: Published): [was: number, is: number][] {
  const lengths = [0, ...[...before.steps, ...after.steps].map(({ above }) => above + 1)]
  return lengths.flatMap((length) => {
    const [was, is] = [charged(at(before, length)), charged(at(after, length))]
    return was.map((price, index): [number, number] => [price, is[index] ?? price])
  })
}

function at({ prices, steps }: Published, promptTokens: number): TokenPrices {
  return steps.findLast(({ above }) => promptTokens > above)?.prices ?? prices
}

/** The price of each kind of tokens; a kind without one costs what text costs, and a cache write a quarter more. */
function charged({ input, output, ...of }: TokenPrices): number[] {
  const cacheRead = of.cache_read ?? input
  return [
    ...[input, output, cacheRead, of.cache_write ?? input * 1.25],
    ...[of.audio_input ?? input, of.image_input ?? input, of.cache_audio_read ?? cacheRead, of.cache_image_read ?? cacheRead],
    ...[of.audio_output ?? output, of.image_output ?? output, of.video_output ?? output],
  ]
}
