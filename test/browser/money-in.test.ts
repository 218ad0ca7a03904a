import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AdminTopUp } from '../../src/contract/entities/top-up.ts'
import { type Gateway, startGateway } from '../helpers/payment-gateway.ts'
import { setOptions } from '../helpers/seed.ts'
import { expectFit, go, openStage, readMessage, type Stage } from './stage.ts'

const key = 'merchant-key'
let stage: Stage
let gateway: Gateway

beforeAll(async () => {
  ;[stage, gateway] = await Promise.all([openStage(), startGateway(key)])
  const { server } = stage
  const options = {
    ServerAddress: server.url,
    PayAddress: gateway.url,
    EpayId: '1001',
    EpayKey: key,
    TopUpDiscounts: '{"20":0.9}',
  }
  await setOptions(server, options)
})
afterAll(async () => {
  await stage.stop()
  await gateway.close()
})

const words = {
  zh: {
    add: '添加兑换码',
    name: '名称',
    count: '生成数量',
    submit: '提交',
    download: '下载文本文件',
    done: '完成',
    code: '兑换码',
    redeem: '兑换',
    redeemed: '成功兑换额度：$0.20',
    ok: '好的',
    empty: '请输入兑换码！',
    least: '充值数量须为整数且不小于 1',
    used: '该兑换码已被使用',
    amount: '充值数量',
    wechat: '微信',
    toPay: '实付金额¥131.40',
    pay: '去支付',
    confirm: '确认充值',
    credited: '充值成功，$20.00 已到账。',
    balance: '当前余额$20.20',
    statement: '账单',
    paid: '支付 131.40 CNY',
    change: '变动',
    file: '导出 CSV',
  },
  en: {
    check: 'Check with provider',
    checked: 'Confirmed by the provider. The quota is credited.',
    unconfirmed: 'The payment provider does not confirm that this order was paid',
  },
} as const

const button = (page: Page, name: string) => page.getByRole('main').getByRole('button', { name, exact: true })
/** Texts that are not translated: names, codes and abbreviations. */
const data = ['root', 'user', 'CNY', 'CSV', 'ID', 'UTC', 'Asia', 'Shanghai', 'spring', '$0.20', 'USR', 'Stripe']

const language = 'zh'

/** Creates two codes in the form, and reads them from the downloaded file. */
async function makeCodes(): Promise<string[]> {
  const { page, problems } = await stage.open('root', { language })
  const say = words.zh
  await go(page, '/redemption')
  await button(page, say.add).first().click()
  await page.getByRole('textbox', { name: say.name }).fill('spring')
  await page.getByRole('textbox', { name: say.count }).fill('2')
  await page.getByRole('button', { name: say.submit }).click()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: say.download }).click()])
  expect(file.suggestedFilename()).toBe('spring.txt')
  const text = Buffer.concat(await (await file.createReadStream()).toArray()).toString()
  await page.getByRole('button', { name: say.done }).click()
  await page.getByRole('row', { name: 'spring' }).first().waitFor()
  await expectFit(page, language, data)
  expect(problems).toEqual([])
  return text.trim().split('\n')
}

it('an admin creates codes as a file, and a user redeems one, tops up and sees the records', async () => {
  const [code = '', second] = await makeCodes()
  expect([code, second]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/)])
  const { page, problems } = await stage.open('user', { language })
  const say = words.zh
  await go(page, '/topup')
  await button(page, say.redeem).click()
  await readMessage(page, language, say.empty)
  await page.getByRole('textbox', { name: say.code }).fill(code)
  await button(page, say.redeem).click()
  await page.getByText(say.redeemed).waitFor()
  await page.getByRole('button', { name: say.ok }).click()
  await page.getByRole('textbox', { name: say.code }).fill(code)
  await button(page, say.redeem).click()
  await readMessage(page, language, say.used)

  const amount = page.getByRole('textbox', { name: say.amount })
  await amount.fill('0')
  await page.getByText(say.least).waitFor()
  await amount.fill('20')
  await page.getByRole('radio', { name: say.wechat }).click()
  await page.getByText(say.toPay).waitFor()
  await expectFit(page, language, data)
  await button(page, say.pay).click()
  const paying = page.context().waitForEvent('page')
  await page.getByRole('dialog').getByRole('button', { name: say.confirm }).click()

  // The payment page redirects to the wallet, which shows the same.
  const returned = await paying
  await returned.waitForURL(/\/topup\?order=USR/)
  await returned.getByText(say.credited).waitFor()
  await page.getByRole('dialog').getByText(say.credited).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: say.ok }).click()
  await page.getByText(say.balance).waitFor()

  await page.getByRole('tab', { name: say.statement }).click()
  await page.getByText(say.paid).first().waitFor()
  const byChange = page.getByRole('columnheader', { name: say.change })
  for (const order of ['descending', 'ascending']) {
    await byChange.getByRole('button').click()
    await expect.poll(() => byChange.getAttribute('aria-sort')).toBe(order)
  }
  await expectFit(page, language, data)
  const [file] = await Promise.all([page.waitForEvent('download'), button(page, say.file).click()])
  const lines = Buffer.concat(await (await file.createReadStream()).toArray())
    .toString()
    .trim()
    .split('\r\n')
  expect(lines.slice(1).map((line) => line.split(',').slice(2, 5))).toEqual([
    ['redeem', '100000', ''],
    ['top_up', '10000000', ''],
  ])
  // A row of the log has the quota of its call; the amount of a credit is a field of its own.
  await go(page, '/log')
  await page.getByRole('row').filter({ hasText: '+$0.20' }).first().waitFor()
  expect(problems).toEqual([])
})

it('an order without a report is credited when an admin checks it with the provider', async () => {
  gateway.reports = 'never'
  const { page } = await stage.open('root', { language: 'en' })
  const say = words.en
  const order = await (await stage.server.raw('POST /api/user/pay', { amount: 7, payment_method: 'zfb' })).json()
  const { url, data: form, trade_no } = order as { url: string; data: Record<string, string>; trade_no: string }
  await go(page, `/order?keyword=${trade_no}`)
  const check = page.getByRole('row', { name: trade_no }).getByRole('button', { name: say.check })
  await check.click()
  await readMessage(page, 'en', say.unconfirmed)
  await fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })
  await check.click()
  await readMessage(page, 'en', say.checked)
  await expectFit(page, 'en', data)
  const { items } = await stage.server.call<{ items: AdminTopUp[] }>(`GET /api/topup/?keyword=${trade_no}`)
  expect(items).toMatchObject([{ status: 'success' }])
  for (const path of ['/topup', '/topup?tab=statement', '/topup?tab=orders']) {
    await go(page, path)
    await expectFit(page, 'en', data)
  }
})
