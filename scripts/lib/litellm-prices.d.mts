import type { PriceEntry } from '../../src/server/money/pricing/vendor-prices.ts'

export declare function modelOf(
  key: string,
  entry: Readonly<Record<string, unknown>>,
): { readonly vendor: { readonly id: string; readonly name: string }; readonly model: PriceEntry } | undefined
