import { afterAll, beforeAll, expect, it } from 'vitest'
import type { QualityCheck } from '../../src/contract/entities/quality-check.ts'
import { type AddedSums, noSums, offerKey, writeCallSums } from '../../src/server/usage/calls/call-sums.ts'
import { addChannel, addToken, setOptions } from '../helpers/seed.ts'
import { expectFit, go, looks, openStage, type Stage } from './stage.ts'

const models = ['gpt-4o', 'claude-3-5-sonnet-20241022', 'deepseek-chat']
const sentence = 'upstream connect error or disconnect before headers'
const data = [
  ...models,
  sentence,
  'root',
  'user',
  'main',
  'Vendor A',
  'Vendor B',
  '503',
  'upstream_failed',
  'default',
  'Arithmetic',
]
const shots = process.env.SHOTS

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.stop())

it.each(
  looks([
    { language: 'zh', scheme: 'light', width: 390 },
    { language: 'en', scheme: 'dark', width: 1440 },
  ] as const),
)('the overview of a site without calls shows that there are none, in $language, $scheme, $width wide', async (look) => {
  const { page, problems } = await stage.open('admin', { ...look, height: 900 })
  await go(page, '/overview')
  await page.getByText({ zh: '这段时间没有调用', en: 'No calls in this period' }[look.language]).waitFor()
  if (shots) await page.screenshot({ path: `${shots}/overview-empty-${look.language}-${look.width}.png`, fullPage: true })
  await expectFit(page, look.language, data)
  expect(problems).toEqual([])
})

it.each(
  looks([
    { language: 'en', scheme: 'dark', width: 390 },
    { language: 'zh', scheme: 'light', width: 1440 },
    { language: 'en', scheme: 'light', width: 1440 },
    { language: 'zh', scheme: 'dark', width: 1440 },
  ] as const),
)('an admin sees what fails and opens its log, in $language, $scheme, $width wide', async (look) => {
  const failing = await seed(stage)
  const { page, problems } = await stage.open('admin', { ...look, height: 900 })
  await go(page, '/overview')
  await page.getByText(sentence).first().waitFor()
  expect(await page.getByRole('img', { name: /走势|over time/ }).count()).toBe(8)
  if (shots)
    await page.screenshot({ path: `${shots}/overview-${look.language}-${look.scheme}-${look.width}.png`, fullPage: true })
  await expectFit(page, look.language, data)
  const periods = page.getByRole('radiogroup').first().locator('label')
  expect(await periods.evaluateAll((labels) => labels.filter((label) => label.scrollWidth > label.clientWidth).length)).toBe(0)
  await page.getByText({ zh: '1 小时', en: '1 hour' }[look.language], { exact: true }).click()
  await page.waitForURL(/period=hour/)
  await expectFit(page, look.language, data)
  await page
    .getByRole('link', { name: { zh: '查看日志', en: 'View logs' }[look.language] })
    .first()
    .click()
  await page.waitForURL((url) => url.pathname === '/log' && url.searchParams.get('channel') === String(failing))
  expect(problems).toEqual([])
})

it.each(
  looks([
    { language: 'zh', scheme: 'light', width: 1440 },
    { language: 'en', scheme: 'dark', width: 390 },
    { language: 'en', scheme: 'light', width: 1440 },
  ] as const),
)('the list of channels and its keys show health, in $language, $scheme, $width wide', async (look) => {
  await seed(stage)
  const { page, problems } = await stage.open('root', { ...look, height: 900 })
  await go(page, '/channel')
  const strip = page.getByRole('img', { name: { zh: /近 24 小时：.* 次失败/, en: /Last 24 hours: .* failed/ }[look.language] })
  await strip.first().waitFor()
  expect(await strip.count()).toBe(2)
  const mark = page.getByRole('link', {
    name: { zh: '质量检查“Arithmetic”（gpt-4o）低于阈值', en: 'Quality check “Arithmetic” (gpt-4o) is below its threshold' }[
      look.language
    ],
  })
  expect(await mark.getAttribute('href')).toMatch(/\/quality\/\d+$/)
  expect(await mark.count()).toBe(1)
  // In a wide window, all columns fit side by side.
  const frame = page.getByRole('table').locator('..')
  if (look.width === 1440) expect(await frame.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
  if (shots) await page.screenshot({ path: `${shots}/channels-${look.language}-${look.scheme}-${look.width}.png` })
  await expectFit(page, look.language, data)
  expect(problems).toEqual([])
})

const incidentLooks = [
  { language: 'zh', scheme: 'light', width: 1440 },
  { language: 'en', scheme: 'dark', width: 390 },
  { language: 'en', scheme: 'light', width: 1440 },
  { language: 'zh', scheme: 'dark', width: 390 },
] as const
const titleIn = ({ language, width }: { language: string; width: number }) => `Slow answers ${language} ${width}`

it.each(looks(incidentLooks))(
  'an admin publishes an incident, and guests see it with 90 days of models, in $language, $scheme, $width wide',
  async (look) => {
    const say = (zh: string, en: string) => ({ zh, en })[look.language]
    await seed(stage)
    await seedDays(stage)
    const title = titleIn(look)
    const shown = [...data, ...incidentLooks.map(titleIn), 'OpenAI', 'vip']
    const setPublic = (value: boolean) => setOptions(stage.server, { StatusPagePublicEnabled: value })
    const shot = (name: string) => `${shots}/${name}-${look.language}-${look.scheme}-${look.width}.png`

    await setPublic(false)
    const guest = await stage.open('nobody', { ...look, height: 900 })
    await go(guest.page, '/status')
    await guest.page.getByText(say('状态页未公开', 'The status page is not public')).waitFor()
    await expectFit(guest.page, look.language, data)
    await setPublic(true)

    const { page, problems } = await stage.open('admin', { ...look, height: 900 })
    await go(page, '/incident')
    await page
      .getByRole('button', { name: /新建|New incident|first incident/ })
      .first()
      .click()
    const form = page.getByRole('dialog')
    await form.getByLabel(say('标题', 'Title')).fill(title)
    await form.getByRole('combobox', { name: say('受影响的模型', 'Affected models') }).fill('deepseek-chat')
    await page.keyboard.press('Enter')
    await form.getByLabel(say('说明', 'Message')).fill('gpt-4o')
    if (shots) await page.screenshot({ path: shot('incident-form') })
    await expectFit(page, look.language, shown)
    await page.getByRole('button', { name: say('发布', 'Publish'), exact: true }).click()
    await page.getByText(title).first().waitFor()
    if (shots) await page.screenshot({ path: shot('incidents'), fullPage: true })
    await expectFit(page, look.language, shown)
    await page.getByRole('link', { name: say('查看状态页', 'View status page') }).click()
    await page.getByRole('heading', { name: title }).waitFor()
    if (shots) await page.screenshot({ path: shot('status-admin'), fullPage: true })

    await go(guest.page, '/')
    const links = guest.page.getByRole('link', { name: say('服务状态', 'Service status') })
    await links.last().click()
    await guest.page.getByRole('heading', { name: title }).waitFor()
    const strip = guest.page.getByRole('button', { name: /^gpt-4o/ })
    await strip.click()
    await guest.page.getByRole('table', { name: /gpt-4o/ }).waitFor()
    expect(await strip.locator('span:visible').count()).toBe(look.width < 768 ? 30 : 90)
    if (shots) await guest.page.screenshot({ path: shot('status'), fullPage: true })
    await expectFit(guest.page, look.language, shown)
    expect([...problems, ...guest.problems]).toEqual([])
  },
)

let hasDays = false

/** Ninety days of a model in its group: some with failures, and the first ones without calls. */
async function seedDays({ server }: Stage): Promise<void> {
  if (hasDays) return
  hasDays = true
  const now = Math.floor(Date.now() / 300_000) * 300
  const added = models.flatMap((model, index) =>
    Array.from({ length: 80 - 15 * index }, (_, day): AddedSums => {
      const failed = day % (17 + index) === 5 ? 9 : day % 11 === 3 ? 2 : 0
      const sums = { ...noSums(), count: 100 + failed, answered: 100, failed }
      return { side: 'offer', key: offerKey('default', model), at: now - day * 86_400, sums, errors: [] }
    }),
  )
  for (let from = 0; from < added.length; from += 50)
    await server.app.db.transaction().execute((within) => writeCallSums(within, added.slice(from, from + 50)))
  server.app.statusSnapshots.forget()
}

let seeded: number | undefined

/** Two days of calls; those of one channel have begun to fail. */
async function seed({ server }: Stage): Promise<number> {
  if (seeded !== undefined) return seeded
  const failing = await addChannel(server, { url: 'http://127.0.0.1:9', models: models.join(), name: 'Vendor A' })
  const fine = await addChannel(server, { url: 'http://127.0.0.1:9', models: models.join(), name: 'Vendor B' })
  const { id: token } = await addToken(server, { name: 'main' })
  const now = Math.floor(Date.now() / 300_000) * 300
  const added: AddedSums[] = []
  for (let at = now - 48 * 3600; at <= now; at += 1800) {
    const calls = 40 + Math.round(30 * Math.sin(at / 14_000))
    const failed = at > now - 3 * 3600 ? 9 : at % 7200 === 0 ? 1 : 0
    const add = (side: AddedSums['side'], key: string | number, share = 1, errors: AddedSums['errors'] = []) => {
      const sums = noSums()
      const count = Math.max(1, Math.round(calls * share))
      for (let index = 0; index < count; index++) {
        sums.durations.add(800 + 137 * (index % 20))
        sums.first_bytes.add(210 + 13 * (index % 30))
      }
      const isFailing = key !== fine
      Object.assign(sums, { count: count + failed, answered: count, failed: isFailing ? failed : 0 })
      Object.assign(sums, { tokens_in: count * 900, tokens_out: count * 300, quota: count * 2500, output_ms: count * 5200 })
      added.push({ side, key: String(key), at, sums, errors: isFailing ? errors : [] })
    }
    const error = (code: string) => (failed === 0 ? [] : [{ code, count: failed, message: sentence, last_at: at }])
    add('site', '', 1, error('upstream_failed'))
    add('user', 1, 0.7)
    add('user', 2, 0.3)
    for (const [index, model] of models.entries()) add('model', model, 0.6 / (index + 1))
    add('token', token)
    add('channel', failing, 0.2, error('503'))
    add('channel', fine, 0.8)
  }
  await server.app.db.transaction().execute((within) => writeCallSums(within, added))
  const check = { name: 'Arithmetic', models: ['gpt-4o'], prompt: '17 * 23', expectations: [{ kind: 'exact', value: '391' }] }
  const { id: check_id } = await server.call<QualityCheck>('POST /api/quality_check/', check)
  const standing = { check_id, channel_id: failing, model: 'gpt-4o', state: 'below', share: 40, baseline: -1, runs: 3 }
  await server.app.db
    .insertInto('quality_standings')
    .values({ ...standing, passed: 0, total: 2, run_at: now })
    .execute()
  seeded = failing
  return failing
}
