import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Redemption } from '../../src/contract/entities/redemption.ts'
import type { User } from '../../src/contract/entities/user.ts'
import { startGateway } from '../helpers/payment-gateway.ts'
import { setOptions } from '../helpers/seed.ts'
import { expectFit, go, openStage, type Stage, stepMs, type Who } from './stage.ts'

let stage: Stage
let user: User
beforeAll(async () => {
  stage = await openStage()
  const { server } = stage
  const gateway = await startGateway('key')
  await setOptions(server, { ServerAddress: server.url, PayAddress: gateway.url, EpayId: '1001', EpayKey: 'key' })
  user = (await server.call<{ items: User[] }>('GET /api/user/search?keyword=user')).items[0] as User
  const limit = { scope: 'user', subject: String(user.id), period: 'day', amount: 500_000 }
  await server.call('POST /api/budget/', limit)
  const { db } = server.app
  await db.updateTable('users').set({ aff_quota: 5_000_000 }).where('id', '=', user.id).execute()
  const order = { user_id: user.id, provider: 'epay', method: 'zfb', currency: 'CNY', amount: 10, created_time: 1_700_000_000 }
  const paid = { trade_no: 'paid', quota: 5_000_000, money_minor: 7300, status: 'success', refunded_minor: 7300 }
  await db
    .insertInto('top_ups')
    .values({ ...order, ...paid })
    .execute()
  return gateway.close
})
afterAll(() => stage.stop())

/** A form with amounts: who opens it where, what is pressed until it is shown, and how many amounts it has. */
interface Form {
  readonly name: string
  readonly who: Who
  readonly path: string
  readonly open?: (page: Page) => Promise<void>
  readonly amounts: number
}

const more = (page: Page, row: string) => page.getByRole('button', { name: `More actions: ${row}` }).click()
const choose = (page: Page, name: string) => page.getByRole('menuitem', { name, exact: true }).click()
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click()

const forms: readonly Form[] = [
  { name: 'new codes', who: 'root', path: '/redemption', open: (page) => press(page, 'Create codes'), amounts: 1 },
  { name: 'a new token', who: 'user', path: '/token', open: (page) => press(page, 'Create token'), amounts: 1 },
  { name: 'a new user', who: 'root', path: '/user/add', amounts: 2 },
  {
    ...{ name: 'the balance of a user', who: 'root', path: '/user?keyword=user', amounts: 1 },
    async open(page) {
      await more(page, 'user')
      await choose(page, 'Adjust quota')
    },
  },
  { name: 'a new budget', who: 'root', path: '/budgets', open: (page) => press(page, 'Add budget'), amounts: 1 },
  {
    ...{ name: 'another amount of a budget', who: 'root', path: '/budgets', amounts: 1 },
    async open(page) {
      await more(page, 'user')
      await choose(page, 'Temporary amount')
    },
  },
  {
    name: 'the limits of a channel',
    who: 'root',
    path: '/channel/add',
    open: (page) => page.getByText('Limits and cost').click(),
    amounts: 1,
  },
  { name: 'the settings of quota', who: 'root', path: '/setting?tab=operation&section=quota', amounts: 4 },
  {
    name: 'a rule of alerts',
    who: 'root',
    path: '/alerts',
    open: (page) => press(page, 'Edit: Low balance of a user'),
    amounts: 1,
  },
  { name: 'the own low balance', who: 'user', path: '/setting', amounts: 1 },
  { name: 'the transfer of earnings', who: 'user', path: '/setting', open: (page) => press(page, 'Transfer'), amounts: 1 },
  { name: 'a top-up and a transfer', who: 'user', path: '/topup', amounts: 2 },
  {
    ...{ name: 'a withdrawal', who: 'root', path: '/order', amounts: 1 },
    async open(page) {
      await more(page, 'paid')
      await choose(page, 'Reclaim quota')
    },
  },
]

const amountsIn = (part: Page | Locator) => part.locator('[data-amount]')

it.each(forms)('$name: an amount is typed in dollars or in units, and read as written', { timeout: 5 * stepMs }, async (form) => {
  const { page, problems } = await stage.open(form.who, { language: 'en' })
  await go(page, form.path)
  await form.open?.(page)
  const dialog = page.getByRole('dialog')
  const isDialog = form.open !== undefined || form.path.endsWith('/add')
  if (isDialog) await dialog.waitFor()
  const amounts = amountsIn(isDialog ? dialog : page)
  await expect.poll(() => amounts.count()).toBe(form.amounts)
  for (const amount of await amounts.all()) {
    const input = amount.getByRole('textbox')
    const type = async (text: string) => {
      await input.fill(text)
      await input.blur()
      return input.inputValue()
    }
    expect(await type('$5')).toBe('5')
    await amount.getByText('= 2,500,000 units').waitFor()
    expect(await type('1k')).toBe('1,000')
    await amount.getByText('= 500,000,000 units').waitFor()
    expect(await type('500,000 units')).toBe('1')
    expect(await type('¥5')).toBe('¥5')
    await amount.getByText('Enter an amount, such as $5, 5k or 500,000 units').waitFor()
    await amount.getByRole('button', { name: 'Enter in units' }).click()
    expect(await type('$5')).toBe('2,500,000')
    await amount.getByText('= $5.00').waitFor()
    await amount.getByRole('button', { name: 'Enter in dollars' }).click()
    expect(await input.inputValue()).toBe('5')
  }
  await expectFit(page, 'en', ['user', 'root', 'paid'])
  expect(problems).toEqual([])
})

it('codes of $5 have 2,500,000 units each, and the unit of the field is remembered', async () => {
  const { page } = await stage.open('root', { language: 'zh' })
  await go(page, '/redemption')
  await press(page, '添加兑换码')
  const amount = amountsIn(page.getByRole('dialog'))
  await amount.getByRole('button', { name: '改为以额度输入' }).click()
  await amount.getByRole('textbox').fill('￥5')
  await press(page, '提交')
  await amount.getByText('请输入金额，如 $5、5k 或 500,000 额度').waitFor()
  await amount.getByRole('textbox').fill('＄５')
  await press(page, '提交')
  await page.getByText('下载文本文件').waitFor()
  const { items } = await stage.server.call<{ items: Redemption[] }>('GET /api/redemption/')
  expect(items).toMatchObject([{ quota: 2_500_000 }])

  await go(page, `/redemption/`)
  await press(page, '添加兑换码')
  await amount.getByRole('button', { name: '改为以美元输入' }).waitFor()
})
