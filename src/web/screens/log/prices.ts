import { tidy } from '../../../contract/quota.ts'

/** A list price as text: $2.5, $0.00015. */
export function usdText(usd: number): string {
  return `$${tidy(usd)}`
}
