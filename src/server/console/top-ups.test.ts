import { expect, it } from 'vitest'
import { serverOfTest, type TestServer } from '../../../test/helpers/app.ts'
import { reportOf, startGateway } from '../../../test/helpers/payment-gateway.ts'
import { requireBalancedBooks } from '../../../test/helpers/seed.ts'

const key = 'merchant-key'

async function shop() {
  const server = await serverOfTest('sqlite')
  const gateway = await startGateway(key)
  const options = { ServerAddress: server.url, PayAddress: gateway.url, EpayId: '1001', EpayKey: key }
  for (const [name, value] of Object.entries(options)) await server.call('PUT /api/option/', { key: name, value })
  return { server, gateway }
}

const answer = async (server: TestServer, line: string, body: unknown) =>
  (await (await server.raw(line, body, { 'accept-language': 'en' })).json()) as Record<string, unknown>
const balance = async (server: TestServer) => (await server.call<{ quota: number }>('GET /api/user/self')).quota

it('a form that a browser posts to the gateway is credited by its report, and coming back credits nothing', async () => {
  const { server, gateway } = await shop()
  expect(await answer(server, 'POST /api/user/amount', { amount: 12, top_up_code: '' })).toEqual({
    success: true,
    message: 'success',
    data: '87.60',
  })
  const order = await answer(server, 'POST /api/user/pay', { amount: 12, top_up_code: '', payment_method: 'wx' })
  expect(order).toMatchObject({ success: true, message: 'success', url: `${gateway.url}/submit.php`, data: { type: 'wxpay' } })
  // The contract says that a successful answer holds the fields of the form.
  const form = order.data as Record<string, string>
  const before = await balance(server)
  await server.raw(`GET /topup?${new URLSearchParams(form)}`)
  expect(await balance(server)).toBe(before)

  const paid = await fetch(String(order.url), { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })
  expect([paid.status, paid.headers.get('location')]).toEqual([302, `${server.url}/topup`])

  expect(gateway.answers).toEqual(['success'])
  expect(await balance(server)).toBe(before + 6_000_000)
  const page = { total: 1, page: 1, items: [{ status: 'success', trade_no: form.out_trade_no }] }
  expect(await server.call('GET /api/user/self/topups?p=0')).toMatchObject(page)
  expect(await server.call(`GET /api/topup/?keyword=${form.out_trade_no}`)).toMatchObject(page)
  expect(await server.call('GET /api/topup/?keyword=none')).toMatchObject({ total: 0 })
  await requireBalancedBooks(server)
})

it('a refusal stands in message and in data, because consoles of this family read it there', async () => {
  const { server } = await shop()
  const least = 'The amount must be a whole number and at least 1'
  const refused = { success: false, message: least, data: least, code: 'top_up_below_minimum' }
  expect(await answer(server, 'POST /api/user/amount', { amount: 0, top_up_code: '' })).toEqual(refused)
  expect(await answer(server, 'POST /api/user/pay', { amount: 0.5, payment_method: 'zfb' })).toEqual(refused)
  expect(await answer(server, 'POST /api/user/pay', { amount: 1, payment_method: 'cash' })).toMatchObject({
    code: 'payment_method_unknown',
  })
  expect(await answer(server, 'POST /api/user/amount', { amount: '1e3' })).toMatchObject({ code: 'field_invalid' })
})

it('an answer that is no yes does not contain the word, whatever is reported and whatever fails', async () => {
  const { server } = await shop()
  const { data } = await answer(server, 'POST /api/user/pay', { amount: 1, payment_method: 'zfb' })
  // The contract says that a successful answer holds the fields of the form.
  const form = data as Record<string, string>
  const report = async (fields: Record<string, string>) => {
    const response = await fetch(`${server.url}/api/user/epay/notify?${new URLSearchParams(fields)}`)
    return [response.status, response.headers.get('content-type'), await response.text()]
  }
  const no = [200, 'text/plain; charset=utf-8', 'fail']
  expect(await report({})).toEqual(no)
  expect(await report(reportOf(form, 'wrong key'))).toEqual(no)

  await server.app.db.schema.alterTable('top_ups').renameTo('gone').execute()
  expect(await report(reportOf(form, key))).toEqual(no)
  await server.app.db.schema.alterTable('gone').renameTo('top_ups').execute()
  expect(await report(reportOf(form, key))).toEqual([200, 'text/plain; charset=utf-8', 'success'])
})
