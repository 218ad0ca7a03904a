import { createHash } from 'node:crypto'
import type { OptionValues } from '../../../contract/options/index.ts'
import { isObject, readJson } from '../../base/lib/bytes/read-json.ts'
import { sameSecret } from '../../base/lib/secrets/secrets.ts'

/**
 * The epay protocol, as its gateways document it: a form that the browser posts to `submit.php`, and a report of the payment as query
 * fields. Both are signed: MD5 over the fields that are not empty, sorted by name, followed by the merchant's key. Pure.
 */
export interface Merchant {
  readonly address: string
  readonly id: string
  readonly key: string
}

/** The names that this site sends are much shorter. */
const goodsLengthMax = 100

/** Undefined while anything is missing: then nothing is signed and no signature is accepted. */
export function readMerchant({ PayAddress: address, EpayId: id, EpayKey: key }: OptionValues): Merchant | undefined {
  return address === '' || id === '' || key === '' ? undefined : { address, id, key }
}

export interface PaymentForm {
  readonly url: string
  readonly fields: Readonly<Record<string, string>>
}

interface Payment {
  readonly tradeNo: string
  readonly method: string
  readonly amount: number
  /** With two decimals. */
  readonly money: string
  readonly notifyUrl: string
  readonly returnUrl: string
}

/** The signed form of an order, with the URL to post it to. */
export function paymentForm(merchant: Merchant, payment: Payment): PaymentForm {
  const fields = {
    pid: merchant.id,
    type: payment.method,
    out_trade_no: payment.tradeNo,
    notify_url: payment.notifyUrl,
    return_url: payment.returnUrl,
    name: goodsName(payment.amount),
    money: payment.money,
    device: 'pc',
  }
  return {
    url: `${merchant.address}/submit.php`,
    fields: { ...fields, sign_type: 'MD5', sign: signatureOf(fields, merchant.key) },
  }
}

/** The product name of an order of this amount at the gateway. */
export function goodsName(amount: number): string {
  return `TUC${amount}`
}

/** The amount of the product of this name; 0 for an unknown name, since no order has that amount. */
export function amountOfGoods(name: string): number {
  const amount = Number(/\d{1,15}$/.exec(name)?.[0] ?? 0)
  return name === goodsName(amount) ? amount : 0
}

/** A gateway's report of a payment. */
export interface PaymentReport {
  readonly tradeNo: string
  readonly method: string
  /** The gateway's own number of the payment. */
  readonly gatewayNo: string
  /** Hundredths, or undefined when it is no amount of money. */
  readonly moneyMinor: number | undefined
  /** The name of the goods. */
  readonly goods: string
}

/** The report of a finished payment to this merchant. Undefined for anything else, in particular without a valid signature. */
export function readReport(merchant: Merchant, query: Readonly<Record<string, unknown>>): PaymentReport | undefined {
  const fields = textFields(query)
  if (!fields || !sameSecret(signatureOf(fields, merchant.key), fields.sign ?? '')) return undefined
  if (fields.pid !== merchant.id || fields.trade_status !== 'TRADE_SUCCESS') return undefined
  return {
    tradeNo: fields.out_trade_no ?? '',
    gatewayNo: fields.trade_no ?? '',
    method: fields.type ?? '',
    moneyMinor: minorOf(fields.money ?? ''),
    goods: goodsOf(fields.name ?? ''),
  }
}

/** The URL of an order's status at a gateway. It contains the merchant's key, as the protocol requires: never log it. */
export function orderUrl({ address, id, key }: Merchant, tradeNo: string): string {
  return `${address}/api.php?${new URLSearchParams({ act: 'order', pid: id, key, out_trade_no: tradeNo })}`
}

/**
 * The gateway's answer about an order: the report of its payment. Undefined unless it is about this order of this merchant, and the
 * order is paid.
 */
export function readOrder(merchant: Merchant, tradeNo: string, text: string): PaymentReport | undefined {
  const order = readJson(text)
  if (!isObject(order) || Number(order.code) !== 1 || Number(order.status) !== 1) return undefined
  const field = (name: string) => (typeof order[name] === 'string' || typeof order[name] === 'number' ? String(order[name]) : '')
  if (field('pid') !== merchant.id || field('out_trade_no') !== tradeNo) return undefined
  return {
    tradeNo,
    gatewayNo: field('trade_no'),
    method: field('type'),
    moneyMinor: minorOf(field('money')),
    goods: goodsOf(field('name')),
  }
}

function signatureOf(fields: Readonly<Record<string, string>>, key: string): string {
  const signed = Object.entries(fields)
    .filter(([name, value]) => value !== '' && name !== 'sign' && name !== 'sign_type')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
  return createHash('md5')
    .update(signed + key)
    .digest('hex')
}

/** Undefined when a field is repeated: it is parsed as a list, which no gateway sends. */
function textFields(query: Readonly<Record<string, unknown>>): Record<string, string> | undefined {
  const fields: Record<string, string> = {}
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string') return undefined
    fields[name] = value
  }
  return fields
}

function minorOf(money: string): number | undefined {
  const [, whole = '', fraction = ''] = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(money) ?? []
  return whole === '' ? undefined : Number(whole) * 100 + Number(fraction.padEnd(2, '0'))
}

function goodsOf(name: string): string {
  return name.trim().slice(0, goodsLengthMax)
}
