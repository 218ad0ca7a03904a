import { afterAll, beforeAll, expect, it } from 'vitest'
import { pricePublisher, publishedPrices } from '../helpers/published-prices.ts'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { expectFit, go, inBothLanguages, looks, openStage, readMessage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.stop())

const words = inBothLanguages({
  compare: ['查询价格差异', 'Compare prices'],
  search: ['搜索模型或厂商', 'Search by model or vendor'],
  accept: ['采用所选价格', 'Use selected prices'],
  question: ['采用 1 个模型的公开价格？', 'Use public prices for 1 model?'],
  accepted: ['已采用 1 个模型的价格', 'Prices of 1 model applied'],
  nothing: ['没有符合条件的结果', 'No matches'],
  ratio: ['模型倍率', 'Model ratio'],
  drafts: [
    '上方的模型倍率有未保存的修改，请先保存或撤销。',
    'The model ratios above have unsaved changes. Save or undo them first.',
  ],
  row: ['选择此行', 'Select row'],
  searchPrice: ['联网搜索价格', 'Web search price'],
})

it.each(
  looks([
    { language: 'zh', scheme: 'dark', width: 1440 },
    { language: 'en', scheme: 'light', width: 390 },
  ] as const),
)('in $language, $width wide, an admin accepts a public price, which is charged from then on', async (look) => {
  const { language, width } = look
  const say = words[language]
  const model = 'gpt-4o-mini'
  const ratios = async () => {
    const options = await stage.server.call<{ key: string; value: string }[]>('GET /api/option/')
    return JSON.parse(options.find(({ key }) => key === 'ModelRatio')?.value ?? '{}')
  }
  const before = await ratios()
  await setOptions(stage.server, { ModelRatio: { ...before, [model]: 50 } })

  const { page, problems } = await stage.open('root', { ...look, height: 844 })
  await go(page, '/setting?tab=prices&view=options')
  await page.getByRole('button', { name: say.compare }).click()
  await page.getByRole('searchbox', { name: say.search }).fill(model)
  const row = page.getByRole(width === 390 ? 'listitem' : 'row').filter({ hasText: '$100' })
  await row.getByText('$0.15', { exact: true }).waitFor()
  await row.getByRole('checkbox', { name: say.row }).check()
  await expectFit(page, language)

  // Unsaved input above would undo the applied prices, so it is saved first.
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

const sources = inBothLanguages({
  source: [/OpenAI · 数据截至 20/, /OpenAI · data of 20/],
  above: ['提示超过 272k：$5.00', 'prompts over 272k: $5.00'],
  unset: [/未设置倍率模型 \(/, /Models without a price \(/],
  offer: [/Anthropic：输入/, /Anthropic: .* in/],
  take: [/采用 \d+ 个公开价格/, /Use \d+ public prices?/],
  taken: ['已采用 1 个模型的公开价格', 'Public prices applied to 1 model'],
  figure: ['输入: gpt-5.4', 'Input: gpt-5.4'],
  changed: ['1 个模型有未应用的修改', 'Models with unapplied changes: 1'],
  undo: ['撤销修改', 'Undo changes'],
})

it.each(
  looks([
    { language: 'en', scheme: 'dark', width: 390, other: 'claude-opus-4-8' },
    { language: 'zh', scheme: 'light', width: 1440, other: 'claude-opus-5' },
  ] as const),
)('in $language, $width wide, an admin sees the sources of prices and adopts the missing ones', async (look) => {
  const { language, width, other } = look
  const say = sources[language]
  const { server, upstream } = stage
  await addChannel(server, { url: upstream.url, models: 'gpt-5.4' })
  await addChannel(server, { url: upstream.url, models: other, type: 8 })
  const { page, problems } = await stage.open('root', { ...look, height: 844 })
  const rows = page.getByRole(width === 390 ? 'listitem' : 'row')

  await go(page, '/pricing?search=gpt-5.4')
  const listed = rows.filter({ hasText: 'gpt-5.4' }).first()
  // A card shows two figures, and the others on demand.
  if (width === 390) await listed.getByRole('button', { name: 'Show details' }).click()
  await listed.getByText(say.source).waitFor()
  await listed.getByText(say.above).waitFor()
  await expectFit(page, language)

  await go(page, '/setting?tab=prices&view=editor')
  await page.getByRole('searchbox').last().fill('gpt-5.4')
  await rows.filter({ hasText: 'gpt-5.4' }).first().getByText(say.source).waitFor()
  const figure = page.getByRole('textbox', { name: say.figure, exact: true })
  expect(await figure.getAttribute('placeholder')).toBe('2.5')
  await figure.fill('3')
  await page.getByText(say.changed).waitFor()
  await expectFit(page, language)
  await page.getByRole('button', { name: say.undo }).click()

  await page.getByText(say.unset).click()
  await rows.filter({ hasText: other }).first().getByText(say.offer).waitFor()
  await expectFit(page, language)
  await page.getByRole('button', { name: say.take }).click()
  await readMessage(page, language, say.taken)
  await rows.filter({ hasText: other }).first().waitFor({ state: 'detached' })
  expect(problems).toEqual([])
})

it.each(
  looks([
    { language: 'zh', scheme: 'dark', width: 1440, hours: /01:00–04:00, 06:00–10:00（UTC）/ },
    { language: 'en', scheme: 'light', width: 390, hours: /01:00–04:00, 06:00–10:00 UTC/ },
  ] as const),
)('in $language, $width wide, the price list has the prices of all hours', async (look) => {
  const { language, width, hours } = look
  const { server, upstream } = stage
  const model = 'deepseek-v4-pro'
  await addChannel(server, { url: upstream.url, models: model, type: 43 })
  const { page, problems } = await stage.open('root', { ...look, height: 844 })
  await go(page, `/pricing?search=${model}`)
  const listed = page.getByRole(width === 390 ? 'listitem' : 'row').filter({ hasText: model })
  await listed.getByText(hours).first().waitFor()
  await listed
    .getByText(/04:00–06:00, 10:00–01:00/)
    .first()
    .waitFor()
  await expectFit(page, language)
  expect(problems).toEqual([])
})

it('saving a channel with models without a price reports them, and uses the public prices with one click', async () => {
  const { server, upstream } = stage
  const { page, problems } = await stage.open('root', { language: 'en', scheme: 'light', width: 1440, height: 900 })
  await addChannel(server, { url: upstream.url, models: 'gpt-4o', type: 8, name: 'Own address' })
  await go(page, '/channel')
  await page.getByRole('row').filter({ hasText: 'Own address' }).getByRole('button', { name: 'Edit' }).click()
  const form = page.getByRole('dialog', { name: 'Edit channel' })
  await form.getByRole('textbox', { name: 'Custom model names, comma-separated' }).fill('claude-sonnet-5,nobody-knows-it')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await form.getByRole('button', { name: 'Submit' }).click()
  const question = page.getByRole('dialog', { name: '2 models have no price' })
  await question.getByText('claude-sonnet-5').waitFor()
  await expectFit(page, 'en')
  await question.getByRole('button', { name: 'Use public prices for 1' }).click()
  await readMessage(page, 'en', 'Public prices applied to 1 model')
  const options = await server.call<{ key: string; value: string }[]>('GET /api/option/')
  expect(JSON.parse(options.find(({ key }) => key === 'ModelRatio')?.value ?? '{}')).toHaveProperty('claude-sonnet-5')
  expect(problems).toEqual([])
})

const newer = {
  zh: {
    check: '立即检查',
    found: '发现更新的价格数据',
    suspect: '1 处变化可能有误，请先核对。',
    zero: '价格变为零',
    view: '显示范围',
    added: '新增的模型',
    all: '全部变化',
    row: '选择此行',
    apply: '采用所选',
    question: '采用 1 个模型的新价格？',
    applied: '已采用新的价格',
    applyAll: '全部采用',
    questionOfAll: /采用更新的价格数据（\d+ 处变化）？/,
    undo: '撤销',
    undone: '已撤销上次的价格变更',
    restore: '恢复自带数据',
    restored: '已恢复自带的价格数据',
    none: '无',
  },
  en: {
    check: 'Check now',
    found: 'Newer price data is available',
    suspect: 'Possible errors: 1. Review them first.',
    zero: 'Becomes zero',
    view: 'Show',
    added: 'Added models',
    all: 'All changes',
    row: 'Select row',
    apply: 'Apply selected',
    question: 'Apply the new prices of 1 model?',
    applied: 'New prices applied',
    applyAll: 'Apply all',
    questionOfAll: /Apply the newer price data \(\d+ changes\)\?/,
    undo: 'Undo',
    undone: 'The last price change was undone',
    restore: 'Restore',
    restored: 'Restored the price data included in this version',
    dismiss: 'Dismiss',
    dismissed: 'Price data dismissed',
    none: 'None',
  },
} as const

it.each(
  looks([
    { language: 'zh', scheme: 'light', width: 1440 },
    { language: 'en', scheme: 'dark', width: 390 },
  ] as const),
)('in $language, $width wide, newer prices are searched for, and applied one by one or all at once', async (look) => {
  const { language, width } = look
  const say = newer[language]
  const { server, upstream } = stage
  const changed = {
    'gpt-5.4-mini': { input_mtok: 0.5, output_mtok: 4.5, cache_read_mtok: 0.05 },
    'gpt-5.4-nano': { input_mtok: 0.2, output_mtok: 0 },
    'gpt-9': { input_mtok: { base: 2, tiers: [{ start: 200_000, price: 4 }] }, output_mtok: 12 },
  }
  const source = await pricePublisher(publishedPrices(changed))
  await setOptions(server, { PriceDataUrl: source.url })
  await addChannel(server, { url: upstream.url, models: 'gpt-5.4-mini' })
  const price = (model: string) => server.app.catalog.modelPriceOf(model)?.modelRatio

  const { page, problems } = await stage.open('root', { ...look, height: 844 })
  await go(page, '/setting?tab=prices&view=options')
  await page.getByRole('button', { name: say.check }).click()
  await readMessage(page, language, say.found)
  await page.getByText(say.suspect).waitFor()
  const rows = page.getByRole(width === 390 ? 'listitem' : 'row')
  await rows.filter({ hasText: say.zero }).getByText('gpt-5.4-nano').waitFor()
  await expectFit(page, language)
  expect(price('gpt-5.4-mini')).toBe(0.375)

  const choose = async (view: string) => {
    await page.getByRole('combobox', { name: say.view }).last().click()
    await page.getByRole('option', { name: view }).click()
  }
  await choose(say.added)
  await rows.filter({ hasText: 'gpt-9' }).first().waitFor()
  await choose(say.all)
  const row = rows.filter({ hasText: 'gpt-5.4-mini' }).filter({ hasText: 'OpenAI' }).first()
  await row.getByRole('checkbox', { name: say.row }).check()
  await page.getByRole('button', { name: say.apply, exact: true }).click()
  await expectFit(page, language)
  await page.getByRole('dialog', { name: say.question }).getByRole('button', { name: say.apply }).click()
  await readMessage(page, language, say.applied)
  expect(price('gpt-5.4-mini')).toBe(0.25)
  await rows.filter({ hasText: 'gpt-9' }).first().waitFor()

  await page.getByRole('button', { name: say.applyAll }).click()
  await page.getByRole('dialog', { name: say.questionOfAll }).getByRole('button', { name: say.applyAll }).click()
  await readMessage(page, language, say.applied)
  await page.getByText(say.none, { exact: true }).waitFor()

  await page.getByRole('button', { name: say.undo, exact: true }).click()
  await expectFit(page, language)
  await page.getByRole('dialog').getByRole('button', { name: say.undo }).click()
  await readMessage(page, language, say.undone)
  expect(price('gpt-5.4-mini')).toBe(0.25)
  expect(price('gpt-9')).toBeUndefined()
  expect(server.app.options.current.PriceDataApply).toBe('none')

  await page.getByRole('button', { name: say.restore }).click()
  await page.getByRole('dialog').getByRole('button', { name: say.restore }).click()
  await readMessage(page, language, say.restored)
  expect(price('gpt-5.4-mini')).toBe(0.375)
  expect(problems).toEqual([])
})

it('newer prices that are dismissed are no longer shown', async () => {
  const say = newer.en
  const source = await pricePublisher(publishedPrices({ 'gpt-5.4-mini': { input_mtok: 0.7, output_mtok: 4.5 } }))
  await setOptions(stage.server, { PriceDataUrl: source.url })
  await stage.server.call('POST /api/pricing/data/check')
  const { page, problems } = await stage.open('root', { language: 'en', scheme: 'light', width: 1440, height: 844 })
  await go(page, '/setting?tab=prices&view=options')
  await page.getByRole('button', { name: say.dismiss, exact: true }).click()
  await readMessage(page, 'en', say.dismissed)
  await page.getByText(say.none, { exact: true }).waitFor()
  expect(problems).toEqual([])
})
