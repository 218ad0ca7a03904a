import type { Text } from './text.ts'

/** Currencies in which quota is sold: the decimals of their minor unit, and their names. */
export const currencies = {
  CNY: { places: 2, label: { zh: '人民币 CNY', en: 'CNY, Chinese yuan' } },
  USD: { places: 2, label: { zh: '美元 USD', en: 'USD, US dollar' } },
  EUR: { places: 2, label: { zh: '欧元 EUR', en: 'EUR, euro' } },
  GBP: { places: 2, label: { zh: '英镑 GBP', en: 'GBP, pound sterling' } },
  HKD: { places: 2, label: { zh: '港币 HKD', en: 'HKD, Hong Kong dollar' } },
  SGD: { places: 2, label: { zh: '新加坡元 SGD', en: 'SGD, Singapore dollar' } },
  AUD: { places: 2, label: { zh: '澳元 AUD', en: 'AUD, Australian dollar' } },
  CAD: { places: 2, label: { zh: '加元 CAD', en: 'CAD, Canadian dollar' } },
  JPY: { places: 0, label: { zh: '日元 JPY', en: 'JPY, Japanese yen' } },
} as const satisfies Record<string, { places: number; label: Text }>

export type Currency = keyof typeof currencies

/** Decimals of a currency's minor unit; two for unknown currencies. */
export function placesOf(currency: string): number {
  return Object.hasOwn(currencies, currency) ? currencies[currency as Currency].places : 2
}

/** An amount in minor units as people write it: `12.34`, or `1234` of a currency without decimals. */
export function moneyText(minor: number, currency = 'CNY'): string {
  const places = placesOf(currency)
  if (places === 0) return String(minor)
  const text = String(minor).padStart(places + 1, '0')
  return `${text.slice(0, -places)}.${text.slice(-places)}`
}
