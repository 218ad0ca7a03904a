/** The unit of an amount: US dollars, or units of quota. */
export type QuotaUnit = 'usd' | 'units'

interface Amount {
  /** Whole units of quota; negative to take away. */
  readonly quota: number
  /** The unit that was meant: the written one, or that of the field. */
  readonly unit: QuotaUnit
}

interface Reading {
  /** The unit of a number alone. */
  readonly unit: QuotaUnit
  /** Units of one US dollar. */
  readonly perUsd: number
}

const ahead = /^([-+])? ?(us ?\$|usd|\$)? ?/
const figures = /^[\d.,_' ]*/
const behind = /^([kmb千万萬亿億])? ?(.*)$/s
const grouped = /^\d{1,3}([ ,_']\d{3})*(\.\d*)?$/
const plain = /^\d*(\.\d*)?$/

const multiples: Readonly<Record<string, number>> = { k: 1e3, 千: 1e3, 万: 1e4, 萬: 1e4, m: 1e6, 亿: 1e8, 億: 1e8, b: 1e9 }

const unitWords: ReadonlyMap<string, QuotaUnit> = new Map([
  ...['$', 'us$', 'usd', 'dollar', 'dollars', 'us dollars', '美元', '美金'].map((word) => [word, 'usd'] as const),
  ...['unit', 'units', 'quota', 'quota units', '额度', '額度'].map((word) => [word, 'units'] as const),
])

/**
 * Reads an amount of quota as it is typed or pasted: `$5`, `US$5`, `5 USD`, `5k`, `1.5 万`, `500,000 units`; a number alone is in
 * the unit of the field. Undefined for what cannot be read, such as other currencies, two units, commas that do not separate thousands, or
 * parts of a unit.
 */
export function readQuota(typed: string, { unit, perUsd }: Reading): Amount | undefined {
  // Full-width characters become common ones.
  const text = typed.normalize('NFKC').replaceAll('−', '-').replaceAll(/\s+/g, ' ').trim().toLowerCase()
  const [start = '', sign, before] = ahead.exec(text) ?? []
  const [figure = ''] = figures.exec(text.slice(start.length)) ?? []
  const [, times = '', after] = behind.exec(text.slice(start.length + figure.length)) ?? []
  const digits = figure.trim()
  if (!/\d/.test(digits) || !(plain.test(digits) || grouped.test(digits))) return undefined
  const words = [before, after].filter((word) => word !== undefined && word !== '')
  const written = words.map((word) => unitWords.get(word?.replace(' $', '$') ?? ''))
  const [meant, ...others] = new Set(written.length === 0 ? [unit] : written)
  if (meant === undefined || others.length > 0) return undefined

  const count = Number(digits.replaceAll(/[ ,_']/g, '')) * (multiples[times] ?? 1)
  // The product of decimal fractions is rounded to what was written.
  const exact = Number((meant === 'usd' ? count * perUsd : count).toPrecision(14))
  const quota = meant === 'usd' ? Math.round(exact) : exact
  if (!Number.isSafeInteger(quota)) return undefined
  return { quota: sign === '-' && quota !== 0 ? -quota : quota, unit: meant }
}

/** An amount as a field of this unit shows it, such that it is read as the same number of units. */
export function writeQuota(quota: number, { unit, perUsd }: Reading): string {
  const count = unit === 'usd' ? Number((quota / perUsd).toPrecision(14)) : quota
  return count.toLocaleString('en-US', { maximumFractionDigits: 12 })
}
