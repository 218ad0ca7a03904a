import { describe, expect, it, onTestFinished } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { ledgerOf, outcome, type TestLedger } from '../../../../test/helpers/ledger.ts'
import { reportOf, signed } from '../../../../test/helpers/payment-gateway.ts'
import { randomsOf } from '../../../../test/helpers/randoms.ts'
import { retryWhileBusy } from '../../../../test/helpers/retry-while-busy.ts'
import { moneyText } from '../../../contract/money.ts'
import { UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { verifyAudit } from '../../base/options/audit.ts'
import { reconcile } from '../ledger/reconcile.ts'
import { listTopUps } from './list-top-ups.ts'
import { StripeCalls } from './stripe-calls.ts'
import { topUpPrice } from './top-up-price.ts'
import { handleReport, orderTopUp, priceTopUp } from './top-ups.ts'

const root = { id: 1, username: 'root', role: 100, group: 'default', address: '127.0.0.1' }
const key = 'merchant-key'
const settings = { ServerAddress: 'https://sluice.example', PayAddress: 'https://pay.example', EpayId: '1001', EpayKey: key }

async function shop(node: TestLedger, more: Record<string, string> = {}) {
  for (const [name, value] of Object.entries({ ...settings, ...more }))
    await node.core.options.save({ key: name, value, caller: root })
  const userId = await node.user(0)
  const caller = { ...root, id: userId, username: 'buyer' }
  const upstream = new UpstreamAgents()
  onTestFinished(() => upstream.close())
  const core = { ...node.core, stripe: new StripeCalls(node.core, upstream) }
  const order = (amount = 12) => orderTopUp(core, { amount, method: 'zfb', caller })
  const take = (report: object, at: TestLedger = node) => handleReport({ ...at.core, ledger: at.ledger }, { ...report })
  return {
    userId,
    caller,
    order,
    take,
    orders: async () =>
      (await listTopUps(node.core, { filter: { keyword: '', status: '', provider: '' }, page: { offset: 0, limit: 10 } })).items,
  }
}

eachDatabase('online top-up', (fresh, kind) => {
  it('[T169] is off while address, id or key is missing, and then accepts no signature', async () => {
    const node = await ledgerOf(await fresh())
    const { caller, order, take, userId } = await shop(node)
    const { fields } = await order()
    await node.core.options.save({ key: 'EpayKey', value: '', caller: root })
    expect(await outcome(async () => void (await order()))).toBe('top_up_disabled')
    expect(await outcome(async () => void priceTopUp(node.core, { amount: 1, caller }))).toBe('top_up_disabled')
    for (const guess of [key, '']) expect(await take(reportOf({ ...fields }, guess))).toBe(false)
    expect(await node.userRow(userId)).toMatchObject({ quota: 0 })
  })

  it('credits the order when exactly its price was paid, with ledger row and log row', async () => {
    const node = await ledgerOf(await fresh())
    const { userId, order, take, orders } = await shop(node)
    const { url, fields } = await order()
    expect(url).toBe('https://pay.example/submit.php')
    expect(fields).toMatchObject({ pid: '1001', type: 'alipay', money: '87.60', name: 'TUC12', sign_type: 'MD5' })
    expect(fields.notify_url).toBe('https://sluice.example/api/user/epay/notify')
    expect(signed({ ...fields }, key)).toEqual(fields)

    expect(await take(reportOf({ ...fields }, key))).toBe(true)

    expect(await node.userRow(userId)).toMatchObject({ quota: 6_000_000 })
    expect(await orders()).toMatchObject([
      { status: 'success', quota: 6_000_000, money_minor: 8760, currency: 'CNY', amount: 12 },
    ])
    expect(await node.core.db.selectFrom('logs').select(['type', 'quota', 'content']).execute()).toEqual([
      {
        type: 1,
        quota: 6_000_000,
        content: '在线充值 $12.00，支付 87.60 元 / Topped up $12.00 for 87.60 CNY',
      },
    ])
    expect(await reconcile(node.core)).toEqual([])
  })

  it('[T169] [T171] [T175] credits nothing for a report that is unsigned, wrongly signed, of another merchant or of no finished payment', async () => {
    const node = await ledgerOf(await fresh())
    const { userId, order, take, orders } = await shop(node)
    const { fields } = await order()
    const good = reportOf({ ...fields }, key)
    const { sign: _sign, ...unsigned } = good
    const forged = [
      {},
      unsigned,
      { ...good, sign: '' },
      { ...good, sign: '0'.repeat(32) },
      { ...good, money: '0.01' },
      { ...good, extra: 'x' },
      { ...good, sign: [good.sign, good.sign] },
      reportOf({ ...fields }, 'another key'),
      reportOf({ ...fields }, key, { pid: '1002' }),
      reportOf({ ...fields }, key, { trade_status: 'TRADE_CLOSED' }),
      reportOf({ ...fields }, key, { trade_status: '' }),
      reportOf({ ...fields }, key, { out_trade_no: 'unknown' }),
    ]
    for (const report of forged) expect(await take(report)).toBe(false)
    expect(await node.userRow(userId)).toMatchObject({ quota: 0 })
    expect(await orders()).toMatchObject([{ status: 'pending' }])
  })

  it('[T170] [T171] flags an order whose signed payment differs, once in the audit, and still credits the exact one', async () => {
    const node = await ledgerOf(await fresh())
    const { userId, order, take, orders } = await shop(node)
    const { fields } = await order()
    const wrong = { money: ['87.59', '0.01', '1e3'], type: ['wxpay'] }
    for (const [name, values] of Object.entries(wrong))
      for (const value of values)
        expect([value, await take(reportOf({ ...fields }, key, { [name]: value }))]).toEqual([value, false])
    expect(await orders()).toMatchObject([{ status: 'flagged' }])
    expect(await node.userRow(userId)).toMatchObject({ quota: 0 })
    const acts = await node.core.db.selectFrom('audit').select(['action', 'after']).where('action', '=', 'top-up.flag').execute()
    expect(acts).toEqual([
      { action: 'top-up.flag', after: '{"method":"alipay","money_minor":8759,"currency":"CNY","goods":"TUC12"}' },
    ])
    expect((await verifyAudit(node.core)).brokenAt).toBeUndefined()

    expect(await take(reportOf({ ...fields }, key, { money: '87.6' }))).toBe(true)
    expect(await take(reportOf({ ...fields }, key, { money: '87.59' }))).toBe(false)
    expect(await node.userRow(userId)).toMatchObject({ quota: 6_000_000 })
  })

  it('[T170] flags an order whose signed payment is for goods of another name, unless names are not compared', async () => {
    const node = await ledgerOf(await fresh())
    const { userId, order, take, orders } = await shop(node)
    const { fields } = await order()
    const named = (name: string, of = fields) => take(reportOf({ ...of }, key, { name }))
    for (const name of ['TUC1', 'TUC012', 'tuc12', 'TUC12.0', 'Water', ''])
      expect([name, await named(name)]).toEqual([name, false])
    expect(await orders()).toMatchObject([{ status: 'flagged' }])
    expect(await node.userRow(userId)).toMatchObject({ quota: 0 })
    const flags = await node.core.db.selectFrom('audit').select(['before', 'after']).where('action', '=', 'top-up.flag').execute()
    const told = '{"method":"alipay","money_minor":8760,"currency":"CNY","goods":"'
    expect(flags).toEqual([{ before: `${told}TUC12"}`, after: `${told}TUC1"}` }])

    expect(await named(' TUC12 ')).toBe(true)
    // The order is credited already, and a report of other goods does not match it.
    expect(await named('TUC1')).toBe(false)
    const { fields: second } = await order()
    await node.core.options.save({ key: 'EpayGoodsCheckEnabled', value: 'false', caller: root })
    expect(await named('Water', second)).toBe(true)
    expect(await node.userRow(userId)).toMatchObject({ quota: 12_000_000 })
  })

  it('[T172] credits a report delivered a hundred times at once on two nodes, and again later, once, and acknowledges all', async () => {
    const database = await fresh()
    const a = await ledgerOf(database, { node: 'a' })
    const { userId, order, take } = await shop(a)
    const nodes = kind === 'postgres' ? [a, await ledgerOf(database, { node: 'b' })] : [a]
    const report = reportOf({ ...(await order()).fields }, key)
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => retryWhileBusy(() => take(report, nodes[index % nodes.length]))),
    )
    expect(answers.every(Boolean)).toBe(true)
    const tomorrow = () => Date.now() + 24 * 3_600_000
    expect(await take(report, { ...a, core: { ...a.core, now: tomorrow } })).toBe(true)
    expect(await a.userRow(userId)).toMatchObject({ quota: 6_000_000 })
    expect(await reconcile(a.core)).toEqual([])
  })

  it('[T175] leaves a credited order unchanged, whatever the gateway reports afterwards', async () => {
    const node = await ledgerOf(await fresh())
    const { userId, order, take, orders } = await shop(node)
    const { fields } = await order()
    expect(await take(reportOf({ ...fields }, key))).toBe(true)
    for (const trade_status of ['TRADE_CLOSED', 'TRADE_REFUND', 'WAIT_BUYER_PAY', 'TRADE_FINISHED'])
      expect([trade_status, await take(reportOf({ ...fields }, key, { trade_status }))]).toEqual([trade_status, false])
    expect(await orders()).toMatchObject([{ status: 'success' }])
    expect(await node.userRow(userId)).toMatchObject({ quota: 6_000_000 })
    expect(await reconcile(node.core)).toEqual([])
  })

  it('[T178] credits the stored order although prices have changed', async () => {
    const node = await ledgerOf(await fresh())
    const { userId, order, take } = await shop(node)
    const { fields } = await order(2)
    for (const [name, value] of Object.entries({ Price: '100', QuotaPerUnit: '1000', TopupGroupRatio: '{"default":9}' }))
      await node.core.options.save({ key: name, value, caller: root })
    expect(await take(reportOf({ ...fields }, key))).toBe(true)
    expect(await node.userRow(userId)).toMatchObject({ quota: 1_000_000 })
  })

  it('[T176] leaves the order open when the credit fails, so that the next report credits it', async () => {
    const node = await ledgerOf(await fresh())
    const { order, take, userId, orders } = await shop(node)
    const { fields } = await order()
    const report = reportOf({ ...fields }, key)
    const failing = {
      ...node,
      ledger: { ...node.ledger, credit: () => Promise.reject(new Error('gone')) } as TestLedger['ledger'],
    }
    await expect(take(report, failing)).rejects.toThrow('gone')
    expect(await orders()).toMatchObject([{ status: 'pending' }])
    expect(await take(report)).toBe(true)
    expect(await node.userRow(userId)).toMatchObject({ quota: 6_000_000 })
  })
})

describe('price of a top-up', () => {
  const usual = {
    DisplayInCurrencyEnabled: true,
    QuotaPerUnit: 500_000,
    MinTopUp: 1,
    Price: 7.3,
    TopupGroupRatio: { default: 1, vip: 0.95, free: 0, tiny: 1e-9, negative: -1 },
    TopUpDiscounts: {},
    StripeMinTopUp: 5,
    StripeUnitPrice: 1.1,
    StripeCurrency: 'USD' as const,
  }
  const of =
    (provider: 'epay' | 'stripe') =>
    (amount: number, more: object = {}, group = 'default') =>
      topUpPrice({ ...usual, ...more }, { amount, group, provider })
  const price = of('epay')

  it('is exact, by group, and rounded half up to the hundredth once', () => {
    expect(price(12)).toEqual({ quota: 6_000_000, moneyMinor: 8760, currency: 'CNY' })
    expect(price(12, {}, 'vip')).toEqual({ quota: 6_000_000, moneyMinor: 8322, currency: 'CNY' })
    expect(price(12, {}, 'not listed')).toEqual(price(12))
    expect(price(12, {}, '__proto__')).toEqual(price(12))
    expect(price(1, { Price: 1.005 }).moneyMinor).toBe(101)
    expect(price(1, { Price: 1.0049999 }).moneyMinor).toBe(100)
    expect(price(3, { Price: 0.1 }).moneyMinor).toBe(30)
    expect(price(750_001, { DisplayInCurrencyEnabled: false })).toMatchObject({ quota: 750_001, moneyMinor: 1095 })
  })

  it('[T179] is refused unless the amount is an integer within the bounds and costs something', async () => {
    const refusal = (amount: number, more: object = {}, group = 'default') => outcome(() => void price(amount, more, group))
    for (const amount of [0, -5, 0.01, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect([amount, await refusal(amount)]).toEqual([amount, 'top_up_below_minimum'])
    expect(await refusal(9, { MinTopUp: 10 })).toBe('top_up_below_minimum')
    expect(await refusal(499_999, { DisplayInCurrencyEnabled: false })).toBe('top_up_below_minimum')
    expect(await refusal(1e15)).toBe('amount_out_of_range')
    expect(await refusal(1, {}, 'free')).toBe('top_up_too_small')
    expect(await refusal(1, {}, 'negative')).toBe('top_up_too_small')
    expect(await refusal(1, {}, 'tiny')).toBe('top_up_too_small')
  })

  it('[T179] equals an exact integer calculation for any amount, price and ratio', () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const random = randomsOf(seed)
    for (let round = 0; round < 300; round++) {
      const upTo = (most: number) => 1 + Math.floor(random() * most)
      const [amount, hundredths, percent] = [upTo(1e6), upTo(10_000), upTo(300)] as const
      const minor = (BigInt(amount) * BigInt(hundredths) * BigInt(percent) + 50n) / 100n
      const more = { Price: hundredths / 100, TopupGroupRatio: { default: percent / 100 } }
      expect([seed, amount, more, price(amount, more).moneyMinor]).toEqual([seed, amount, more, Number(minor)])
    }
  })

  it('uses the options of Stripe for Stripe, in the minor units of the currency', async () => {
    const stripe = of('stripe')
    expect(stripe(10)).toEqual({ quota: 5_000_000, moneyMinor: 1100, currency: 'USD' })
    expect(stripe(10, { StripeCurrency: 'JPY', StripeUnitPrice: 150.05 })).toMatchObject({ moneyMinor: 1501, currency: 'JPY' })
    expect(await outcome(() => void stripe(4))).toBe('top_up_below_minimum')
  })

  it('[T179] is reduced by the discount of the largest listed amount that is reached, also when amounts are units', () => {
    const TopUpDiscounts = { 10: 0.9, 100: 0.5, 50: 0.8 }
    const paid = (amount: number, more: object = {}) => price(amount, { Price: 1, TopUpDiscounts, ...more }).moneyMinor
    expect([9, 10, 49, 50, 99, 100, 1000].map((amount) => paid(amount))).toEqual([900, 900, 4410, 4000, 7920, 5000, 50_000])
    expect(paid(5_000_000, { DisplayInCurrencyEnabled: false })).toBe(900)
    expect(paid(4_999_999, { DisplayInCurrencyEnabled: false })).toBe(1000)
  })

  it('is written with two decimals, or none if the currency has none', () => {
    expect([1, 10, 100, 8760, 123_456].map((minor) => moneyText(minor))).toEqual(['0.01', '0.10', '1.00', '87.60', '1234.56'])
    expect(moneyText(1501, 'JPY')).toBe('1501')
  })
})
