import { exactChange, exactQuota, formatChange, formatQuota } from '../../contract/quota.ts'
import { useStatus } from './status.ts'

/** Numbers and money as text for people; times are in `times.ts`, colours in `colors.ts`. */

/** With thousands separators: 1,234,567. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 6 })
}

export type FormatQuota = (units: number) => string

/** Quota in dollars or units, as the site is set: for lists, cards and messages. */
export function useQuotaFormat(): FormatQuota {
  const { display_in_currency: inCurrency, quota_per_unit: perUsd } = useStatus()
  return (units) => formatQuota(units, { inCurrency, perUsd })
}

/** Quota exact to the unit: for opened rows, forms and hints. */
export function useExactQuota(): FormatQuota {
  const { display_in_currency: inCurrency, quota_per_unit: perUsd } = useStatus()
  return (units) => exactQuota(units, { inCurrency, perUsd })
}

/** By how much a balance changes, with its sign; `exact` is to the unit. */
export function useQuotaChange(): { readonly format: FormatQuota; readonly exact: FormatQuota } {
  const { display_in_currency: inCurrency, quota_per_unit: perUsd } = useStatus()
  return {
    format: (units) => formatChange(units, { inCurrency, perUsd }),
    exact: (units) => exactChange(units, { inCurrency, perUsd }),
  }
}

/** Units as dollars, exact to the unit, regardless of the site's display of quota; an empty input is $0.00. */
export function useDollarsOf(): (typed: number | string) => string {
  const { quota_per_unit: perUsd } = useStatus()
  return (typed) => exactQuota(Number(typed) || 0, { inCurrency: true, perUsd })
}

/** `¥12.34`: the symbol of the currency if it has a common one, otherwise its code. */
export function withCurrency(figure: string, currency: string): string {
  return `${signs[currency] ?? `${currency} `}${figure}`
}

const signs: Readonly<Record<string, string>> = {
  CNY: '¥',
  USD: '$',
  EUR: '€',
  GBP: '£',
  HKD: 'HK$',
  SGD: 'S$',
  AUD: 'A$',
  CAD: 'CA$',
}

/** Milliseconds as seconds with two decimals, the way response times are shown. */
export function formatSeconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(2)
}

/** A duration as text: 420 ms, 1.6 s, 130 s. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1000
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
}
