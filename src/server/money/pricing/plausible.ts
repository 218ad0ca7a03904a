import { modelLimitsOf } from '../../../contract/model-limits.ts'
import {
  type Bucket,
  cacheWriteBuckets,
  type OtherUsage,
  type OutputBucket,
  type PromptBucket,
  type Usage,
} from '../../../contract/usage.ts'
import { AppError } from '../../base/lib/failure.ts'
import { costOf, type Price, type PricedUsage } from './quote.ts'
import type { UsageBound } from './usage-bound.ts'

/**
 * Whether a reported usage is possible: a caller is never charged for more than their request can use. Pure. See
 * docs/decisions/0022-implausible-usage.md.
 */

/** From the bucket that is usually the most expensive to the cheapest. */
const promptBuckets: readonly PromptBucket[] = [
  'audioInput',
  'imageInput',
  'cacheWrite12h',
  'cacheWrite1h',
  'cacheWrite30m',
  'cacheWrite',
  'input',
  'cachedAudio',
  'cachedImage',
  'cacheRead',
]
const outputBuckets: readonly OutputBucket[] = ['videoOutput', 'audioOutput', 'imageOutput', 'output']

/**
 * The usage within the bound. The excess is removed from the most expensive bucket of its side first, until the side fits; the other
 * buckets stay unchanged. The charge is the lowest that the report and the bound allow, and never more than the report. A prompt that is
 * shorter than what was cached of it is raised to that first.
 */
export function plausibleUsage(usage: Usage, bound: UsageBound | undefined): { usage: Usage; isImplausible: boolean } {
  const { cacheExcess = 0 } = usage
  const plain = cacheExcess === 0 ? usage : { ...usage, cacheRead: usage.cacheRead + cacheExcess }
  const reported = plain.unexplained !== undefined && bound ? withUnexplainedInside(plain, bound) : plain
  const own = bound ? within(reported, bound) : reported
  const byOthers = bound && reported.byOthers?.map((other) => ({ ...other, usage: within(other.usage, boundOfOther(other)) }))
  const isOtherCut = byOthers?.some((other, index) => other.usage !== reported.byOthers?.[index]?.usage)
  if (own === reported && !isOtherCut) return { usage: reported, isImplausible: false }
  return { usage: isOtherCut && byOthers ? { ...own, byOthers } : own, isImplausible: true }
}

/**
 * Counts cache writes of unknown lifetime with the longest lifetime that the request can have, so that the charge covers the
 * vendor's. Returns the same object when the lifetime is known.
 */
export function withCacheLifetime(usage: Usage, bound: UsageBound | undefined): Usage {
  if (!usage.cacheLifetimeUnknown || !bound?.cacheLifetime) return usage
  const { cacheLifetimeUnknown: _, ...told } = usage
  const bucket = cacheWriteBuckets[bound.cacheLifetime]
  return { ...told, cacheWrite: 0, [bucket]: told[bucket] + told.cacheWrite }
}

/** The greatest usage of another model, such as an adviser, in the reported number of calls. */
function boundOfOther({ model, usage }: OtherUsage): UsageBound {
  const { contextTokens, outputTokensMax } = modelLimitsOf(model)
  return { promptTokens: usage.calls * contextTokens, outputTokens: usage.calls * outputTokensMax }
}

/** Returns the same object when nothing is reduced. */
function within(usage: Usage, { promptTokens, outputTokens }: UsageBound): Usage {
  if (sumOf(usage, promptBuckets) <= promptTokens && sumOf(usage, outputBuckets) <= outputTokens) return usage
  const cuts = { ...cut(usage, promptBuckets, promptTokens), ...cut(usage, outputBuckets, outputTokens) }
  const bounded = { ...usage, ...cuts }
  return { ...bounded, reasoning: Math.min(bounded.reasoning, bounded.output) }
}

/**
 * What only the total of a report contains counts as output, but as input as far as the output has no room for it and the prompt has:
 * the dearer reading within the bound.
 */
function withUnexplainedInside(usage: Usage, { promptTokens, outputTokens }: UsageBound): Usage {
  const { unexplained = 0, input, output } = usage
  const beyond = sumOf(usage, outputBuckets) - outputTokens
  const moved = Math.min(unexplained, beyond, output, promptTokens - sumOf(usage, promptBuckets))
  return moved > 0 ? { ...usage, input: input + moved, output: output - moved } : usage
}

function sumOf(usage: Usage, of: readonly Bucket[]): number {
  let sum = 0
  for (const bucket of of) sum += usage[bucket]
  return sum
}

/** The reduced buckets, with their new amounts. */
function cut(usage: Usage, order: readonly Bucket[], most: number): Partial<Record<Bucket, number>> {
  let excess = sumOf(usage, order) - most
  const cuts: Partial<Record<Bucket, number>> = {}
  for (const bucket of order) {
    if (excess <= 0) break
    const taken = Math.min(excess, usage[bucket])
    if (taken > 0) cuts[bucket] = usage[bucket] - taken
    excess -= taken
  }
  return cuts
}

interface Reported {
  readonly usage: Usage
  /** Usage of other models, each at its own price. */
  readonly others?: readonly PricedUsage[]
}

/** Limits the cost, so that sums of such costs stay exact. */
const unitsMax = 1_000_000_000_000

/** The upstream's cost, by its report, beyond a charge: units, at most 10^12. */
export function costBeyond(price: Price, reported: Reported, charged: number): number {
  const { cacheExcess = 0, ...usage } = reported.usage
  try {
    const cost = costOf(price, { ...usage, cacheRead: usage.cacheRead + cacheExcess }, reported.others)
    return Math.min(unitsMax, Math.max(0, cost - charged))
  } catch (error) {
    // The cost is too large to be priced.
    if (error instanceof AppError && error.code === 'amount_out_of_range') return unitsMax
    throw error
  }
}
