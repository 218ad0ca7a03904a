import type { MatchLogic, ModelInfo } from '@pydantic/genai-prices'
import { z } from 'zod'
import type { Text } from '../../contract/text.ts'
import { type PricePackage, type PriceVendors, pricesIn } from './price-data.ts'

/**
 * Published price data, from an untrusted address: accepted data can be read without errors, in bounded time. A person judges whether
 * its prices are right (`price-changes.ts`).
 */
export type Published =
  | {
      readonly vendors: PriceVendors
      /** Models that this version of the package cannot price; they are not among the vendors' models. */
      readonly leftOut: number
    }
  | { readonly reason: Text }

/** US dollars: a dollar for each token. Higher prices are errors. */
const priceMax = 1_000_000
const modelsMax = 50_000

/**
 * Reads published data. Returns the reason when it is refused: another form, an invalid price, or fewer than half of the models of the
 * data `inUse`.
 */
export function readPublished(
  json: string,
  { prices, inUse }: { readonly prices: PricePackage; readonly inUse: PriceVendors },
): Published {
  const read = published.safeParse(parsed(json))
  if (!read.success) {
    const [issue] = read.error.issues
    const at = issue?.path.join('.').slice(0, 200) || 'JSON'
    return { reason: { zh: `内容不是价格数据（${at}）`, en: `the answer is not price data (${at})` } }
  }
  const kept = keepReadable(read.data, prices)
  const [offered, left, known] = [modelsIn(read.data), modelsIn(kept), modelsIn(inUse)]
  if (offered > modelsMax) return { reason: { zh: `包含超过 ${modelsMax} 个模型`, en: `it has more than ${modelsMax} models` } }
  if (left * 2 < known)
    return {
      reason: {
        zh: `只有 ${left} 个可用的模型，而正在使用的数据有 ${known} 个`,
        en: `it has ${left} models that can be used, and the data in use has ${known}`,
      },
    }
  return { vendors: kept, leftOut: offered - left }
}

function modelsIn(vendors: readonly { readonly models: readonly unknown[] }[]): number {
  return vendors.reduce((sum, { models }) => sum + models.length, 0)
}

/** Removes the models that this version of the package cannot price: a newer version may have accepted the data. */
export function keepReadable(vendors: PriceVendors, prices: PricePackage): PriceVendors {
  const isReadable = readableBy(prices)
  return vendors.map((vendor) => ({ ...vendor, models: vendor.models.filter(isReadable) }))
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** The package would ignore prices of units that it does not know, so that a part of the price would be missing. */
function readableBy({ vendors, requireReadable }: PricePackage): (model: ModelInfo) => boolean {
  const keysOf = (model: ModelInfo) => pricesIn(model).flatMap(({ prices }) => Object.keys(prices))
  const known = new Set(vendors.flatMap(({ models }) => models.flatMap(keysOf)))
  return (model) => {
    if (keysOf(model).some((key) => !known.has(key))) return false
    try {
      requireReadable(model)
      return true
    } catch {
      return false
    }
  }
}

const price = z.number().min(0).max(priceMax)
const tokens = z.int().min(0)
const prices = z.record(
  z.string().max(64),
  z.union([
    price,
    z
      .object({ base: price, tiers: z.array(z.object({ start: tokens, price })).max(20) })
      .transform(({ base, tiers }) => ({ base, tiers: tiers.toSorted((one, other) => one.start - other.start) })),
  ]),
)

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/)
const constraint = z.union([
  z.object({ start_date: z.iso.date() }).transform((given) => ({ ...given, type: 'start_date' as const })),
  z.object({ start_time: time, end_time: time }).transform((given) => ({ ...given, type: 'time_of_date' as const })),
])

const name = z.string().min(1).max(300)

/**
 * Matched against names that callers make up, so its time must be bounded: it is anchored at the start, repeats no group, and has
 * at most one unbounded quantifier, three quantifiers and nine alternatives.
 */
function isPlainPattern(pattern: string): boolean {
  const count = (signs: RegExp) => pattern.replace(/\{\d{1,2}\}|\(\?/g, '').match(signs)?.length ?? 0
  if (!pattern.startsWith('^') || /\)[*+{]|\\[1-9k]/.test(pattern)) return false
  if (count(/[*+]|,\}/g) > 1 || count(/[*+{?]/g) > 3 || count(/\|/g) > 9) return false
  try {
    new RegExp(pattern)
    return true
  } catch {
    return false
  }
}

const leaf = [
  z.object({ equals: name }),
  z.object({ starts_with: name }),
  z.object({ ends_with: name }),
  z.object({ contains: name }),
  z.object({ regex: name.refine(isPlainPattern) }),
] as const

/** The patterns that identify a model, nested at most this deep. */
function matchWithin(depth: number): z.ZodType<MatchLogic> {
  if (depth === 0) return z.union(leaf)
  const inner = z.array(matchWithin(depth - 1)).max(500)
  return z.union([...leaf, z.object({ or: inner }), z.object({ and: inner })])
}
const match = matchWithin(4)

const model: z.ZodType<ModelInfo> = z.object({
  id: z.string().regex(/^\S{1,100}$/),
  match,
  prices: z.union([
    z
      .array(z.object({ constraint: constraint.optional(), prices }))
      .min(1)
      .max(100),
    prices,
  ]),
})

const vendor = z
  .object({
    id: z.string().regex(/^[\w.-]{1,64}$/),
    name: z.string().trim().min(1).max(100),
    model_match: match.optional(),
    fallback_model_providers: z.array(z.string().max(64)).max(50).optional(),
    models: z.array(model),
  })
  .transform((given) => ({ ...given, api_pattern: '' }))

const published = z
  .array(vendor)
  .max(1000)
  .refine((vendors) => new Set(vendors.map(({ id }) => id)).size === vendors.length)
