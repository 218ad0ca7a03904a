import type { PriceRow } from '../../../contract/routes/pricing.ts'

interface Wanted {
  readonly search: string
  readonly type: string
  readonly available: string
  readonly group: string
  readonly sort: string
  readonly down: boolean
}

/** The rows to show. Without a sort those of the group come first, by name. */
export function wantedRows(rows: readonly PriceRow[], { search, type, available, group, sort, down }: Wanted): PriceRow[] {
  const words = search.trim().toLowerCase().split(/\s+/)
  const has = (row: PriceRow) => row.enable_groups.includes(group)
  const found = rows.filter(
    (row) =>
      words.every((word) => row.model_name.toLowerCase().includes(word)) &&
      (type === '' || type === billingOf(row)) &&
      (available === '' || (available === 'yes') === has(row)),
  )
  const order = (one: PriceRow, other: PriceRow): number => {
    if (sort === 'input') return priceOf(one) - priceOf(other)
    if (sort === 'output') return priceOf(one) * one.completion_ratio - priceOf(other) * other.completion_ratio
    if (sort === 'model') return one.model_name.localeCompare(other.model_name)
    return Number(has(other)) - Number(has(one)) || one.model_name.localeCompare(other.model_name)
  }
  const sorted = found.sort(order)
  return down ? sorted.reverse() : sorted
}

/** By what a model is charged. */
export function billingOf({ clips, quota_type }: PriceRow): 'tokens' | 'call' | 'clip' {
  if (clips) return 'clip'
  return quota_type === 1 ? 'call' : 'tokens'
}

/** Prices per call follow those by tokens. */
function priceOf({ quota_type, model_ratio, model_price }: PriceRow): number {
  return quota_type === 1 ? 1e6 + model_price : model_ratio
}
