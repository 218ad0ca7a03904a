import { type Decimal, decimalOf, product, roundedUp, sumOf, times } from './decimal.ts'
import type { Log } from './entities/log.ts'
import { cacheWriteFactor, type Factors, iterationsOf, mostOf, toolCalls } from './log-factors.ts'
import { quotaPerUsd, ratioToUsdPerMillion, tidy } from './quota.ts'
import { type Bucket, cacheWriteBuckets, longCacheLifetimes } from './usage.ts'

/**
 * A charge recomputed from its row alone. The formula is written out here a second time on purpose: a bill made by the charging
 * code would agree with it in any case.
 */
export type Bill = TokenBill | FixedBill

interface Total {
  /** The factor of the service tier on the lines above; 1 for the default tier. */
  readonly tierFactor: number
  /** Calls of tools that the vendor bills by the piece, web searches among them. */
  readonly tools: readonly ToolLine[]
  /** Usage of other models during the call. */
  readonly others: readonly OtherLine[]
  /** Quota units of one US dollar. */
  readonly perUsd: number
  /** Units before the group ratio. */
  readonly subtotal: Decimal
  readonly groupRatio: number
  /** Units before rounding. */
  readonly exact: Decimal
  /** Units after rounding up. */
  readonly rounded: number
  /** No more is charged: the hold, when the call cost more, and 0 for a reply that was not delivered. */
  readonly atMost: number | undefined
  /** The units that should have been charged. */
  readonly units: number
  /** Whether `units` equals the charged amount. */
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
  /** The number of calls charged. */
  readonly calls: number
}

interface BillLine {
  readonly bucket: Bucket
  readonly tokens: number
  /** The factor on the input price; 1 for the input itself. */
  readonly ratio: number
  readonly usdPerMillion: number
  /** Before the group ratio. */
  readonly units: Decimal
}

interface ToolLine {
  readonly name: string
  readonly count: number
  readonly usd: number
  /** Before the group ratio. */
  readonly units: Decimal
}

interface OtherLine {
  readonly model: string
  readonly tokens: number
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
    tier_factor: tierFactor = 1,
  } = factors
  const tools = toolsOf(factors, perUsd)
  const others = othersOf(factors, perUsd)
  if (groupRatio === undefined || !tools || !others) return undefined
  const totalOf = (before: Decimal): Total => {
    const apart = [...tools, ...others].map(({ units }) => units)
    const subtotal = sumOf([times(before, decimalOf(tierFactor)), ...apart])
    const exact = times(subtotal, decimalOf(groupRatio))
    const atMost = mostOf(factors)
    const rounded = Number(roundedUp(exact))
    const units = Math.min(rounded, atMost ?? rounded)
    return { tierFactor, tools, others, perUsd, subtotal, groupRatio, exact, rounded, atMost, units, agrees: units === quota }
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
  const longWrites = longCacheLifetimes.map((lifetime): Counted => {
    const factor = cacheWriteFactor(factors, lifetime)
    return [cacheWriteBuckets[lifetime], factors[`cache_creation_${lifetime}_tokens`] ?? 0, writeRatio, factor]
  })
  const buckets: Counted[] = [
    ['input', input, 1],
    ['cacheRead', factors.cache_tokens ?? 0, factors.cache_ratio],
    ['cachedAudio', factors.cached_audio ?? 0, factors.audio_cache_ratio],
    ['cachedImage', factors.cached_image ?? 0, factors.image_cache_ratio],
    ['cacheWrite', factors.cache_creation_tokens ?? 0, writeRatio],
    ...longWrites,
    ['audioInput', factors.audio_input ?? 0, factors.audio_ratio],
    ['imageInput', factors.image_input ?? 0, factors.image_ratio],
    ['output', output, factors.completion_ratio],
    ['audioOutput', factors.audio_output ?? 0, factors.audio_ratio, factors.audio_completion_ratio ?? 1],
    ['imageOutput', factors.image_output ?? 0, factors.image_completion_ratio],
    ['videoOutput', factors.video_output ?? 0, factors.video_completion_ratio],
  ]
  const used = buckets.filter(([bucket, tokens]) => tokens > 0 || bucket === 'input' || bucket === 'output')
  if (used.some(([, , ...ratios]) => ratios.includes(undefined))) return undefined

  return used.map(([bucket, tokens, ratio = 1, factor = 1]) => ({
    bucket,
    tokens,
    ratio: tidy(ratio * factor),
    usdPerMillion: tidy(ratioToUsdPerMillion(modelRatio * ratio * factor, perUsd)),
    units: product(tokens, modelRatio, ratio, factor),
  }))
}

/** `ratio` is relative to text input, `factor` multiplies it; undefined when the row lacks it. */
type Counted = [Bucket, tokens: number, ratio: number | undefined, factor?: number | undefined]

/** The lines of tool calls; undefined when a price is absent. */
function toolsOf(factors: Factors, perUsd: number): ToolLine[] | undefined {
  const { searches = 0, search_price: searchUsd } = factors
  const searched = searches > 0 && searchUsd !== undefined ? [{ name: 'web_search', count: searches, usd: searchUsd }] : []
  const lines = [...searched, ...toolCalls(factors)].flatMap(({ name, count, usd }) =>
    usd === undefined ? [] : [{ name, count, usd, units: product(count, usd, perUsd) }],
  )
  return lines.length === searched.length + toolCalls(factors).length ? lines : undefined
}

/**
 * The lines of other models: each at its own price, in the group and with the units per dollar of the row. Undefined when a factor
 * is absent.
 */
function othersOf(factors: Factors, perUsd: number): OtherLine[] | undefined {
  const iterations = iterationsOf(factors)
  const lines = iterations.flatMap((line) => {
    const { model, model_price: usd, model_ratio: modelRatio, calls = 1, tier_factor: tierFactor = 1 } = line
    const buckets = linesOf(line, modelRatio, perUsd)
    if (!buckets) return []
    const units = usd >= 0 ? product(usd, perUsd, calls) : sumOf(buckets.map((bucket) => bucket.units))
    const tokens = buckets.reduce((sum, bucket) => sum + bucket.tokens, 0)
    return [{ model, tokens, units: times(units, decimalOf(tierFactor)) }]
  })
  return lines.length === iterations.length ? lines : undefined
}
