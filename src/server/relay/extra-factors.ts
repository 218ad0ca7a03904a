import { numberIn } from '../../contract/by-model.ts'
import type { LogOther } from '../../contract/entities/log.ts'
import { promptTokens, type Tier, type Usage } from '../../contract/usage.ts'
import { type Price, type PricedUsage, priceAt, tierFactor } from '../pricing/quote.ts'
import { type Billed, tierSent } from './billed.ts'
import type { BilledUsage } from './billed-usage.ts'

/** The factors of tiers, tools and other models in a log row, as far as there are any. */
export function extraFactors(work: Billed, served: Tier | undefined, { usage, others }: BilledUsage): Partial<LogOther> {
  const { price } = work
  const asked = tierSent(work)
  const factor = tierFactor(price, usage.tier)
  return {
    ...(asked ? { tier_asked: textOf(asked) } : {}),
    ...(served && (asked || usage.tier) ? { tier_served: textOf(served) } : {}),
    ...(factor === 1 ? {} : { tier_factor: factor }),
    ...toolFactors(price, usage),
    ...(others.length > 0 ? { iterations: others.map(iterationOf) } : {}),
  }
}

function textOf(tier: Tier): string {
  return Object.values(tier).join(' ').slice(0, 100)
}

function toolFactors({ toolUsd }: Price, { toolCalls }: Usage): Partial<LogOther> {
  if (!toolCalls) return {}
  const prices = Object.keys(toolCalls).map((name) => [name, numberIn(toolUsd, name) ?? 0] as const)
  return { tool_calls: toolCalls, tool_prices: Object.fromEntries(prices) }
}

function iterationOf({ price: base, usage }: PricedUsage): NonNullable<LogOther['iterations']>[number] {
  const price = priceAt(base, promptTokens(usage))
  const factor = tierFactor(price, usage.tier)
  return {
    model: price.model,
    model_ratio: price.modelRatio,
    completion_ratio: price.completionRatio,
    model_price: price.fixedUsd,
    cache_ratio: price.cacheRatio,
    create_cache_ratio: price.createCacheRatio,
    input_tokens: usage.input,
    cache_tokens: usage.cacheRead,
    cache_creation_tokens: usage.cacheWrite,
    ...(usage.cacheWrite1h > 0 ? { cache_creation_1h_tokens: usage.cacheWrite1h } : {}),
    output_tokens: usage.output,
    ...(usage.calls === 1 ? {} : { calls: usage.calls }),
    ...(factor === 1 ? {} : { tier_factor: factor }),
  }
}
