import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Budget } from '../../src/contract/entities/budget.ts'
import { addToken } from '../helpers/seed.ts'
import { expectFit, go, inBothLanguages, looks, openStage, readMessage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.stop())

const words = inBothLanguages({
  edit: ['编辑', 'Edit'],
  toggle: ['限制速率', 'Rate limit'],
  requests: ['每周期最多请求次数', 'Requests per period'],
  window: ['统计周期', 'Period'],
  hours: ['小时', 'hour'],
  unit: ['周期单位', 'Unit of the window'],
  preset: ['每天 1,000 次请求', '1,000 requests a day'],
  save: ['提交', 'Submit'],
  empty: ['请至少填写一项限制', 'Set at least one limit'],
  hostedTools: ['模型没有厂商工具时拒绝请求', 'Reject unsupported hosted tools'],
})

it.each(looks(['en', 'zh'] as const))(
  'in %s a token gets its own limits in the drawer, and loses them when they are switched off',
  async (language) => {
    const { id } = await addToken(stage.server, { name: `limited-${language}` })
    const { page, problems } = await stage.open('root', { language })
    const say = words[language]
    const open = async () => {
      await go(page, '/token')
      await page
        .getByRole('row', { name: `limited-${language}` })
        .getByRole('button', { name: say.edit })
        .click()
      return page.getByRole('switch', { name: say.toggle })
    }
    const saved = async () => {
      await page.getByRole('button', { name: say.save }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      return stage.server.call(`GET /api/token/${id}`)
    }

    const toggle = await open()
    await toggle.check({ force: true })
    await page.getByRole('button', { name: say.save }).click()
    await page.getByText(say.empty).waitFor()
    await expectFit(page, language)
    const requests = page.getByRole('textbox', { name: say.requests })
    await page.getByRole('button', { name: say.preset }).click()
    expect(await requests.inputValue()).toBe('1,000')
    await page.getByRole('textbox', { name: say.window, exact: true }).fill('1')
    await page.getByRole('combobox', { name: say.unit }).click()
    await page.getByRole('option', { name: say.hours }).click()
    await requests.fill('5')
    await page.getByRole('switch', { name: say.hostedTools }).check({ force: true })
    const limits = { limit_seconds: 3600, limit_requests: 5, limit_tokens: 0, limit_concurrency: 0 }
    expect(await saved()).toMatchObject({ ...limits, refuse_hosted_tools: true })

    await (await open()).uncheck({ force: true })
    expect(await saved()).toMatchObject({ limit_requests: 0, refuse_hosted_tools: true })
    expect(problems).toEqual([])
  },
)

const budgetWords = {
  zh: { more: '更多操作', budgets: '预算', add: '添加预算', amount: '金额', window: '周期', day: '每天', save: '提交' },
  en: {
    more: 'More actions',
    budgets: 'Budgets',
    add: 'Add budget',
    amount: 'Amount',
    window: 'Period',
    day: 'Per day',
    save: 'Submit',
  },
} as const

it.each(
  looks([
    ['zh', 'dark', 390],
    ['en', 'light', 1440],
  ] as const),
)('an owner sets a budget of their token, which an admin resets and overrides (%s, %s, %i)', async (language, scheme, width) => {
  const say = budgetWords[language]
  const name = `budgeted-${language}`
  const { page, problems } = await stage.open('user', { language, scheme, width })
  const { id } = await addTokenOf(page, name)
  await go(page, '/token')
  await page.getByRole('button', { name: `${say.more}: ${name}` }).click()
  await page.getByRole('menuitem', { name: say.budgets, exact: true }).click()
  await page.getByRole('button', { name: say.add }).click()
  await page.getByRole('textbox', { name: say.amount }).fill('2.5')
  await page.getByRole('combobox', { name: say.window }).click()
  await page.getByRole('option', { name: say.day, exact: true }).click()
  await expectFit(page, language, [name])
  // The form returns to the list, by its button too.
  await page.getByRole('button', { name: language === 'zh' ? '取消' : 'Cancel', exact: true }).click()
  await page.getByRole('button', { name: language === 'zh' ? '放弃修改' : 'Discard changes' }).click()
  await page.getByRole('button', { name: say.add }).click()
  await page.getByRole('textbox', { name: say.amount }).fill('2.5')
  await page.getByText('1,250,000').waitFor()
  await page.getByRole('combobox', { name: say.window }).click()
  await page.getByRole('option', { name: say.day, exact: true }).click()
  await page.getByRole('button', { name: say.save }).click()
  await page.getByText('$2.50', { exact: false }).first().waitFor()
  const [own] = await budgetsOf(id)
  expect(own).toMatchObject({ scope: 'token', period: 'day', amount: 1_250_000, is_hard: true, shares: [80], set_by: 'owner' })
  expect(problems).toEqual([])

  const root = await stage.open('root', { language, scheme, width })
  const window = stage.server.app.budgets.windowOf(
    await stage.server.app.db
      .selectFrom('budgets')
      .selectAll()
      .where('id', '=', own?.id ?? 0)
      .executeTakeFirstOrThrow(),
  )
  const sum = { budget_id: own?.id ?? 0, start: window.start, charged: 1_200_000 }
  await stage.server.app.db.insertInto('budget_sums').values(sum).execute()
  await go(root.page, '/budgets')
  await root.page.getByText(name).first().waitFor()
  await expectFit(root.page, language, [name])
  const act = async (zh: string, en: string) => {
    await root.page.getByRole('button', { name: `${say.more}: ${name}` }).click()
    await root.page.getByRole('menuitem', { name: language === 'zh' ? zh : en, exact: true }).click()
  }
  await act('临时金额', 'Temporary amount')
  await root.page.getByRole('textbox', { name: say.amount }).fill('7')
  await expectFit(root.page, language, [name])
  await root.page.getByRole('button', { name: language === 'zh' ? '保存' : 'Save', exact: true }).click()
  await root.page.getByRole('dialog').waitFor({ state: 'detached' })
  await act('清零', 'Reset')
  await root.page.getByRole('button', { name: language === 'zh' ? '清零' : 'Reset', exact: true }).click()
  await readMessage(root.page, language, language === 'zh' ? '已清零' : 'Budget reset')
  expect(await budgetsOf(id)).toMatchObject([{ spent: 0, override: { amount: 3_500_000 } }])

  await root.page.getByRole('button', { name: say.add }).click()
  await root.page.getByRole('combobox', { name: language === 'zh' ? '用户' : 'User', exact: true }).click()
  await root.page.getByRole('option', { name: /^user #/ }).waitFor()
  await root.page.getByRole('option', { name: /^user #/ }).click()
  await root.page.getByRole('button', { name: say.save }).click()
  await root.page.getByRole('dialog').waitFor({ state: 'detached' })
  const ofUsers = await stage.server.call<{ items: Budget[] }>('GET /api/budget/?scope=user')
  expect(ofUsers.items[0]).toMatchObject({ subject_name: 'user', period: 'month', amount: 5_000_000, set_by: 'admin' })
  expect(root.problems).toEqual([])
})

/** Adds a token of the user who is signed in on this page. */
async function addTokenOf(page: Page, name: string): Promise<{ id: number }> {
  await go(page, '/token')
  const users = stage.server.app.db.selectFrom('users').select('id').where('username', '=', 'user')
  const { id } = await users.executeTakeFirstOrThrow()
  return page.evaluate(
    async (given) => {
      const body = JSON.stringify({ name: given.name, unlimited_quota: true })
      const headers = { 'content-type': 'application/json', 'new-api-user': given.user }
      return (await (await fetch('/api/token/', { method: 'POST', headers, body })).json()).data
    },
    { name, user: String(id) },
  )
}

async function budgetsOf(tokenId: number): Promise<Budget[]> {
  return (await stage.server.call<{ items: Budget[] }>(`GET /api/budget/?scope=token&subject=${tokenId}`)).items
}
