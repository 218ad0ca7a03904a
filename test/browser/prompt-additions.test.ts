import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addChannel, addToken } from '../helpers/seed.ts'
import { ask, chat, completion, settledCharges } from '../relay/stage.ts'
import { expectFit, go, inBothLanguages, looks, openStage, type Stage, shoot } from './stage.ts'

/** A channel whose upstream adds to prompts: the question in the list, the answer in the form, and the rows of its calls. */
let stage: Stage
let channelId: number

beforeAll(async () => {
  stage = await openStage()
  const { server, upstream } = stage
  channelId = await addChannel(server, { url: upstream.url, models: 'gpt-4o', name: 'knowledge' })
  upstream.program('gpt-4o', {
    body: completion({ usage: { prompt_tokens: 60_000, completion_tokens: 7, total_tokens: 60_007 } }),
  })
  const { key } = await addToken(server)
  expect((await ask(server, key, chat({ model: 'gpt-4o', max_tokens: 16 }))).status).toBe(200)
  await settledCharges(server)
})
afterAll(() => stage.stop())

const words = inBothLanguages({
  question: ['提示词变长？', 'Longer prompts?'],
  tokens: [/58,211/, /58,211/],
  limits: [/限流与成本/, /Limits and cost/],
  label: ['上游会在提示词中增加内容', 'The upstream adds to prompts'],
  adds: [/^会增加/, /^Adds/],
  row: [/上游上报的提示词多出/, /more prompt tokens/],
  submit: ['提交', 'Submit'],
  details: ['展开详情', 'Show details'],
})

it.each(
  looks([
    { language: 'en', scheme: 'light', width: 1440 },
    { language: 'zh', scheme: 'dark', width: 390 },
    { language: 'zh', scheme: 'light', width: 1440 },
    { language: 'en', scheme: 'dark', width: 390 },
  ] as const),
)(
  'in $language, $width wide, an admin sees that prompts became longer, and says that the upstream adds to them',
  async (look) => {
    const { language } = look
    const say = words[language]
    const { server } = stage
    const { db, bus } = server.app
    await db
      .updateTable('channels')
      .set({ setting: '{}', prompt_additions: '{"gpt-4o":58211}' })
      .where('id', '=', channelId)
      .execute()
    bus.publish('channels', channelId)
    const { page, problems } = await stage.open('root', { ...look, height: 900 })
    const shot = (of: Page, name: string) => shoot(of, `prompts-${name}`, look)

    await go(page, '/channel')
    const question = page.getByText(say.question).first()
    await question.waitFor()
    await question.hover()
    await page.getByText(say.tokens).first().waitFor()
    await shot(page, 'list')

    await go(page, `/channel/edit/${channelId}`)
    await page.getByText(say.limits).first().click()
    await page.getByRole('combobox', { name: say.label }).click()
    await page.getByRole('option', { name: say.adds }).click()
    await expectFit(page, language)
    await shot(page, 'form')
    await page.getByRole('button', { name: say.submit }).click()
    const saved = async () => {
      const channel = db.selectFrom('channels').select('setting').where('id', '=', channelId)
      return JSON.parse((await channel.executeTakeFirstOrThrow()).setting)
    }
    await expect.poll(saved).toEqual({ adds_to_prompts: true })
    await go(page, '/channel')
    await page.getByText('knowledge').first().waitFor()
    expect(await page.getByText(say.question).count()).toBe(0)

    await go(page, '/log')
    await page.getByRole('button', { name: say.details }).first().click()
    await page.getByText(say.row).first().waitFor()
    await expectFit(page, language)
    await shot(page, 'row')
    expect(problems).toEqual([])
  },
)
