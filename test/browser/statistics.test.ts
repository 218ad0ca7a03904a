import { afterAll, beforeAll, expect, it } from 'vitest'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { expectFit, go, inBothLanguages, looks, openStage, readMessage, type Stage, settled } from './stage.ts'

const hour = 3600
const models = ['gpt-4o', 'gpt-4.1', 'claude-3-5-sonnet-20241022', 'deepseek-chat', 'gpt-4o-mini', 'gemini-2.0-flash']
const data = [...models, 'Everybody', 'Faster', 'default', 'vip', 'root', 'user', 'admin', 'main']

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  const { server } = stage
  await addChannel(server, { url: 'http://127.0.0.1:9', models: 'gpt-4o,gpt-4o-mini,dall-e-3', group: 'default,vip' })
  await setOptions(server, { UserUsableGroups: '{"default":"Everybody","vip":"Faster"}', GroupRatio: '{"default":1,"vip":2}' })
  const now = Math.floor(Date.now() / 1000 / hour) * hour
  const sums = Array.from({ length: 120 }, (_, index) => ({
    created_at: now - (index % 48) * hour,
    user_id: 1 + (index % 2),
    username: 'root',
    model_name: models[index % models.length] ?? '',
    channel_id: index % 3,
    group: index % 2 ? 'vip' : 'default',
    token_used: 5000 + index,
    count: 3,
    quota: 40_000 + index * 100,
  }))
  const merged = new Map(
    sums.map((sum) => [[sum.created_at, sum.user_id, sum.model_name, sum.channel_id, sum.group].join(), sum]),
  )
  await server.app.db
    .insertInto('quota_data')
    .values([...merged.values()])
    .execute()
  const row = { user_id: 1, type: 2, username: 'root', token_name: 'main', model_name: 'gpt-4o', group: 'default', quota: 4000 }
  const old = { ...row, created_at: now - 100 * 86_400, content: '' }
  await server.app.db
    .insertInto('logs')
    .values([{ ...row, created_at: now, content: '' }, old, old])
    .execute()
})
afterAll(() => stage.stop())

const words = inBothLanguages({
  table: ['以表格查看', 'View as table'],
  byUser: ['按用户', 'User'],
  tokens: ['Tokens', 'Tokens'],
  group: ['分组', 'Group'],
  export: ['导出', 'Export'],
  exportTitle: ['导出日志', 'Export logs'],
  purge: ['清理日志', 'Clean up logs'],
  title: ['清理历史日志', 'Clean up logs'],
  sure: ['删除历史日志？', 'Delete old logs?'],
  done: ['已清理 2 条日志！', '2 logs deleted'],
  example: ['费用示例: gpt-4o', 'Example cost: gpt-4o'],
  rule: [/^按量计费费用 = 分组倍率 × 模型倍率 × .*÷ 500,000/, /^Per-token cost = group ratio × model ratio × .*÷ 500,000/],
})

it.each(
  looks([
    { language: 'zh', scheme: 'light', width: 1440 },
    { language: 'en', scheme: 'dark', width: 390 },
  ] as const),
)('the dashboard shows charts and their tables, in $language, $scheme, $width wide', async (look) => {
  const say = words[look.language]
  const { page, problems } = await stage.open('root', { ...look, height: 900 })
  await go(page, '/detail')
  await page
    .getByRole('img', { name: /^(消耗分布|Usage over time)/ })
    .locator('path')
    .first()
    .waitFor()
  await page.getByText(say.byUser, { exact: true }).click()
  await page.getByText(say.tokens, { exact: true }).first().click()
  await page.waitForURL(/by=user/)
  await page.getByText(say.table).click()
  await page.getByRole('table').nth(1).waitFor()
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/detail-${look.width}.png`, fullPage: true })
  await expectFit(page, look.language, data)
  expect(problems).toEqual([])
})

it('the dashboard draws a long period with few elements, by the granularity that it shows, and one series alone', async () => {
  const { page, problems } = await stage.open('root', { language: 'en', width: 1440, height: 900 })
  const month = Math.floor(Date.now() / 1000) - 30 * 86_400
  await go(page, `/detail?from=${month}&grain=hour`)
  const chart = page.getByRole('img', { name: /^Usage over time/ })
  await chart.locator('path').first().waitFor()
  expect(await chart.locator('*').count()).toBeLessThan(120)
  expect(await page.getByRole('combobox', { name: 'Granularity' }).inputValue()).toBe('Day')

  const entry = page.getByRole('button', { pressed: false }).filter({ hasText: 'gpt-4o' }).first()
  await entry.click()
  await page.getByRole('button', { pressed: true }).waitFor()
  await chart.hover({ position: { x: 1000, y: 100 } })
  expect(problems).toEqual([])
})

it.each(
  looks([
    { language: 'zh', scheme: 'light', width: 390 },
    { language: 'en', scheme: 'dark', width: 1440 },
  ] as const),
)('a visitor reads prices and switches the group, in $language, $scheme, $width wide', async (look) => {
  const { page, problems } = await stage.open('nobody', { ...look, height: 900 })
  await go(page, '/pricing')
  await page.getByText('$2.50', { exact: true }).waitFor()
  const isPhone = look.width === 390
  // On a phone the filters are in a sheet, and the rows are cards with two figures.
  if (isPhone) {
    const card = page.getByRole('listitem').filter({ hasText: 'gpt-4o' }).first()
    expect(await card.locator('dt').count()).toBe(2)
    await page.getByRole('button', { name: '筛选' }).click()
    await expectFit(page, look.language, data)
  }
  await page.getByRole('combobox', { name: words[look.language].group, exact: true }).click()
  await page.getByRole('option', { name: /vip/ }).click()
  if (isPhone) await page.getByRole('button', { name: '查看列表' }).click()
  await page.getByText('$5.00', { exact: true }).waitFor()
  await page.waitForURL(/group=vip/)
  await page.getByRole('button', { name: words[look.language].example, exact: true }).click()
  await page.getByText(words[look.language].rule).waitFor()
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/pricing-${look.width}.png`, fullPage: true })
  await expectFit(page, look.language, data)
  expect(problems).toEqual([])
})

it('an admin exports matching rows and purges old ones', async () => {
  const look = { language: 'zh', scheme: 'dark', width: 1440 } as const
  const say = words.zh
  const { page, problems } = await stage.open('root', { ...look, height: 900 })
  await go(page, '/log')
  await page.getByRole('button', { name: say.export, exact: true }).click()
  const files = page.getByRole('dialog', { name: say.exportTitle })
  const downloading = page.waitForEvent('download')
  await files.getByRole('button', { name: say.export, exact: true }).click()
  expect((await downloading).suggestedFilename()).toBe('log.csv')
  await page.keyboard.press('Escape')
  await files.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: say.purge, exact: true }).click()
  const dialog = page.getByRole('dialog', { name: say.title })
  await dialog.getByRole('button', { name: say.purge, exact: true }).waitFor()
  await settled(page)
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/purge.png` })
  await expectFit(page, look.language, data)
  await dialog.getByRole('button', { name: say.purge, exact: true }).click()
  await page.getByRole('dialog', { name: say.sure }).getByRole('button', { name: say.purge, exact: true }).click()
  await readMessage(page, look.language, say.done)
  expect(await stage.server.app.db.selectFrom('logs').select('id').where('type', '=', 2).execute()).toHaveLength(1)
  expect(problems).toEqual([])
})
