import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jobNamed } from '../../src/server/watch/jobs/table.ts'
import { addChannel, addToken, setOptions } from '../helpers/seed.ts'
import { ask, chat, completion, settledCharges } from '../relay/stage.ts'
import { expectFit, go, inBothLanguages, looks, openStage, type Stage, shoot } from './stage.ts'

/** Models that end, and replies by other models, where admins and users see them. */
let stage: Stage

beforeAll(async () => {
  stage = await openStage()
  const { server, upstream } = stage
  await addChannel(server, { url: 'https://api.openai.com', models: 'gpt-5,gpt-5-mini', name: 'east' })
  await addChannel(server, {
    url: 'https://generativelanguage.googleapis.com',
    type: 24,
    models: 'gemini-2.5-pro',
    name: 'south',
  })
  const ratios = { 'gpt-5': 1, 'gpt-5-mini': 1, 'gemini-2.5-pro': 1, 'gemini-3.8-flash': 1, 'gpt-4o': 1 }
  await setOptions(server, { ModelRatio: ratios })
  const west = await addChannel(server, { url: upstream.url, models: 'gpt-4o', name: 'west' })
  upstream.program('gpt-4o', { body: completion({ model: 'gpt-4o-mini' }) })
  const { key } = await addToken(server)
  expect((await ask(server, key, chat({ model: 'gpt-4o' }))).status).toBe(200)
  await settledCharges(server)
  await server.app.answeredModels.flush()
  expect(west).toBeGreaterThan(0)
  const rule = { enabled: true, params: {}, scope: [], destinations: [], repeat_seconds: 0, notify_recovery: false }
  await server.call('PUT /api/alert/rule/other-model', rule)
  await jobNamed('evaluate-alerts').run(server.app, new AbortController().signal, () => {})
})
afterAll(() => stage.stop())

const words = inBothLanguages({
  redirect: [/2026-12-01 起由 gemini-3\.8-flash 回答/, 'from 2026-12-01: gemini-3.8-flash'],
  others: ['其他模型 1', 'Other model: 1'],
  note: [/已计费/, /Charged \$/],
  model: [/^模型/, /^Model/],
  ending: ['2 个模型停用', '2 models end'],
  form: [/2 个模型将停用或已停用/, /2 models end or have ended/],
})

it.each(
  looks([
    { language: 'zh', scheme: 'dark', width: 390 },
    { language: 'en', scheme: 'light', width: 1440 },
    { language: 'zh', scheme: 'light', width: 1440 },
    { language: 'en', scheme: 'dark', width: 390 },
  ] as const),
)('in $language, $width wide, a model that ends and a reply by another model are marked', async (look) => {
  const { language } = look
  const say = words[language]
  const { page, problems } = await stage.open('root', { ...look, height: 900 })
  const shot = (of: Page, name: string) => shoot(of, `ends-${name}`, look)

  await go(page, '/pricing')
  await page
    .getByText(/2026-12-11/)
    .first()
    .waitFor()
  await page.getByText(say.redirect).first().waitFor()
  await expectFit(page, language)
  await shot(page, 'prices')

  await go(page, '/channel')
  await page.getByText(say.ending).first().waitFor()
  await page.getByText(say.others).first().waitFor()
  await expectFit(page, language)
  await shot(page, 'channels')

  await go(page, '/channel/edit/1')
  await page.getByText(say.form).waitFor()
  await expectFit(page, language)
  await shot(page, 'channel-form')

  await go(page, '/alerts?tab=history')
  await page.getByText(say.note).first().waitFor()
  await expectFit(page, language)
  await shot(page, 'alerts')

  await go(page, '/playground')
  if (look.width > 1000) {
    await page.getByRole('combobox', { name: say.model }).click()
    await page.getByRole('option', { name: 'gpt-5', exact: true }).click()
    await page
      .getByText(/2026-12-11/)
      .first()
      .waitFor()
    await expectFit(page, language)
  }
  await shot(page, 'playground')
  expect(problems).toEqual([])
})
