import { withoutTrailing } from './trailing.ts'

/** Exact arithmetic on the decimals that prices are written as. Money is computed with it on the server and recomputed in the console. */

/** `digits / 10^places` */
export interface Decimal {
  readonly digits: bigint
  readonly places: number
}

/** Computed once: every charge needs some of them, and computing them each time took one percent of the time of a call. */
const powersOfTen = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent))

/** `10^exponent`. Throws a RangeError for a negative exponent. */
export function powerOfTen(exponent: number): bigint {
  return powersOfTen[exponent] ?? 10n ** BigInt(exponent)
}

/** The shortest decimal that represents this number, as it was written in the options: 0.1 is a tenth. */
export function decimalOf(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = BigInt(whole + fraction)
  const places = fraction.length - Number(exponent)
  return places >= 0 ? { digits, places } : { digits: digits * powerOfTen(-places), places: 0 }
}

export function product(...factors: readonly number[]): Decimal {
  return factors.map(decimalOf).reduce(times)
}

export function times(left: Decimal, right: Decimal): Decimal {
  return { digits: left.digits * right.digits, places: left.places + right.places }
}

export function sumOf(terms: readonly Decimal[]): Decimal {
  const places = Math.max(0, ...terms.map((term) => term.places))
  return { digits: terms.reduce((total, term) => total + digitsAt(term, places), 0n), places }
}

/** The digits of a decimal when it is written with `wanted` places. */
export function digitsAt({ digits, places }: Decimal, wanted: number): bigint {
  return digits * powerOfTen(wanted - places)
}

/** A non-negative decimal, rounded up to an integer. */
export function roundedUp({ digits, places }: Decimal): bigint {
  const unit = powerOfTen(places)
  return (digits + unit - 1n) / unit
}

/** `1234.5`, without trailing zeros. */
export function decimalText({ digits, places }: Decimal): string {
  const text = digits.toString().padStart(places + 1, '0')
  const whole = text.slice(0, text.length - places)
  const fraction = withoutTrailing(text.slice(text.length - places), '0')
  return fraction === '' ? whole : `${whole}.${fraction}`
}
