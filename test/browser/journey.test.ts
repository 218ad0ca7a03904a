import OpenAI from 'openai'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatQuota, quotaPerUsd } from '../../src/contract/quota.ts'
import { rootPassword } from '../helpers/app.ts'
import { books, requireBalancedBooks } from '../helpers/seed.ts'
import { settledCharges } from '../relay/stage.ts'
import { expectFit, go, inBothLanguages, type Language, logIn, looks, openStage, readMessage, type Stage } from './stage.ts'

/** The main job of the product as a person does it in the console, in each language, theme and width. */
const model = 'gpt-4o-mini'
const slowModel = 'gpt-4o'
const question = 'one two three four'
const answer = `You said: ${question}`

const variants = [
  { language: 'en', scheme: 'dark', width: 390 },
  { language: 'zh', scheme: 'light', width: 1440 },
  { language: 'en', scheme: 'light', width: 1440 },
  { language: 'zh', scheme: 'dark', width: 390 },
] as const

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  stage.upstream.program(slowModel, { words: 5000, pauseMs: 10 })
})
afterAll(() => stage.stop())

describe.each(looks(variants))('in $language, $scheme, $width wide', ({ language, scheme, width }) => {
  it('a root adds a channel, creates a token, chats, and finds every charge in the log', async () => {
    const { page, problems } = await stage.open('nobody', { language, scheme, width, height: width === 390 ? 844 : 900 })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const visit: Visit = {
      page,
      language,
      narrow: width === 390,
      name: `${language}-${scheme}-${width}`,
      token: `key-${width}-${scheme}-${language}`,
      words: wordsOf[language],
    }

    await go(page, '/login')
    await expectFit(page, language)
    await logIn(page, { language, username: 'root', password: rootPassword })
    await expectFit(page, language)

    await addChannel(visit, stage.upstream.url)
    await testChannel(visit)
    const key = await makeToken(visit)
    await useKey(key)
    await chat(visit)
    await stopAnswer(visit)
    await expect.poll(() => stage.upstream.journal.at(-1)).toMatchObject({ model: slowModel, aborted: true })
    await settledCharges(stage.server)
    await readBills(visit)

    expect(problems).toEqual([])
    await requireBalancedBooks(stage.server)
  })
})

/** The stage, user and look of a visit. */
interface Visit {
  readonly page: Page
  readonly language: Language
  readonly narrow: boolean
  /** The name of the channel of this visit. */
  readonly name: string
  readonly token: string
  readonly words: (typeof wordsOf)[Language]
}

async function addChannel({ page, language, narrow, name, words }: Visit, url: string): Promise<void> {
  await openScreen({ page, narrow, words }, words.channels)
  await expectFit(page, language, [name])
  await page.getByRole('button', { name: words.addChannel }).first().click()
  const form = page.getByRole('dialog', { name: words.newChannel })
  await choose(page, form.getByRole('combobox', { name: words.type, exact: true }), 'OpenAI')
  await form.getByRole('textbox', { name: words.name, exact: true }).fill(name)
  await form.getByRole('textbox', { name: words.baseUrl }).fill(`${url}/`)
  await form.getByRole('textbox', { name: words.key, exact: true }).fill('upstream-key-0123456789')
  await form.getByRole('button', { name: words.clearModels }).click()
  await form.getByRole('textbox', { name: words.customModels }).fill(`${model}, ${slowModel}`)
  await form.getByRole('button', { name: words.fill, exact: true }).click()
  await expectFit(page, language, [name])
  await form.getByRole('button', { name: words.submit }).click()
  await form.waitFor({ state: 'detached' })
  await readMessage(page, language, words.channelMade)
}

async function testChannel(visit: Visit): Promise<void> {
  const { page, language, narrow, name, words } = visit
  const channel = rowOf(visit, name)
  if (narrow) await channel.getByRole('button', { name: words.details }).click()
  await channel.getByText(words.untested).waitFor()
  await channel.getByRole('button', { name: `${words.test}: ${name}` }).click()
  await readMessage(page, language, words.tested(name))
  await channel.getByText(words.seconds).waitFor()
  await expectFit(page, language, [name])
}

/** Returns the key, as it was shown and copied. */
async function makeToken(visit: Visit): Promise<string> {
  const { page, language, token, words } = visit
  await openScreen(visit, words.tokens)
  await page.getByRole('button', { name: words.addToken }).first().click()
  const form = page.getByRole('dialog', { name: words.newToken })
  await form.getByRole('textbox', { name: words.name, exact: true }).fill(token)
  await expectFit(page, language, [token])
  await form.getByRole('button', { name: words.submit }).click()

  const made = page.getByRole('dialog', { name: words.tokenMade })
  const key = (await made.getByText(/^sk-\w+$/).textContent()) ?? ''
  await made.getByRole('button', { name: `${words.copy}: ${token}` }).click()
  await readMessage(page, language, words.copied)
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key)
  await expectFit(page, language, [token])
  await made.getByRole('button', { name: words.done }).click()
  await rowOf(visit, token).waitFor()
  await expectFit(page, language, [token])
  return key
}

async function useKey(apiKey: string): Promise<void> {
  const client = new OpenAI({ apiKey, baseURL: `${stage.server.url}/v1`, maxRetries: 0 })
  const reply = await client.chat.completions.create({ model, messages: [{ role: 'user', content: question }] })
  expect(reply.choices[0]?.message.content).toBe(answer)
}

async function chat(visit: Visit): Promise<void> {
  const { page, language, words } = visit
  await openScreen(visit, words.playground)
  await setUp(visit, model)
  await page.getByRole('textbox', { name: words.input }).fill(question)
  await page.getByRole('button', { name: words.send, exact: true }).click()
  await page.getByRole('listitem').getByText(answer).waitFor()
  await page.getByRole('status').getByText(words.answered).waitFor()
  await expectFit(page, language, [question, answer])
}

async function stopAnswer(visit: Visit): Promise<void> {
  const { page, language, words } = visit
  await setUp(visit, slowModel)
  await page.getByRole('textbox', { name: words.input }).fill(question)
  await page.keyboard.press('Enter')
  const reply = page.getByRole('listitem').last()
  await reply.getByText(/word5\b/).waitFor()
  await page.getByRole('button', { name: words.stop }).click()
  await reply.getByText(words.stopped).waitFor()
  expect(await reply.textContent()).not.toContain('word5000')
  await expectFit(page, language, [question, answer, (await reply.textContent()) ?? ''])
}

/** Chooses group and model, at the side or behind a button of a narrow window. */
async function setUp({ page, narrow, words }: Visit, wanted: string): Promise<void> {
  if (narrow) await page.getByRole('button', { name: new RegExp(`^(${words.settings}$|gpt-)`) }).click()
  await choose(page, page.getByRole('combobox', { name: words.group, exact: true }), 'default')
  await choose(page, page.getByRole('combobox', { name: words.model, exact: true }), wanted)
  if (narrow) await page.keyboard.press('Escape')
}

/** Every charge of this visit, recomputed from its row, equals the charged amount. */
async function readBills(visit: Visit): Promise<void> {
  const { page, language, name, token, words } = visit
  const charges = (await books(stage.server)).logs.slice(-3).reverse()
  // The stopped answer has a charge, and then a row as a call whose caller disconnected.
  const { db } = stage.server.app
  const left = db
    .selectFrom('logs')
    .select('id')
    .where('error_code', '=', 'client_closed')
    .where('id', '>', charges[0]?.id ?? 0)
  await expect.poll(() => left.execute()).toHaveLength(1)
  await openScreen(visit, words.logs)
  const [, , ofKey] = charges
  expect(ofKey).toMatchObject({ token_name: token, model_name: model })
  const cost = formatQuota(ofKey?.quota ?? 0, { inCurrency: true, perUsd: quotaPerUsd })
  await rowOf(visit, token).filter({ hasText: cost }).waitFor()

  const expanders = page.getByRole('button', { name: words.details })
  for (let place = 0; place <= charges.length; place++) await expanders.nth(place).click()
  for (const { quota, request_id } of charges) {
    expect(quota).toBeGreaterThan(0)
    const details = rowOf(visit, request_id)
    await details.getByText(words.agrees).waitFor()
    const units = details.getByRole('row', { name: words.charged }).getByRole('cell').last()
    expect(await units.textContent()).toBe(quota.toLocaleString('en-US'))
    expect(await details.getByRole('row', { name: words.rounded }).getByRole('cell').last().textContent()).toBe(
      await units.textContent(),
    )
  }
  await expectFit(page, language, [name, token])
}

/** Opens a screen by the navigation. */
async function openScreen({ page, narrow, words }: Pick<Visit, 'page' | 'narrow' | 'words'>, name: string): Promise<void> {
  if (narrow) await page.getByRole('button', { name: words.menu }).click()
  await page.getByRole('navigation', { name: words.mainNav }).getByRole('link', { name, exact: true }).click()
  await page.waitForFunction((title) => document.title === title, `${name} · Sluice`)
}

/** The row, or on a narrow window the card, that holds this text. */
function rowOf({ page, narrow }: Pick<Visit, 'page' | 'narrow'>, text: string): Locator {
  return page.getByRole(narrow ? 'listitem' : 'row').filter({ hasText: text })
}

async function choose(page: Page, select: Locator, option: string): Promise<void> {
  await select.click()
  // The accessible name of an option may continue with further text.
  await page.getByRole('option', { name: new RegExp(`^${option}(?: |$)`) }).click()
}

const wordsOf = inBothLanguages({
  menu: ['打开菜单', 'Open the menu'],
  mainNav: ['主导航', 'Main navigation'],
  channels: ['渠道', 'Channels'],
  addChannel: ['添加渠道', 'Add channel'],
  newChannel: ['创建新的渠道', 'Create channel'],
  type: ['类型', 'Type'],
  name: ['名称', 'Name'],
  baseUrl: ['代理站地址', 'Base URL'],
  key: ['密钥', 'Key'],
  clearModels: ['清除所有模型', 'Remove all models'],
  customModels: ['输入自定义模型名称，用逗号分隔', 'Custom model names, comma-separated'],
  fill: ['填入', 'Add'],
  submit: ['提交', 'Submit'],
  channelMade: ['渠道创建成功！', 'Channel created'],
  untested: ['未测试', 'Untested'],
  test: ['测试', 'Test'],
  tested: [
    (name: string) => new RegExp(`“${name}”测试成功，耗时 \\d+\\.\\d\\d 秒`),
    (name: string) => new RegExp(`“${name}” passed the test in \\d+\\.\\d\\d s`),
  ],
  seconds: [/^\d+\.\d\d 秒$/, /^\d+\.\d\d s$/],
  tokens: ['令牌', 'Tokens'],
  addToken: ['添加令牌', 'Create token'],
  newToken: ['创建新的令牌', 'Create token'],
  tokenMade: ['令牌创建成功', 'Token created'],
  copy: ['复制', 'Copy'],
  copied: ['已复制到剪贴板', 'Copied to clipboard'],
  done: ['完成', 'Done'],
  playground: ['操练场', 'Playground'],
  settings: ['设置', 'Settings'],
  group: ['分组', 'Group'],
  model: ['模型', 'Model'],
  input: ['输入消息', 'Message'],
  send: ['发送', 'Send'],
  answered: ['回答完毕', 'Response complete'],
  stop: ['停止', 'Stop'],
  stopped: ['已停止', 'Stopped'],
  logs: ['日志', 'Logs'],
  details: ['展开详情', 'Show details'],
  agrees: ['等于实际扣费', 'Matches the charged amount'],
  charged: ['实际扣费', 'Charged'],
  rounded: ['向上取整', 'Rounded up'],
})
