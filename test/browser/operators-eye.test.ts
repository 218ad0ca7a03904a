import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addChannel, addToken } from '../helpers/seed.ts'
import { ask, chat, settledCharges } from '../relay/stage.ts'
import { expectFit, go, inBothLanguages, looks, openStage, type Stage, shoot } from './stage.ts'

/** What an operator has to see: a call that was not delivered, with its bill, and addresses that callers can forge. */
let stage: Stage

beforeAll(async () => {
  stage = await openStage({ env: { TRUSTED_PROXIES: '127.0.0.1, 0.0.0.0/0' } })
  const { server, upstream } = stage
  await addChannel(server, { url: upstream.url, models: 'gpt-4o', name: 'main' })
  const { key } = await addToken(server)
  expect((await ask(server, key, chat({ model: 'gpt-4o', max_tokens: 16 }))).status).toBe(200)
  await settledCharges(server)
  // As the ledger writes it off when its reply could not be delivered.
  const { db } = server.app
  const row = await db.selectFrom('logs').selectAll().where('type', '=', 2).executeTakeFirstOrThrow()
  const { admin_info: info, ...other } = JSON.parse(row.other)
  const site_cost = { amount: row.quota, reason: 'undelivered' }
  const text = JSON.stringify({ ...other, undelivered: true, admin_info: { ...info, site_cost } })
  await db.updateTable('logs').set({ quota: 0, other: text }).where('id', '=', row.id).execute()
})
afterAll(() => stage.stop())

const words = inBothLanguages({
  mark: ['未送达', 'not delivered'],
  hint: [/应答没有送达调用方/, /did not reach the caller/],
  agrees: ['等于实际扣费', 'Matches the charged amount'],
  details: ['展开详情', 'Show details'],
  risky: [/TRUSTED_PROXIES 信任 0\.0\.0\.0\/0/, /TRUSTED_PROXIES trusts 0\.0\.0\.0\/0/],
})

it.each(
  looks([
    { language: 'en', scheme: 'light', width: 1440 },
    { language: 'zh', scheme: 'dark', width: 390 },
    { language: 'zh', scheme: 'light', width: 1440 },
    { language: 'en', scheme: 'dark', width: 390 },
  ] as const),
)('in $language, $width wide: an undelivered call is free by its bill, and forgeable addresses are named', async (look) => {
  const { language } = look
  const say = words[language]
  const { page, problems } = await stage.open('root', { ...look, height: 900 })
  const shot = (of: Page, name: string) => shoot(of, `${name}`, look)
  await go(page, '/log')
  await page.getByText(say.mark, { exact: true }).first().waitFor()
  await page.getByRole('button', { name: say.details }).first().click()
  await page.getByText(say.hint).first().waitFor()
  await page.getByText(say.agrees).first().waitFor()
  await expectFit(page, language)
  await shot(page, 'undelivered')

  await go(page, '/setting?tab=runtime')
  await page.getByText(say.risky).first().waitFor()
  await expectFit(page, language)
  await shot(page, 'risky')
  expect(problems).toEqual([])
})
