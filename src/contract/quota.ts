/** Quota is an integer number of units; one US dollar is `QuotaPerUnit` units, by default this many. */
export const quotaPerUsd = 500_000

/** The most units of an amount: 20 million US dollars at the usual 500,000 units each, so that sums stay far within the safe integers. */
export const quotaMax = 1e13

/** A model ratio of 1 costs one unit per token: with the default, 2 US dollars per million tokens. */
export function ratioToUsdPerMillion(ratio: number, unitsPerUsd: number = quotaPerUsd): number {
  return (ratio * 1_000_000) / unitsPerUsd
}

export function usdPerMillionToRatio(usd: number, unitsPerUsd: number = quotaPerUsd): number {
  return (usd * unitsPerUsd) / 1_000_000
}

/** Removes the rounding errors of binary fractions; for display only. */
export function tidy(value: number): number {
  return Number(value.toPrecision(12))
}

/** The display of quota on a site: in dollars, or in units. */
interface QuotaDisplay {
  readonly inCurrency: boolean
  /** Units of one US dollar. */
  readonly perUsd: number
}

/** The direction in which a shown amount is rounded; `down` for balances and `up` for prices, so that too little never reads as enough. */
export type Rounding = 'nearest' | 'up' | 'down'

/** Quota as lists and messages show it: dollars as `formatUsd`, or units shortened with k, M, B. */
export function formatQuota(units: number, { inCurrency, perUsd }: QuotaDisplay, rounding: Rounding = 'nearest'): string {
  return inCurrency ? formatUsd(units / perUsd, rounding, unitPlaces(perUsd)) : formatNumber(units, rounding)
}

/** By how much a balance changes: +$1.00, −$0.25, and $0.00 for no change. */
export function formatChange(units: number, display: QuotaDisplay): string {
  return signOf(units) + formatQuota(Math.abs(units), display)
}

/** The same, exact to the unit. */
export function exactChange(units: number, display: QuotaDisplay): string {
  return signOf(units) + exactQuota(Math.abs(units), display)
}

const signOf = (units: number): string => (units > 0 ? '+' : units < 0 ? '−' : '')

/** Quota to the unit, as opened rows, tooltips and forms show it: $1,234.567892, or 617,283,946 units. */
export function exactQuota(units: number, { inCurrency, perUsd }: QuotaDisplay): string {
  return inCurrency ? exactUsd(units / perUsd, unitPlaces(perUsd)) : units.toLocaleString('en-US')
}

/** Dollars to the unit, as files and bills write them: 1234.567892, always with the same number of decimals. */
export function usdFigure(units: number, perUsd: number): string {
  return (units / perUsd).toFixed(unitPlaces(perUsd))
}

/** Dollars with two decimals; below one cent with `smallPlaces`, so that a small amount is not shown as zero. */
export function formatUsd(usd: number, rounding: Rounding = 'nearest', smallPlaces = usualPlaces): string {
  const places = usd !== 0 && Math.abs(usd) < 0.01 ? smallPlaces : 2
  return withSign(rounded(usd, places, rounding), { min: places, max: places })
}

/** Dollars with at least two decimals and as many more as the amount has, up to `places`. */
export function exactUsd(usd: number, places = usualPlaces): string {
  return withSign(usd, { min: 2, max: places })
}

/** Decimals in which one unit at the usual 500,000 for a dollar is a whole number. */
const usualPlaces = 6

/** The decimals of a dollar that distinguish every single unit. */
function unitPlaces(perUsd: number): number {
  return Math.max(usualPlaces, Math.ceil(Math.log10(perUsd)))
}

function withSign(usd: number, { min, max }: { min: number; max: number }): string {
  const figure = Math.abs(usd).toLocaleString('en-US', { minimumFractionDigits: min, maximumFractionDigits: max })
  return `${usd < 0 && /[1-9]/.test(figure) ? '−' : ''}$${figure}`
}

/** Shortens from ten thousand upwards: 12.3k, 4.5M, 6.7B. */
export function formatNumber(value: number, rounding: Rounding = 'nearest'): string {
  const size = Math.abs(value)
  if (size >= 1e9) return `${rounded(value / 1e9, 1, rounding)}B`
  if (size >= 1e6) return `${rounded(value / 1e6, 1, rounding)}M`
  if (size >= 1e4) return `${rounded(value / 1e3, 1, rounding)}k`
  return String(value)
}

function rounded(value: number, places: number, rounding: Rounding): number {
  const scale = 10 ** places
  // In binary, a whole multiple, or a half, may have become slightly larger or smaller.
  const multiple = Number((value * scale).toFixed(4))
  if (rounding === 'nearest') return (Math.sign(multiple) * Math.round(Math.abs(multiple))) / scale
  return (rounding === 'up' ? Math.ceil(multiple) : Math.floor(multiple)) / scale
}
