import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../../../../test/helpers/app.ts'
import { testLogger } from '../../../../test/helpers/logger.ts'
import { member } from '../../../../test/helpers/members.ts'
import { type Gateway, reportOf, startGateway } from '../../../../test/helpers/payment-gateway.ts'
import { requireBalancedBooks } from '../../../../test/helpers/seed.ts'
import { apiSecret, type FakeStripe, startStripe, webhookSecret } from '../../../../test/helpers/stripe-server.ts'
import type { AdminTopUp, TopUpOffer } from '../../../contract/entities/top-up.ts'
import { ConsoleRateLimits } from '../../gateway/limits/console-rate-limits.ts'

const key = 'merchant-key'
/** The log lines, at the most verbose level. */
const lines: string[] = []
const logger = testLogger('trace', (line) => void lines.push(line))
let server: TestServer
let gateway: Gateway
let stripe: FakeStripe
/** The form of an unpaid order. */
let unpaid: Record<string, string>

beforeAll(async () => {
  stripe = await startStripe()
  gateway = await startGateway(key)
  server = await startServer('sqlite', { stripeAddress: stripe.url, logger })
  stripe.webhook.url = `${server.url}/api/stripe/webhook`
  const options = {
    ServerAddress: server.url,
    PayAddress: gateway.url,
    EpayId: '1001',
    EpayKey: key,
    StripeApiSecret: apiSecret,
    StripeWebhookSecret: webhookSecret,
    StripeMinTopUp: '2',
    TopUpPresets: '20,5',
    TopUpDiscounts: '{"20":0.9}',
  }
  for (const [name, value] of Object.entries(options)) await server.call('PUT /api/option/', { key: name, value })
  unpaid = (await order(1)).form
})
afterAll(async () => {
  await requireBalancedBooks(server)
  await server.stop()
  await gateway.close()
  await stripe.close()
})

const answer = async (line: string, body: unknown) =>
  (await (await server.raw(line, body, { 'accept-language': 'en' })).json()) as Record<string, unknown>
const balance = async () => (await server.call<{ quota: number }>('GET /api/user/self')).quota
/** Creates an order with epay, and returns the form that pays it. */
const order = async (amount = 12) => {
  const { data, trade_no, url } = await answer('POST /api/user/pay', { amount, top_up_code: '', payment_method: 'wx' })
  // By the contract a successful answer contains the fields of the form.
  return { url: String(url), tradeNo: String(trade_no), form: data as Record<string, string> }
}
const notify = async (fields: Record<string, string>, method: 'GET' | 'POST' = 'GET', headers: Record<string, string> = {}) => {
  const url = `${server.url}/api/user/epay/notify`
  const sent = new URLSearchParams(fields)
  const response =
    method === 'GET' ? await fetch(`${url}?${sent}`, { headers }) : await fetch(url, { method, body: sent, headers })
  return [response.status, response.headers.get('content-type'), await response.text()]
}
const yes = [200, 'text/plain; charset=utf-8', 'success']
const no = [200, 'text/plain; charset=utf-8', 'fail']
const orderOf = async (tradeNo: string) => {
  const { items } = await server.call<{ items: AdminTopUp[] }>(`GET /api/topup/?keyword=${tradeNo}`)
  return items[0]
}

it('shows the offer and its price for each payment method in its currency', async () => {
  expect(await server.call<TopUpOffer>('GET /api/user/topup/info')).toEqual({
    methods: [
      { name: 'zfb', provider: 'epay', currency: 'CNY', least: 1 },
      { name: 'wx', provider: 'epay', currency: 'CNY', least: 1 },
      { name: 'stripe', provider: 'stripe', currency: 'USD', least: 2 },
    ],
    presets: [
      { amount: 5, share: 1 },
      { amount: 20, share: 0.9 },
    ],
  })
  const amount = { amount: 20, top_up_code: '' }
  expect(await answer('POST /api/user/amount', amount)).toEqual({
    success: true,
    message: 'success',
    data: '131.40',
    currency: 'CNY',
  })
  expect(await answer('POST /api/user/amount', { ...amount, payment_method: 'stripe' })).toMatchObject({
    data: '18.00',
    currency: 'USD',
  })
})

it('[T181] a form that a browser posts to the gateway is credited by its report, not by the browser that returns', async () => {
  for (const reports of ['GET', 'POST'] as const) {
    gateway.reports = reports
    const { url, tradeNo, form } = await order()
    expect([url, form.type, form.money]).toEqual([`${gateway.url}/submit.php`, 'wxpay', '87.60'])
    const before = await balance()
    await server.raw(`GET /topup?${new URLSearchParams(form)}`)
    expect(await balance()).toBe(before)

    const paid = await fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })
    expect(paid.headers.get('location')).toMatch(`${server.url}/topup?`)
    expect(gateway.answers.at(-1)).toBe('success')
    expect(await balance()).toBe(before + 6_000_000)
    const page = { total: 1, page: 1, items: [{ status: 'success', trade_no: tradeNo }] }
    expect(await server.call(`GET /api/user/self/topups?keyword=${tradeNo}`)).toMatchObject(page)
    expect(await server.call(`GET /api/topup/?keyword=${tradeNo}&status=success&provider=epay`)).toMatchObject(page)
    expect(await server.call(`GET /api/topup/?keyword=${tradeNo}&provider=stripe`)).toMatchObject({ total: 0 })
  }
  gateway.reports = 'GET'

  // The order number of another user reveals nothing and credits nothing.
  const other = await member(server, 'other')
  const number = unpaid.out_trade_no
  await other.call(`GET /topup?out_trade_no=${number}&trade_status=TRADE_SUCCESS`)
  expect((await other.call(`GET /api/user/self/topups?keyword=${number}`)).json.data).toMatchObject({ total: 0, items: [] })
  expect((await orderOf(String(number)))?.status).toBe('pending')
  expect((await other.call('GET /api/user/self')).json.data).toMatchObject({ quota: 0 })
})

it('a paid Stripe checkout is credited by its event, with amount, currency and user of the order', async () => {
  const { data, url } = await answer('POST /api/user/pay', { amount: 3, payment_method: 'stripe' })
  expect([data, String(url).startsWith(stripe.url)]).toEqual([{}, true])
  const before = await balance()
  const paid = await fetch(String(url), { redirect: 'manual' })
  expect(paid.headers.get('location')).toMatch(`${server.url}/topup?out_trade_no=USR1NO`)
  expect(await balance()).toBe(before + 1_500_000)
  const [session] = [...stripe.sessions.values()]
  expect(await stripe.send('checkout.session.completed', session)).toBe(200)
  expect(await stripe.send('checkout.session.completed', session, { secret: 'forged' })).toBe(400)
  expect(await stripe.send('checkout.session.completed', session, { atSeconds: 1_000_000_000 })).toBe(400)
  expect(await balance()).toBe(before + 1_500_000)
})

it('a refusal is in both message and data, where compatible consoles read it', async () => {
  const least = 'The amount must be a whole number and at least 1'
  const refused = { success: false, message: least, data: least, code: 'top_up_below_minimum' }
  expect(await answer('POST /api/user/amount', { amount: 0, top_up_code: '' })).toEqual(refused)
  expect(await answer('POST /api/user/pay', { amount: 0.5, payment_method: 'zfb' })).toEqual(refused)
  expect(await answer('POST /api/user/pay', { amount: 1, payment_method: 'cash' })).toMatchObject({
    code: 'payment_method_unknown',
  })
  expect(await answer('POST /api/user/pay', { amount: 1 })).toMatchObject({
    code: 'field_invalid',
    message: 'Field payment_method is invalid: must be one of zfb, wx, stripe',
  })
  expect(await answer('POST /api/user/amount', { amount: '1e3' })).toEqual(refused)
})

it('[T169] [T176] replies `success` only to a credited report, whatever the report or the failure', async () => {
  const { form } = await order(1)
  expect(await notify({})).toEqual(no)
  expect(await notify({}, 'POST')).toEqual(no)
  const forged = reportOf(form, 'wrong key', { name: 'canary-of-a-report' })
  expect(await notify(forged)).toEqual(no)
  expect(await notify(forged, 'POST')).toEqual(no)
  expect(lines.filter((line) => /canary-of-a-report/.test(line) || line.includes(String(forged.sign)))).toEqual([])

  await server.app.db.schema.alterTable('top_ups').renameTo('gone').execute()
  expect(await notify(reportOf(form, key))).toEqual(no)
  expect(await stripe.send('checkout.session.completed', [...stripe.sessions.values()][0])).toBeGreaterThanOrEqual(400)
  await server.app.db.schema.alterTable('gone').renameTo('top_ups').execute()
  expect(await notify(reportOf(form, key))).toEqual(yes)
  expect(await notify(reportOf(form, key), 'POST')).toEqual(yes)
})

it('[T169] rejects reports with a repeated field, in the form or beside it', async () => {
  const { form } = await order(1)
  const report = reportOf(form, key)
  const twice = new URLSearchParams(report)
  twice.append('money', '0.01')
  const posted = await fetch(`${server.url}/api/user/epay/notify`, { method: 'POST', body: twice })
  expect(await posted.text()).toBe('fail')
  const asked = await fetch(`${server.url}/api/user/epay/notify?${twice}`)
  expect(await asked.text()).toBe('fail')
})

it('[T180] a huge report is refused before it is read', async () => {
  for (const path of ['/api/user/epay/notify', '/api/stripe/webhook']) {
    const before = lines.length
    const status = await new Promise<number>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': String(100 * 1024 * 1024) }
      const call = request(server.url + path, { method: 'POST', headers }, (response) => {
        resolve(response.statusCode ?? 0)
        call.destroy()
      })
      call.once('error', reject)
      call.flushHeaders()
    })
    expect([path, status]).toEqual([path, 413])
    const told = lines.slice(before).filter((line) => line.includes(path))
    expect([path, told.length <= 1, told.join('').length < 1000]).toEqual([path, true, true])
  }
})

it('lets admins query the gateway about an order, and credits it only when the gateway reports it paid', async () => {
  gateway.reports = 'never'
  const { url, form, tradeNo } = await order()
  const { id = 0 } = (await orderOf(tradeNo)) ?? {}
  const before = await balance()
  expect(await answer(`POST /api/topup/${id}/check`, {})).toMatchObject({ code: 'payment_unconfirmed' })
  await fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })
  expect(await balance()).toBe(before)
  expect(await answer(`POST /api/topup/${id}/check`, {})).toMatchObject({
    success: true,
    data: { status: 'success', username: 'root' },
  })
  expect(await balance()).toBe(before + 6_000_000)
  expect(await answer(`POST /api/topup/${id}/complete`, { reason: 'again' })).toMatchObject({ code: 'top_up_credited' })
  expect(await answer(`POST /api/topup/${id}/complete`, { reason: ' ' })).toMatchObject({ code: 'field_invalid' })
  expect(await answer('POST /api/topup/999/check', {})).toMatchObject({ code: 'not_found' })
  gateway.reports = 'GET'
})

it('credits, queries and withdraws only for an admin with a recent authentication', async () => {
  const { app } = server
  const session = await app.sessions.create({ userId: 1, address: '127.0.0.1', userAgent: 'test' })
  const accessToken = await server.call<string>('GET /api/user/token')
  const hourAgo = Math.floor(Date.now() / 1000) - 3600
  const { tradeNo } = await order()
  const { items } = await server.call<{ items: AdminTopUp[] }>(`GET /api/topup/?keyword=${tradeNo}`)
  const [{ id } = { id: 0 }] = items
  const newest = app.db.selectFrom('sessions').select((eb) => eb.fn.max('id').as('id'))
  await app.db.updateTable('sessions').set({ authenticated_at: hourAgo }).where('id', '=', newest).execute()

  const callers: Record<string, string>[] = [
    { cookie: `session=${session}` },
    { cookie: '', authorization: `Bearer ${accessToken}` },
  ]
  for (const headers of callers) {
    for (const [act, body] of [
      ['check', {}],
      ['complete', { reason: 'x' }],
      ['withdraw', { quota: 1, reason: 'x' }],
    ] as const) {
      const response = await server.raw(`POST /api/topup/${id}/${act}`, body, headers)
      expect(await response.json()).toMatchObject({ success: false, code: 'fresh_login_required' })
    }
  }
  expect((await server.call<AdminTopUp>(`POST /api/topup/${id}/complete`, { reason: 'paid in cash' })).status).toBe('success')
})

it('[T167] guesses of redemption codes are limited, and all get the same answer', async () => {
  const answers = new Set<string>()
  for (let guess = 0; guess < 70; guess++) {
    const response = await server.raw('POST /api/user/topup', { key: String(guess).padStart(32, '0') })
    answers.add(`${response.status} ${((await response.json()) as { code: string }).code}`)
  }
  expect([...answers]).toEqual(['200 redemption_invalid', '429 too_many_requests'])
})

// Must be the last test: afterwards this machine is over the rate limit.
it('a gateway that calls too often is refused with 429', async () => {
  const requests = new ConsoleRateLimits(server.app.counters)
  const useUp = async (): Promise<void> => requests.count(['every'], '127.0.0.1').then(useUp, () => {})
  await useUp()
  expect(await notify(reportOf(unpaid, key))).toEqual([429, 'text/plain; charset=utf-8', 'fail'])
  expect(await notify(reportOf(unpaid, key), 'POST')).toEqual([429, 'text/plain; charset=utf-8', 'fail'])
  expect(await stripe.send('checkout.session.completed', {})).toBe(429)
})
