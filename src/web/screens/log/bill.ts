import { type Decimal, decimalOf, product, roundedUp, sumOf, times } from '../../../contract/decimal.ts'
import type { Log } from '../../../contract/entities/log.ts'
import { oneHourWriteFactor, quotaPerUsd, ratioToUsdPerMillion } from '../../../contract/quota.ts'
import type { Factors } from './factors.ts'
import { tidy } from './prices.ts'

/**
 * A charge computed anew from nothing but its row. The formula is written out here a second time on purpose: a bill that was made by
 * the code that charged would agree with it whatever it did.
 */
export type Bill = TokenBill | FixedBill

interface Total {
  /** Web searches that the vendor bills apart; undefined when there were none. */
  readonly searches: { readonly count: number; readonly usd: number; readonly units: Decimal } | undefined
  /** Quota units of one US dollar. */
  readonly perUsd: number
  /** Units before the group ratio. */
  readonly subtotal: Decimal
  readonly groupRatio: number
  /** Units before rounding. */
  readonly exact: Decimal
  /** What should have been charged. */
  readonly units: number
  /** It is what was charged. */
  readonly agrees: boolean
}

export interface TokenBill extends Total {
  readonly kind: 'tokens'
  readonly modelRatio: number
  readonly lines: readonly BillLine[]
}

export interface FixedBill extends Total {
  readonly kind: 'fixed'
  readonly usd: number
  /** How often it was due. */
  readonly calls: number
}

export type Bucket =
  | 'input'
  | 'cacheRead'
  | 'cacheWrite'
  | 'cacheWrite1h'
  | 'audioInput'
  | 'imageInput'
  | 'output'
  | 'audioOutput'
  | 'imageOutput'

export interface BillLine {
  readonly bucket: Bucket
  readonly tokens: number
  /** What the input price is multiplied by; 1 for the input itself. */
  readonly ratio: number
  readonly usdPerMillion: number
  /** Before the group ratio. */
  readonly units: Decimal
}

/** Undefined when the row lacks a factor that its charge needs. */
export function billOf({ quota, factors }: { quota: Log['quota']; factors: Factors }): Bill | undefined {
  const {
    model_price: usd = -1,
    model_ratio: modelRatio,
    group_ratio: groupRatio,
    quota_per_unit: perUsd = quotaPerUsd,
  } = factors
  if (groupRatio === undefined) return undefined
  const searches = searchesOf(factors, perUsd)
  const totalOf = (before: Decimal): Total => {
    const subtotal = searches ? sumOf([before, searches.units]) : before
    const exact = times(subtotal, decimalOf(groupRatio))
    const units = Number(roundedUp(exact))
    return { searches, perUsd, subtotal, groupRatio, exact, units, agrees: units === quota }
  }
  const { calls = 1 } = factors
  if (usd >= 0) return { kind: 'fixed', usd, calls, ...totalOf(product(usd, perUsd, calls)) }

  if (modelRatio === undefined) return undefined
  const lines = linesOf(factors, modelRatio, perUsd)
  return lines && { kind: 'tokens', modelRatio, lines, ...totalOf(sumOf(lines.map(({ units }) => units))) }
}

function linesOf(factors: Factors, modelRatio: number, perUsd: number): BillLine[] | undefined {
  const { input_tokens: input, output_tokens: output, create_cache_ratio: writeRatio } = factors
  if (input === undefined || output === undefined) return undefined
  const buckets: [Bucket, tokens: number, ratio: number | undefined][] = [
    ['input', input, 1],
    ['cacheRead', factors.cache_tokens ?? 0, factors.cache_ratio],
    ['cacheWrite', factors.cache_creation_tokens ?? 0, writeRatio],
    ['cacheWrite1h', factors.cache_creation_1h_tokens ?? 0, writeRatio],
    ['audioInput', factors.audio_input ?? 0, factors.audio_ratio],
    ['imageInput', factors.image_input ?? 0, factors.image_ratio],
    ['output', output, factors.completion_ratio],
    ['audioOutput', factors.audio_output ?? 0, factors.audio_ratio],
    ['imageOutput', factors.image_output ?? 0, factors.image_completion_ratio],
  ]
  const used = buckets.filter(([bucket, tokens]) => tokens > 0 || bucket === 'input' || bucket === 'output')
  if (used.some(([, , ratio]) => ratio === undefined)) return undefined

  return used.map(([bucket, tokens, ratio = 1]) => {
    const factor =
      bucket === 'cacheWrite1h' ? oneHourWriteFactor : bucket === 'audioOutput' ? (factors.audio_completion_ratio ?? 1) : 1
    return {
      bucket,
      tokens,
      ratio: tidy(ratio * factor),
      usdPerMillion: tidy(ratioToUsdPerMillion(modelRatio * ratio * factor, perUsd)),
      units: product(tokens, modelRatio, ratio, factor),
    }
  })
}

function searchesOf({ searches = 0, search_price: usd }: Factors, perUsd: number): Total['searches'] {
  if (searches === 0 || usd === undefined) return undefined
  return { count: searches, usd, units: product(searches, usd, perUsd) }
}
