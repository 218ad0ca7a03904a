/** Quota is an integer number of units; one US dollar is `QuotaPerUnit` units, by default this many. */
export const quotaPerUsd = 500_000

/** A model ratio of 1 costs one unit per token, which is this many US dollars per million tokens. */
export const usdPerMillionAtRatioOne = 2

export function ratioToUsdPerMillion(ratio: number, unitsPerUsd: number = quotaPerUsd): number {
  return (ratio * 1_000_000) / unitsPerUsd
}

export function usdPerMillionToRatio(usd: number, unitsPerUsd: number = quotaPerUsd): number {
  return (usd * unitsPerUsd) / 1_000_000
}

/**
 * A one-hour cache write costs twice the input price where a five-minute one costs 1.25 times as much: 2 / 1.25.
 * Source: Anthropic's price list, prompt caching, April 2025.
 */
export const oneHourWriteFactor = 1.6

/** Quota as a person reads it: dollars with `digits` decimals, or units shortened with k, M, B. */
export function formatQuota(units: number, display: { inCurrency: boolean; perUsd: number }, digits = 2): string {
  if (!display.inCurrency) return formatNumber(units)
  const usd = units / display.perUsd
  const sign = usd < 0 ? '-' : ''
  const smallest = 10 ** -digits
  if (usd !== 0 && Math.abs(usd) < smallest) return `${sign}$${Math.abs(usd).toFixed(6)}`
  return `${sign}$${grouped(Math.abs(usd), digits)}`
}

/** 2,469.14 */
function grouped(value: number, digits: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** Shortens from ten thousand upwards: 12.3k, 4.5M, 6.7B. */
export function formatNumber(value: number): string {
  const size = Math.abs(value)
  if (size >= 1e9) return `${trim(value / 1e9)}B`
  if (size >= 1e6) return `${trim(value / 1e6)}M`
  if (size >= 1e4) return `${trim(value / 1e3)}k`
  return String(value)
}

function trim(value: number): string {
  return String(Number(value.toFixed(1)))
}
