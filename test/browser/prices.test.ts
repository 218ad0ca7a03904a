import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectFit, go, openStage, readMessage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.stop())

const words = {
  zh: {
    compare: '查询价格差异',
    search: '搜索模型或厂商',
    accept: '采用所选价格',
    question: '采用 1 个模型的公开价格？',
    accepted: '已采用 1 个模型的价格',
    nothing: '没有符合条件的结果',
    ratio: '模型倍率',
    drafts: '上方的模型倍率有未保存的修改，请先保存或撤销。',
    row: '选择此行',
    searchPrice: '联网搜索价格',
  },
  en: {
    compare: 'Find differences',
    search: 'Search by model or vendor',
    accept: 'Charge the selected prices',
    question: 'Charge the public prices of 1 models?',
    accepted: 'Prices of 1 models accepted',
    nothing: 'Nothing matches',
    ratio: 'Model ratio',
    drafts: 'Ratios above were changed and not saved. Save or undo that first.',
    row: 'Select this row',
    searchPrice: 'Price of a web search',
  },
} as const

it.each([
  { language: 'zh', scheme: 'dark', width: 1440 },
  { language: 'en', scheme: 'light', width: 390 },
] as const)('in $language, $width wide, an admin accepts a public price, which is charged from then on', async (look) => {
  const { language, width } = look
  const say = words[language]
  const model = 'gpt-4o-mini'
  const ratios = async () => {
    const options = await stage.server.call<{ key: string; value: string }[]>('GET /api/option/')
    return JSON.parse(options.find(({ key }) => key === 'ModelRatio')?.value ?? '{}')
  }
  const before = await ratios()
  await stage.server.call('PUT /api/option/', { key: 'ModelRatio', value: JSON.stringify({ ...before, [model]: 50 }) })

  const { page, problems } = await stage.open('root', { ...look, height: 844 })
  await go(page, '/setting?tab=prices&view=options')
  await page.getByRole('button', { name: say.compare }).click()
  await page.getByRole('searchbox', { name: say.search }).fill(model)
  const row = page.getByRole(width === 390 ? 'listitem' : 'row').filter({ hasText: '$100' })
  await row.getByText('$0.15', { exact: true }).waitFor()
  await row.getByRole('checkbox', { name: say.row }).check()
  await expectFit(page, language)

  // What is typed above would undo what is accepted, so that comes first.
  const price = page.getByRole('textbox', { name: say.searchPrice })
  await price.fill('0.02')
  await page.getByText(say.drafts).waitFor()
  await price.fill('0.01')

  await page.getByRole('button', { name: say.accept }).click()
  const question = page.getByRole('dialog', { name: say.question })
  await expectFit(page, language)
  await question.getByRole('button', { name: say.accept }).click()
  await readMessage(page, language, say.accepted)
  expect((await ratios())[model]).toBe(0.075)
  await row.waitFor({ state: 'detached' })
  await page.getByRole('searchbox', { name: say.search }).fill('no such model')
  await page.getByText(say.nothing).waitFor()
  await expectFit(page, language)
  expect(problems).toEqual([])
})
