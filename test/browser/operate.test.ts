import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { addChannel, addToken, setOptions } from '../helpers/seed.ts'
import { ask, completion } from '../relay/stage.ts'
import { expectFit, go, inBothLanguages, looks, openStage, readMessage, type Stage } from './stage.ts'

/** Operators' settings and the first run. */
let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.stop())

async function optionOf(key: string): Promise<Record<string, number>> {
  const options = await stage.server.call<{ key: string; value: string }[]>('GET /api/option/')
  return JSON.parse(options.find((option) => option.key === key)?.value ?? '{}')
}

it('the guide of a new site leads to a channel, a token and a first answer', async () => {
  const { page, problems } = await stage.open('root', { language: 'en' })
  // After a login the token page is shown, which has the reminder of the first steps too.
  await go(page, '/token')
  const reminder = page.getByRole('status').filter({ hasText: 'Getting started: step 1 of 3' })
  await expectFit(page, 'en')
  await reminder.getByRole('link', { name: 'Add channel' }).click()
  await page.getByRole('dialog', { name: 'Create channel' }).waitFor()
  await go(page, '/')
  const guide = page.getByRole('region', { name: 'Getting started' })
  await guide.getByText('Add a channel first.').waitFor()
  await expectFit(page, 'en')
  // The guide opens the migration guide of the documentation, for an admin who comes from another program.
  await guide.getByText('Moving from new-api or one-api?').click()
  await guide.getByRole('button', { name: 'Show all steps' }).click()
  const steps = page.getByRole('dialog', { name: 'Moving from new-api or one-api?' })
  await steps.getByRole('heading', { name: 'Step by step' }).waitFor()
  await expectFit(page, 'en')
  await page.keyboard.press('Escape')
  await steps.waitFor({ state: 'detached' })

  const { url } = stage.upstream
  await stage.server.call('POST /api/channel/', {
    type: 1,
    name: 'First',
    key: 'sk-first',
    base_url: url,
    models: 'gpt-4o-mini,babbage-002,unpriced-one,unpriced-two',
  })
  await stage.server.call('POST /api/token/', { name: 'first', unlimited_quota: true })
  await page.reload()
  // The first model of the channel, which its test would use; the first by name does not support chat.
  const model = guide.getByRole('combobox', { name: 'Select a model' }).or(guide.getByRole('textbox', { name: 'Select a model' }))
  await expect.poll(() => model.first().inputValue()).toBe('gpt-4o-mini')
  await guide.getByRole('button', { name: 'Send' }).click()
  await guide.locator('blockquote').waitFor()
  expect((await guide.locator('blockquote').textContent())?.trim()).not.toBe('')
  await guide.getByText('Setup complete. Your gateway is ready.').waitFor()
  await expectFit(page, 'en')
  expect(problems).toEqual([])

  // A site that is in use needs no guide.
  await page.reload()
  await page.getByRole('link', { name: 'Open console' }).waitFor()
  expect(await guide.count()).toBe(0)
})

it('a notice is shown once, and again when it has changed', async () => {
  await setOptions(stage.server, { Notice: '# 维护\n\n今晚 **22:00** 停机。' })
  const { page, problems } = await stage.open('nobody', { language: 'zh', width: 390, height: 844 })
  await go(page, '/')
  const dialog = page.getByRole('dialog', { name: '公告' })
  await dialog.getByText('22:00').waitFor()
  await expectFit(page, 'zh')
  await dialog.getByRole('button', { name: '知道了' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('region', { name: '公告' }).waitFor()
  expect(await dialog.count()).toBe(0)
  await setOptions(stage.server, { Notice: '另一条' })
  await page.reload()
  await dialog.getByText('另一条').waitFor()
  // An address stays a link: an external page is not embedded for visitors.
  await setOptions(stage.server, { Notice: 'https://elsewhere.test/news' })
  await page.reload()
  await dialog.getByRole('link', { name: 'https://elsewhere.test/news' }).waitFor()
  await setOptions(stage.server, { Notice: '' })
  expect(problems).toEqual([])
})

describe("operators' page contents", () => {
  const write = async (value: string) => {
    await stage.server.call('PUT /api/option/', { key: 'About', value })
    expect(await stage.server.call('GET /api/about')).toBe(value)
  }

  it('is Markdown that may contain HTML, stored unchanged', async () => {
    await write(`
# Welcome

<p align="center"><img src="/logo.png" alt="The logo"></p>

> A quote & more, by <https://elsewhere.test/auto> and [ours](#prices) or [theirs](https://elsewhere.test/x "There")

<details open><summary>More</summary>

Some *words* in <b>HTML</b>

</details>

- [x] done
- [ ] not done

| model | input |
|---|--:|
| ${'wide'.repeat(60)} | $2.5 |

\`\`\`html
<b>&amp; "code"</b>
\`\`\`
`)
    const { page, problems } = await stage.open('nobody', { language: 'en', width: 390, height: 844 })
    await go(page, '/about')
    const main = page.getByRole('main')
    await main.getByRole('heading', { name: 'Welcome', level: 1 }).waitFor()
    await main.getByRole('img', { name: 'The logo' }).waitFor()
    await main.locator('details em', { hasText: 'words' }).waitFor()
    expect(await main.locator('details b').textContent()).toBe('HTML')
    expect(await main.locator('blockquote').textContent()).toContain('A quote & more')
    expect(await main.locator('pre').textContent()).toBe('<b>&amp; "code"</b>\n')
    expect(await main.getByRole('listitem').allTextContents()).toEqual(['☑ done', '☐ not done'])
    const links = await main
      .locator('blockquote a')
      .evaluateAll((all) => all.map((a) => ['href', 'target', 'rel'].map((name) => a.getAttribute(name))))
    const apart = ['_blank', 'noopener noreferrer']
    expect(links).toEqual([
      ['https://elsewhere.test/auto', ...apart],
      ['#prices', null, null],
      ['https://elsewhere.test/x', ...apart],
    ])
    expect(
      await main
        .locator('td')
        .last()
        .evaluate((cell) => getComputedStyle(cell).textAlign),
    ).toMatch(/right$/)
    // Content wider than the page can be scrolled by keyboard.
    for (const wide of [main.locator('div:has(> table)'), main.locator('pre')]) {
      await wide.focus()
      expect(await wide.evaluate((element) => element === document.activeElement)).toBe(true)
    }
    await expectFit(page, 'en')
    expect(problems).toEqual([])
  })

  it('is HTML from its first tag to its last, and no part of it becomes code', async () => {
    await write('<!-- ours -->\n<div>\n\n    <p>Set in *deeply*</p>\n\n    <h2># one</h2>\n</div>')
    const { page, problems } = await stage.open('nobody', { language: 'en' })
    await go(page, '/about')
    await page.getByText('Set in *deeply*').waitFor()
    await page.getByRole('heading', { name: '# one' }).waitFor()
    expect(await page.getByRole('main').locator('pre, code, em').count()).toBe(0)
    await write('')
    expect(problems).toEqual([])
  })
})

it('prices are edited in dollars, filled in for several models, and charged once they are applied', async () => {
  const { page, problems } = await stage.open('root', { language: 'en' })
  await go(page, '/setting?tab=prices')
  await page.getByRole('searchbox', { name: 'Search model names' }).fill('gpt-4o-mini')
  const input = page.getByRole('textbox', { name: 'Input: gpt-4o-mini', exact: true })
  await input.fill('0.60')
  await page.getByRole('textbox', { name: 'Output: gpt-4o-mini', exact: true }).fill('2.4')
  expect((await optionOf('ModelRatio'))['gpt-4o-mini']).not.toBe(0.3)
  await page.getByText('Models with unapplied changes: 1').waitFor()
  await expectFit(page, 'en')
  await page.getByRole('button', { name: 'Apply changes' }).click()
  await readMessage(page, 'en', 'Saved')
  expect([(await optionOf('ModelRatio'))['gpt-4o-mini'], (await optionOf('CompletionRatio'))['gpt-4o-mini']]).toEqual([0.3, 4])

  await page.getByRole('button', { name: 'Apply changes' }).click()
  await readMessage(page, 'en', 'You seem to have changed nothing')
  await input.fill('x')
  await page.getByText('Please enter a number').waitFor()
  await page.getByRole('button', { name: 'Undo changes' }).click()

  await page.getByText('Models without a price (2)').click()
  for (const name of ['unpriced-one', 'unpriced-two'])
    await page.getByRole('row').filter({ hasText: name }).getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Bulk edit (2)' }).click()
  const dialog = page.getByRole('dialog', { name: 'Bulk edit 2 models' })
  await dialog.getByRole('radio', { name: 'Model and completion ratios' }).check()
  await dialog.getByRole('textbox', { name: 'Model ratio' }).fill('2')
  await dialog.getByRole('button', { name: 'Set values' }).click()
  await readMessage(page, 'en', 'Enter the model and completion ratios')
  await dialog.getByRole('radio', { name: 'USD prices: input, output, caches' }).check()
  await dialog.getByRole('textbox', { name: 'Output' }).fill('12')
  await dialog.getByRole('button', { name: 'Set values' }).click()
  await readMessage(page, 'en', 'Set an input price for these models first: unpriced-one, unpriced-two')
  await dialog.getByRole('textbox', { name: 'Input' }).fill('4')
  await dialog.getByRole('textbox', { name: 'Cache read' }).fill('0.40')
  await dialog.getByRole('region', { name: 'Preview' }).getByText('$12.00').last().waitFor()
  await expectFit(page, 'en')
  await dialog.getByRole('button', { name: 'Set values' }).click()
  await page.getByRole('button', { name: 'Apply changes' }).click()
  await page.getByText('No models without a price').waitFor()
  const [ratios, completions, caches] = [
    await optionOf('ModelRatio'),
    await optionOf('CompletionRatio'),
    await optionOf('CacheRatio'),
  ]
  for (const name of ['unpriced-one', 'unpriced-two'])
    expect([ratios[name], completions[name], caches[name]], name).toEqual([2, 3, 0.1])
  expect(problems).toEqual([])
})

it('jobs are started, the audit log is searched and verified', async () => {
  const { page, problems } = await stage.open('root', { language: 'zh', scheme: 'dark' })
  await go(page, '/setting?tab=runtime')
  await page.getByRole('button', { name: '立即执行: 核对余额与账本' }).click()
  await readMessage(page, 'zh', '任务已开始')
  await page.getByRole('row').filter({ hasText: 'reconcile-ledger' }).getByText('成功').waitFor()

  await go(page, '/setting?tab=audit&target=option:ModelRatio')
  await page.getByRole('row').filter({ hasText: '修改了设置“' }).first().waitFor()
  await page.getByRole('button', { name: '校验完整性' }).click()
  await page.getByText(/完整：共 \d+ 行/).waitFor()
  await expectFit(page, 'zh')
  expect(problems).toEqual([])
})

it('site costs are summed, and link to their requests in the log', async () => {
  const { server, upstream } = stage
  const { key } = await addToken(server)
  await addChannel(server, { url: upstream.url, models: 'gpt-4o', name: 'Boasting' })
  upstream.program('gpt-4o', { body: completion({ usage: { prompt_tokens: 11, completion_tokens: 30_000 } }) })
  const asked = { model: 'gpt-4o', max_tokens: 50, messages: [{ role: 'user', content: 'one two three' }] }
  expect((await ask(server, key, asked)).status).toBe(200)

  const { page, problems } = await stage.open('root', { language: 'en', scheme: 'dark' })
  await go(page, '/setting?tab=runtime')
  await page.getByRole('row').filter({ hasText: 'Boasting' }).getByText('Implausible usage').waitFor()
  await expectFit(page, 'en')
  await go(page, '/log?site_cost=usage_implausible')
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'implausible usage' }).count()).toBe(1)
  await page
    .getByRole('button', { name: /[Dd]etails/ })
    .first()
    .click()
  await page.getByText('Reported by the upstream: 11 input tokens (0 cached), 30,000 output tokens.').waitFor()
  await page.getByText('Billed by the upstream but not charged to the user').waitFor()
  await expectFit(page, 'en')
  expect(problems).toEqual([])
})

it('a setting found by the palette is scrolled to and highlighted, in any tab', async () => {
  const { page, problems } = await stage.open('root', { language: 'en' })
  await go(page, '/setting')
  for (const { typed, label, tab } of [
    { typed: 'SMTPPort', label: 'SMTP port', tab: 'system' },
    { typed: 'CreateCacheRatio', label: 'Cache write ratio', tab: 'prices' },
  ]) {
    await page.keyboard.press('ControlOrMeta+k')
    const palette = page.getByRole('dialog', { name: 'Command palette' })
    await palette.locator('input:focus').waitFor()
    await page.keyboard.type(typed)
    await palette.locator('[data-selected]', { hasText: label }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/setting?tab=${tab}*`)
    const marked = page.locator('[data-pointed-at]')
    await expect.poll(() => marked.getAttribute('data-field')).toBe(typed)
    await expect
      .poll(() =>
        marked.evaluate((field) => field.getBoundingClientRect().bottom <= innerHeight && field.getBoundingClientRect().top >= 0),
      )
      .toBe(true)
  }
  expect(problems).toEqual([])
})

it('Enter in the palette waits for the rows that are being looked up', async () => {
  const name = 'waited-for'
  const id = await addChannel(stage.server, { url: stage.upstream.url, models: 'babbage-002', name })
  const { page, problems } = await stage.open('root', { language: 'en' })
  await go(page, '/token')
  const { promise: isAllowed, resolve: answer } = Promise.withResolvers<void>()
  const isAsked = new Promise<void>((asked) => {
    void page.route(/\/api\/channel\/search/, async (route) => {
      asked()
      await isAllowed
      await route.continue()
    })
  })
  await page.keyboard.press('ControlOrMeta+k')
  const palette = page.getByRole('dialog', { name: 'Command palette' })
  await palette.locator('input:focus').waitFor()
  await page.keyboard.type(name)
  await page.keyboard.press('Enter')
  await isAsked
  expect(new URL(page.url()).pathname).toBe('/token')
  expect(await palette.isVisible()).toBe(true)
  answer()
  await page.waitForURL(`**/channel?*keyword=${id}*`)
  expect(problems).toEqual([])
})

it('one bar saves the settings of all tabs, dots mark tabs with changes, and a message names the refused settings', async () => {
  const { page, problems } = await stage.open('root', { language: 'en' })
  await go(page, '/setting?tab=other')
  const bar = page.getByRole('region', { name: 'Unsaved changes' })
  await page.getByRole('textbox', { name: 'System name' }).waitFor()
  expect(await bar.count()).toBe(0)
  await page.getByRole('textbox', { name: 'System name' }).fill('Renamed')
  await bar.getByText('1 change', { exact: true }).waitFor()
  await page.getByRole('tab', { name: 'Operation' }).click()
  await page.getByRole('tab', { name: 'Other unsaved' }).waitFor()
  const retries = page.getByRole('textbox', { name: 'Retries on failure' })
  await retries.fill('1000')
  await bar.getByText('2 changes', { exact: true }).waitFor()
  await expectFit(page, 'en', ['Renamed'])
  // The bar is in view at any scroll position.
  expect(await bar.evaluate((element) => element.getBoundingClientRect().bottom <= innerHeight)).toBe(true)
  await bar.getByRole('button', { name: 'Save' }).click()
  await readMessage(page, 'en', 'Check your input (Retries on failure)')

  await retries.fill('4')
  await bar.getByRole('button', { name: 'Save' }).click()
  await readMessage(page, 'en', 'Saved')
  expect(await stage.server.call('GET /api/status')).toMatchObject({ system_name: 'Renamed' })
  await setOptions(stage.server, { SystemName: 'Sluice' })

  await retries.fill('3')
  await bar.getByRole('button', { name: 'Discard' }).click()
  expect(await retries.inputValue()).toBe('4 retries')
  expect(await bar.count()).toBe(0)
  expect(problems).toEqual([])
})

const pageWords = inBothLanguages({
  sections: ['设置分区', 'Sections'],
  chats: ['聊天设置', 'Chat settings'],
  quota: ['额度设置', 'Quota settings'],
  search: ['搜索全部设置项', 'Search all settings'],
  port: ['SMTP 端口', 'SMTP port'],
})

it.each(
  looks([
    ['zh', 'light', 1440],
    ['en', 'dark', 390],
    ['en', 'light', 1440],
    ['zh', 'dark', 390],
  ] as const),
)('long tabs of settings show a section at a time, named by the address (%s, %s, %i)', async (language, scheme, width) => {
  const say = pageWords[language]
  const { page, problems } = await stage.open('root', { language, scheme, width })
  const cards = page.locator('main [data-field]')
  await go(page, '/setting?tab=operation')
  await cards.first().waitFor()
  for (const tab of ['operation', 'system', 'models']) {
    await go(page, `/setting?tab=${tab}`)
    await cards.first().waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(2200)
  }

  await go(page, '/setting?tab=operation')
  if (width === 390) {
    await page.getByRole('combobox', { name: say.sections }).click()
    await page.getByRole('option', { name: say.quota, exact: true }).click()
  } else {
    const list = page.getByRole('navigation', { name: say.sections })
    await list.getByRole('link', { name: say.quota, exact: true }).click()
    await list.locator('[aria-current=page]', { hasText: say.quota }).waitFor()
  }
  await page.waitForURL('**/setting?tab=operation&section=quota')
  await page.getByRole('region', { name: say.quota }).waitFor()
  await expectFit(page, language)
  await page.reload()
  await page.getByRole('region', { name: say.quota }).waitFor()
  await page.goBack()
  await page.waitForURL('**/setting?tab=operation')

  // A search lists settings of all tabs; the page of the chosen one opens with its field marked.
  await page.getByRole('searchbox', { name: say.search }).fill('SMTPPort')
  await page.getByRole('link', { name: say.port }).waitFor()
  await expectFit(page, language)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/setting?tab=system&section=smtp#SMTPPort')
  await page.locator('[data-field=SMTPPort][data-pointed-at]').waitFor()
  expect(await page.getByRole('searchbox', { name: say.search }).inputValue()).toBe('')

  // Links of older versions name only the section, or the setting, in the hash.
  for (const hash of ['chats', 'Chats']) {
    await go(page, `/setting?tab=operation#${hash}`)
    await page.locator('[data-field=Chats]').waitFor()
  }
  expect(problems).toEqual([])
})

it('headers of Claude models and versions of Gemini models are rows', async () => {
  const { page, problems } = await stage.open('root', { language: 'en' })
  await go(page, '/setting?tab=models&section=claude')
  const headers = page.locator('[data-field="claude.model_headers_settings"]')
  await headers.getByRole('button', { name: 'Add row' }).click()
  await headers.getByRole('textbox', { name: 'Model (row 1)' }).fill('claude-test')
  await headers.getByRole('textbox', { name: 'Header (row 1)' }).fill('anthropic-beta')
  await headers.getByRole('textbox', { name: 'Value (row 1)' }).fill('context-1m')
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Gemini settings' }).click()
  const versions = page.locator('[data-field="gemini.version_settings"]')
  await versions.getByRole('textbox', { name: 'Value: gemini-1.0-pro' }).fill('v1beta')
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Claude settings unsaved' }).waitFor()
  await expectFit(page, 'en')
  await page.getByRole('region', { name: 'Unsaved changes' }).getByRole('button', { name: 'Save' }).click()
  await readMessage(page, 'en', 'Saved')
  const { current } = stage.server.app.options
  expect(current['claude.model_headers_settings']).toEqual({ 'claude-test': { 'anthropic-beta': ['context-1m'] } })
  expect(current['gemini.version_settings']).toEqual({ default: 'v1beta', 'gemini-1.0-pro': 'v1beta' })
  expect(problems).toEqual([])
})

const limitWords = inBothLanguages({
  users: ['每个用户的限制', 'Limits per user'],
  add: ['添加限制', 'Add a limit'],
  preset: ['添加：每分钟 60 次请求', 'Add: 60 requests a minute'],
  of: [(name: string, row: number) => `${name} （第 ${row} 行）`, (name: string, row: number) => `${name} (row ${row})`],
  group: ['分组', 'Group'],
  window: ['周期', 'Window'],
  unit: ['周期单位', 'Unit of the window'],
  tokens: ['Token 数', 'Tokens'],
  requests: ['请求次数', 'Requests'],
  day: ['天', 'day'],
  wrong: ['1 秒到 31 天的整数', 'Whole number, 1 second to 31 days'],
  check: ['请检查标出的行', 'Check the marked rows'],
  bar: ['未保存的修改', 'Unsaved changes'],
  save: ['保存', 'Save'],
  saved: ['保存成功', 'Saved'],
  counts: ['分组速率限制', 'Rate limits by group'],
  missing: ['请选择分组', 'Choose a group'],
})

it.each(
  looks([
    ['en', 'dark', 1440],
    ['zh', 'light', 390],
    ['zh', 'light', 1440],
    ['en', 'dark', 390],
  ] as const),
)('rate limits of groups are rows with presets, and JSON on demand (%s, %s, %i)', async (language, scheme, width) => {
  const say = limitWords[language]
  const { page, problems } = await stage.open('root', { language, scheme, width })
  await go(page, '/setting?tab=ratelimit')
  const bar = page.getByRole('region', { name: say.bar })
  const limits = page.locator('[data-field=UserRequestLimits]')
  await limits.getByRole('button', { name: say.preset }).click()
  await limits.getByRole('button', { name: say.add, exact: true }).click()
  await limits.getByRole('combobox', { name: say.of(say.group, 2) }).click()
  await page.getByRole('option', { name: 'vip', exact: true }).click()
  const window = limits.getByRole('textbox', { name: say.of(say.window, 2), exact: true })
  await window.fill('60')
  await limits.getByRole('combobox', { name: say.of(say.unit, 2) }).click()
  await page.getByRole('option', { name: new RegExp(`^${say.day}`) }).click()
  await limits.getByText(say.wrong).waitFor()
  await limits.getByRole('textbox', { name: say.of(say.tokens, 2) }).fill('5000000')
  await expectFit(page, language)
  await bar.getByRole('button', { name: say.save }).click()
  await limits.getByText(say.check).waitFor()
  await window.fill('1')

  const counts = page.locator('[data-field=ModelRequestRateLimitGroup]')
  await counts.getByRole('button', { name: say.add, exact: true }).click()
  await bar.getByRole('button', { name: say.save }).click()
  await counts.getByText(say.missing).waitFor()
  await counts.getByRole('combobox', { name: say.of(say.group, 1) }).click()
  await page.getByRole('option', { name: 'svip', exact: true }).click()
  await counts.getByRole('textbox', { name: say.of(say.requests, 1) }).fill('30')
  await expectFit(page, language)
  await limits.getByText('JSON', { exact: true }).click()
  const minute = { seconds: 60, requests: 60, tokens: 0, concurrency: 0 }
  const day = { seconds: 86_400, requests: 0, tokens: 5_000_000, concurrency: 0 }
  expect(JSON.parse(await limits.getByRole('textbox', { name: say.users }).inputValue())).toEqual({ '*': [minute], vip: [day] })
  await bar.getByRole('button', { name: say.save }).click()
  await readMessage(page, language, say.saved)
  const { UserRequestLimits, ModelRequestRateLimitGroup } = stage.server.app.options.current
  expect({ UserRequestLimits, ModelRequestRateLimitGroup }).toEqual({
    UserRequestLimits: { '*': [minute], vip: [day] },
    ModelRequestRateLimitGroup: { svip: [30, 1000] },
  })
  for (const key of ['UserRequestLimits', 'ModelRequestRateLimitGroup'])
    await stage.server.call('PUT /api/option/', { key, value: '{}' })
  expect(problems).toEqual([])
})

it('the check for updates says what is not set, until a release feed is saved', async () => {
  const { page, problems } = await stage.open('root', { language: 'en' })
  await go(page, '/setting?tab=other')
  await page.getByText('System information').waitFor()
  const button = page.getByRole('button', { name: 'Check for updates' })
  const unset = page.getByText('This version comes without an address of releases.')
  await unset.waitFor()
  await button.click()
  await page.getByText('This version has no address of releases, and none is set').waitFor()

  await page.getByLabel('Release feed').fill('https://code.test/releases/latest')
  await page.getByRole('region', { name: 'Unsaved changes' }).getByRole('button', { name: 'Save' }).click()
  await unset.waitFor({ state: 'detached' })
  await page.getByLabel('Release feed').fill('')
  await page.getByRole('region', { name: 'Unsaved changes' }).getByRole('button', { name: 'Save' }).click()
  await unset.waitFor()
  expect(problems).toEqual([])
})

it('[T186] release notes are shown as text', async () => {
  const notes = '<script>window.hostile=1</script> **bold** [x](javascript:alert(1)) <img src=x onerror=alert(1)>'
  const feed = createServer((_request, response) =>
    response.end(JSON.stringify({ tag_name: 'v99.0', body: notes, html_url: 'https://code.test/releases/99' })),
  )
  await new Promise<void>((resolve) => feed.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void feed.close())
  // The server listens on TCP, so its address has this form.
  const { port } = feed.address() as AddressInfo
  await setOptions(stage.server, { ReleaseFeedUrl: `http://127.0.0.1:${port}/latest` })
  onTestFinished(() => setOptions(stage.server, { ReleaseFeedUrl: '' }).then(() => {}))
  const { page, problems } = await stage.open('root', { language: 'en' })
  await go(page, '/setting?tab=other')
  await page.getByRole('button', { name: 'Check for updates' }).click()
  const dialog = page.getByRole('dialog', { name: 'New version available: 99.0' })
  expect(await dialog.locator('pre').textContent()).toBe(notes)
  expect(await dialog.getByRole('link', { name: 'Details' }).getAttribute('href')).toBe('https://code.test/releases/99')
  expect(await page.evaluate('window.hostile')).toBeUndefined()
  await expectFit(page, 'en')
  expect(problems).toEqual([])
})
