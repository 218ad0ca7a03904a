import { z } from 'zod'
import type { Text } from '../../../contract/text.ts'
import { readJson } from '../../base/lib/bytes/read-json.ts'
import { pricesIn } from './price-times.ts'
import { entryAt, type MatchLogic, type PriceEntry, type PriceVendors } from './vendor-prices.ts'

/**
 * Published price data, from an untrusted address: accepted data can be read without errors, in bounded time. A person judges whether
 * its prices are right (`price-changes.ts`).
 */
type Published =
  | {
      readonly vendors: PriceVendors
      /** Models that are sold by a unit which this version does not know; they are not among the vendors' models. */
      readonly leftOut: number
    }
  | { readonly reason: Text }

/** US dollars: a dollar for each token. Higher prices are errors. */
const priceMax = 1_000_000
const modelsMax = 50_000

/**
 * Reads published data, and adds the models of this version's second source (`PriceEntry.origin`) that it lacks. Returns the reason when
 * it is refused: another form, an invalid price, or fewer than half of the models of the data `inUse`.
 */
export function readPublished(
  json: string,
  { shipped, inUse }: { readonly shipped: PriceVendors; readonly inUse: PriceVendors },
): Published {
  const read = published.safeParse(readJson(json))
  if (!read.success) {
    const [issue] = read.error.issues
    const at = issue?.path.join('.').slice(0, 200) || 'JSON'
    return { reason: { zh: `内容不是价格数据（${at}）`, en: `the answer is not price data (${at})` } }
  }
  const kept = withSecondSource(keepReadable(read.data, shipped), shipped)
  const [offered, left, known] = [modelsIn(read.data), modelsIn(kept), modelsIn(inUse)]
  if (offered > modelsMax) return { reason: { zh: `包含超过 ${modelsMax} 个模型`, en: `it has more than ${modelsMax} models` } }
  if (left * 2 < known)
    return {
      reason: {
        zh: `只有 ${left} 个可用的模型，而正在使用的数据有 ${known} 个`,
        en: `it has ${left} models that can be used, and the data in use has ${known}`,
      },
    }
  return { vendors: kept, leftOut: offered - modelsIn(keepReadable(read.data, shipped)) }
}

function modelsIn(vendors: readonly { readonly models: readonly unknown[] }[]): number {
  return vendors.reduce((sum, { models }) => sum + models.length, 0)
}

/** Removes the models that have prices of unknown units, for which a part of the price would be missing. */
export function keepReadable(vendors: PriceVendors, shipped: PriceVendors): PriceVendors {
  const known = knownUnits(shipped)
  const isReadable = (model: PriceEntry) => unitsOf(model).every((unit) => known.has(unit))
  return vendors.map((vendor) => ({ ...vendor, models: vendor.models.filter(isReadable) }))
}

function knownUnits(vendors: PriceVendors): ReadonlySet<string> {
  return new Set(vendors.flatMap(({ models }) => models.flatMap(unitsOf)))
}

function unitsOf(model: PriceEntry): string[] {
  return pricesIn(model).flatMap(({ prices }) => Object.keys(prices))
}

function withSecondSource(vendors: PriceVendors, shipped: PriceVendors): PriceVendors {
  const known = new Set(vendors.map(({ id }) => id))
  const others = shipped.filter(({ id }) => !known.has(id)).map((vendor) => ({ ...vendor, models: [] }))
  return [...vendors, ...others].map((vendor) => {
    const second = (shipped.find(({ id }) => id === vendor.id)?.models ?? []).filter(({ origin }) => origin !== undefined)
    const missing = second.filter(({ id }) => entryAt(vendor, id, []) === undefined)
    return missing.length === 0 ? vendor : { ...vendor, models: [...vendor.models, ...missing] }
  })
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
const constraint = z.union([z.object({ start_date: z.iso.date() }), z.object({ start_time: time, end_time: time })]).nullish()

/** Variants by another member of the request are left out. */
const variants = z
  .array(z.object({ when: z.record(z.string().max(64), z.string().max(64)), constraint, prices }))
  .max(100)
  .transform((given) => given.filter(({ when }) => isTier(when)))

function isTier(when: Readonly<Record<string, string>>): boolean {
  const [entry, ...others] = Object.entries(when)
  return entry !== undefined && others.length === 0 && ['service_tier', 'speed'].includes(entry[0]) && entry[1] !== 'default'
}

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

const model: z.ZodType<PriceEntry> = z.object({
  id: z.string().regex(/^\S{1,100}$/),
  match,
  prices: z.union([z.array(z.object({ constraint, prices })).min(1).max(100), prices]),
  price_variants: variants.nullish().transform((given) => (given && given.length > 0 ? given : undefined)),
})

const vendor = z.object({
  id: z.string().regex(/^[\w.-]{1,64}$/),
  name: z.string().trim().min(1).max(100),
  model_match: match.optional(),
  fallback_model_providers: z.array(z.string().max(64)).max(50).optional(),
  models: z.array(model),
})

const published = z
  .array(vendor)
  .max(1000)
  .refine((vendors) => new Set(vendors.map(({ id }) => id)).size === vendors.length)
