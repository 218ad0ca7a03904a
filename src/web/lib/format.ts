import { formatQuota } from '../../contract/quota.ts'
import { useStatus } from './status.ts'

/** Numbers, money and their colours as a person reads them; times are in `times.ts`. */

/** Thousands apart: 1,234,567. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 6 })
}

export type FormatQuota = (units: number, digits?: number) => string

/** Quota in dollars or units, as the site is set. */
export function useQuotaFormat(): FormatQuota {
  const { display_in_currency: inCurrency, quota_per_unit: perUsd } = useStatus()
  return (units, digits) => formatQuota(units, { inCurrency, perUsd }, digits)
}

/** Milliseconds as seconds with two decimals, the way response times are shown. */
export function formatSeconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(2)
}

/** How long something took: 420 ms, 1.6 s, 130 s. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1000
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
}

/** Colour of a channel's response time: up to 1 s, 3 s, 5 s, more; 0 means untested. */
export function responseTimeColor(milliseconds: number): string {
  if (milliseconds === 0) return 'gray'
  if (milliseconds <= 1000) return 'green'
  if (milliseconds <= 3000) return 'lime'
  if (milliseconds <= 5000) return 'yellow'
  return 'red'
}

/** Colour of the whole duration of a call. */
export function durationColor(seconds: number): string {
  if (seconds < 101) return 'green'
  return seconds < 300 ? 'orange' : 'red'
}

/** Colour of the time to the first token. */
export function firstTokenColor(milliseconds: number): string {
  if (milliseconds < 3000) return 'green'
  return milliseconds < 10_000 ? 'orange' : 'red'
}

/** Colour of a price ratio. */
export function ratioColor(ratio: number): string {
  if (ratio > 5) return 'red'
  if (ratio > 3) return 'orange'
  return ratio > 1 ? 'blue' : 'green'
}

const palette = [
  'yellow',
  'blue',
  'cyan',
  'green',
  'gray',
  'indigo',
  'sluice',
  'lime',
  'orange',
  'pink',
  'grape',
  'red',
  'teal',
  'violet',
]

/** A steady colour for a name or number. */
export function colorOf(name: string | number): string {
  const text = String(name)
  const sum = typeof name === 'number' ? name : [...text].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  return palette[Math.abs(sum) % palette.length] ?? 'gray'
}
