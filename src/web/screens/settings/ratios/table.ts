import type { TokenPrices } from '../../../../contract/routes/pricing.ts'
import { isJsonObject, parseJson } from '../../../lib/json.ts'

/** A model's figures in the editor: texts, since they may be incomplete; '' is not set. */
export interface ModelPrices {
  /** US dollars per call. It takes precedence over the ratios. */
  readonly price: string
  readonly ratio: string
  readonly completion: string
  /** Multiples of the price of input, as the completion ratio is. */
  readonly cacheRead: string
  readonly cacheWrite: string
}

export type PriceField = keyof ModelPrices
export type PriceTable = Readonly<Record<string, ModelPrices>>
/** Unsaved changes: null for a model that is to be removed. */
export type PriceDrafts = Readonly<Record<string, ModelPrices | null>>
export type OptionTexts = Readonly<Record<string, string>>

export const noPrices: ModelPrices = { price: '', ratio: '', completion: '', cacheRead: '', cacheWrite: '' }
export const optionOf = {
  price: 'ModelPrice',
  ratio: 'ModelRatio',
  completion: 'CompletionRatio',
  cacheRead: 'CacheRatio',
  cacheWrite: 'CreateCacheRatio',
} as const satisfies Record<PriceField, string>
// The names of an object are its keys.
export const priceFields = Object.keys(optionOf) as PriceField[]
/** The fields that make a model an entry of the table: a cache ratio alone sets no price. */
const naming: readonly PriceField[] = ['price', 'ratio', 'completion']

/** All models that have a price or a ratio, by name. */
export function readTable(saved: OptionTexts): PriceTable {
  const maps = priceFields.map((field) => [field, numbersOf(saved[optionOf[field]])] as const)
  const names = new Set(maps.flatMap(([field, map]) => (naming.includes(field) ? Object.keys(map) : [])))
  return Object.fromEntries(
    [...names].toSorted().map((name) => {
      const prices = Object.fromEntries(maps.map(([field, map]) => [field, Object.hasOwn(map, name) ? String(map[name]) : '']))
      // Each of the fields has been read.
      return [name, prices as unknown as ModelPrices]
    }),
  )
}

/** The table with unsaved changes on top. */
export function withDrafts(table: PriceTable, drafts: PriceDrafts): PriceTable {
  const removed = new Set(Object.keys(drafts).filter((name) => drafts[name] === null))
  const kept = Object.entries(table).filter(([name]) => !removed.has(name) && !Object.hasOwn(drafts, name))
  const changed = Object.entries(drafts).flatMap(([name, prices]) => (prices ? [[name, prices] as const] : []))
  return Object.fromEntries([...kept, ...changed].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/**
 * The texts of the options that the drafts change. The ratios of a model with a price per call are kept, so that they apply again when
 * that price is removed.
 */
export function writeTable(saved: OptionTexts, drafts: PriceDrafts): OptionTexts {
  const texts = priceFields.map((field) => {
    const before = numbersOf(saved[optionOf[field]])
    const after = { ...before }
    for (const [name, prices] of Object.entries(drafts)) {
      const text = prices?.[field] ?? ''
      if (text === '') delete after[name]
      else after[name] = Number(text)
    }
    return [optionOf[field], before, after] as const
  })
  const changed = texts.filter(([, before, after]) => JSON.stringify(sorted(before)) !== JSON.stringify(sorted(after)))
  return Object.fromEntries(changed.map(([key, , after]) => [key, JSON.stringify(after, null, 2)]))
}

/** Models of the drafts with a value that is not a number from 0 on. */
export function faultyModels(drafts: PriceDrafts): readonly string[] {
  return Object.entries(drafts).flatMap(([name, prices]) =>
    prices && priceFields.some((field) => !isNumberText(prices[field])) ? [name] : [],
  )
}

/** Whether a text is empty or a number that a price can be. */
export function isNumberText(text: string): boolean {
  return text === '' || /^(\d+(\.\d+)?|\.\d+)(e-?\d+)?$/i.test(text)
}

/** Public prices as the figures that an administrator would have typed. */
export function figuresOfPrices({ input, output, cache_read, cache_write }: TokenPrices, unitsPerUsd: number): ModelPrices {
  const multiple = (usd: number | null) => (usd === null || input === 0 ? '' : tidy(usd / input))
  return {
    price: '',
    ratio: ratioOf(tidy(input), unitsPerUsd),
    completion: multiple(output),
    cacheRead: multiple(cache_read),
    cacheWrite: multiple(cache_write),
  }
}

/** US dollars per million tokens of a ratio, and back; '' for invalid numbers. A ratio of 1 is one unit per token. */
export function usdOf(ratio: string, unitsPerUsd: number): string {
  return ratio === '' || !isNumberText(ratio) ? '' : tidy((Number(ratio) * 1_000_000) / unitsPerUsd)
}

export function ratioOf(usd: string, unitsPerUsd: number): string {
  return usd === '' || !isNumberText(usd) ? usd : tidy((Number(usd) * unitsPerUsd) / 1_000_000)
}

/** These dollars as a multiple of the input price; undefined without such a price, and for invalid numbers. */
export function multipleOf(usd: string, ratio: string, unitsPerUsd: number): string | undefined {
  const input = Number(usdOf(ratio, unitsPerUsd))
  return usd === '' || !isNumberText(usd) || !(input > 0) ? undefined : tidy(Number(usd) / input)
}

/** Removes the rounding errors of binary fractions. */
export function tidy(value: number): string {
  return String(Number(value.toPrecision(12)))
}

export function numbersOf(text: string | undefined): Record<string, number> {
  const value = parseJson(text ?? '')
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, number]) => (typeof number === 'number' ? [[name, number]] : [])),
  )
}

function sorted(map: Record<string, number>): [string, number][] {
  return Object.entries(map).toSorted(([one], [other]) => (one < other ? -1 : 1))
}
