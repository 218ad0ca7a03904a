/** A list price as it is written: $2.5, $0.00015. */
export function usdText(usd: number): string {
  return `$${tidy(usd)}`
}

/** Without the dust of binary fractions; for showing only. */
export function tidy(value: number): number {
  return Number(value.toPrecision(12))
}
