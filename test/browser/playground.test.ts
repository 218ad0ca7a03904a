import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addChannel } from '../helpers/seed.ts'
import { png } from '../helpers/task-peer.ts'
import { expectFit, go, inBothLanguages, type Language, looks, openStage, type Stage } from './stage.ts'

/** Playground journeys, against a provider that sends reasoning, returns images, fails and attacks the page. */
const thinker = 'gpt-4o'
const failing = 'gpt-4o-mini'
const hostile = 'deepseek-chat'
const slow = 'claude-3-5-sonnet-20241022'
const decider = 'gpt-4.1'
const pictureUrl = `data:image/png;base64,${Buffer.from(png).toString('base64')}`
const foreign = 'https://canary.test/pixel.png'

const hostileText = `<script>window.hostile=1</script><img src=x onerror="window.hostile=1">
[run](javascript:window.hostile=1) [page](data:text/html,x) ![beacon](${foreign}) ![held](${pictureUrl}) ![doc](data:image/svg+xml,x)`

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  const { server, upstream } = stage
  await addChannel(server, { url: upstream.url, models: [thinker, failing, hostile, slow, decider].join(',') })
  const choice = (delta: object) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta }] })}\n\n`
  const end = (words: number) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 9, completion_tokens: words, total_tokens: 9 + words } })}\n\ndata: [DONE]\n\n`
  const contentType = 'text/event-stream'
  upstream.program(thinker, {
    contentType,
    bytes: `${choice({ reasoning_content: 'first I think' })}${choice({ content: '**42**' })}${choice({ images: [{ type: 'image_url', image_url: { url: pictureUrl } }] })}${end(7)}`,
  })
  upstream.program(failing, { status: 400, body: { error: { message: 'no such thing', type: 'invalid_request_error' } } })
  upstream.program(hostile, { contentType, bytes: `${choice({ content: hostileText })}${end(3)}` })
  upstream.program(slow, { words: 5000, pauseMs: 10 })
})
afterAll(() => stage.stop())

it.each(
  looks([
    { language: 'zh', scheme: 'light' },
    { language: 'en', scheme: 'dark' },
  ] as const),
)('in $language models answer side by side, each with its own reasoning, images, error and cost', async (look) => {
  const { page, problems } = await stage.open('root', look)
  const say = words[look.language]
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await go(page, '/playground')
  await choose(page, say.model, thinker)
  await page.getByRole('button', { name: say.compare }).click()
  await choose(page, `${say.model} 2`, failing)

  // One image is pasted, another one is chosen.
  const input = page.getByRole('textbox', { name: say.input })
  await page.locator('input[type=file]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(png) })
  await page.getByRole('list', { name: say.pictures }).locator('img').waitFor()
  await input.fill('what is it?')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('really')
  await page.keyboard.press('Enter')

  const thought = page.getByRole('article', { name: thinker, exact: true })
  const failed = page.getByRole('article', { name: failing, exact: true })
  await failed.getByText('no such thing').waitFor()
  await thought.getByText('42', { exact: true }).waitFor()
  expect(await thought.locator('details').evaluate((details: HTMLDetailsElement) => details.open)).toBe(false)
  await thought.locator('img').waitFor()
  await thought.getByText(say.cost).waitFor()
  await thought.getByText(say.tokens).waitFor()
  const sent = stage.upstream.journal.find(({ model }) => model === thinker)?.json
  expect(sent.messages.at(-1).content).toMatchObject([
    { type: 'text', text: 'what is it?\nreally' },
    { type: 'image_url', image_url: { url: expect.stringContaining('data:image/png;base64,') } },
  ])
  await expectFit(page, look.language, ['what is it?', 'really', 'no such thing', 'first I think'])
  const [left, right] = [await thought.boundingBox(), await failed.boundingBox()]
  expect(left?.y).toBe(right?.y)

  await page.getByRole('button', { name: say.code }).click()
  const code = page.getByRole('dialog', { name: say.codeTitle })
  await code.getByText('Anthropic Python', { exact: true }).click()
  await code.getByText('client.messages.stream(').waitFor()
  await expectFit(page, look.language, ['what is it?', 'really', 'no such thing', 'first I think'])
  await page.keyboard.press('Escape')
  await code.waitFor({ state: 'detached' })

  // Another question replaces the first.
  await page.getByRole('button', { name: say.edit }).click()
  await expect.poll(() => input.inputValue()).toBe('what is it?\nreally')
  await input.fill('and now?')
  await page.keyboard.press('Enter')
  await page.getByText('and now?').waitFor()
  expect(await page.getByText('what is it?').count()).toBe(0)
  await thought.getByRole('button', { name: say.retry }).click()
  await thought.getByText(say.cost).waitFor()
  expect(await page.getByRole('article').count()).toBe(2)
  expect(problems.filter((problem) => !problem.includes('status of 400'))).toEqual([])
})

const complaint = 'My card was charged twice!'

it.each(
  looks([
    { language: 'en', scheme: 'dark', width: 390, height: 844 },
    { language: 'zh', scheme: 'light', width: 1440, height: 900 },
    { language: 'zh', scheme: 'dark', width: 390, height: 844 },
    { language: 'en', scheme: 'light', width: 1440, height: 900 },
  ] as const),
)('in $language, $scheme, at $width, a model decides questions about an input, with probabilities and cost', async (look) => {
  const answerWith = (message: { content: string | null; refusal?: string }) =>
    stage.upstream.program(decider, {
      contentType: 'application/json',
      bytes: JSON.stringify({
        ...{ id: 'c', object: 'chat.completion', created: 1, model: decider },
        choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 200, completion_tokens: 20, total_tokens: 220 },
      }),
    })
  answerWith({ content: JSON.stringify({ q1: [0.75], q2: [3, 1], q3: [1, 3] }) })
  const { page, problems } = await stage.open('root', look)
  const say = words[look.language]
  await go(page, '/playground?mode=decisions')
  if (look.width < 900) await page.getByRole('button', { name: say.settings }).click()
  await choose(page, say.model, decider)
  if (look.width < 900) await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: say.decisionInput }).fill(complaint)
  const question = page.getByRole('textbox', { name: say.question, exact: true })
  await question.fill('Urgent 1')
  await page.getByRole('button', { name: say.questionAdd }).click()
  await question.nth(1).fill('Topic 2')
  await page.getByRole('combobox', { name: say.kind }).nth(1).click()
  await page.getByRole('option', { name: say.choice }).click()
  await page.getByRole('textbox', { name: say.options }).fill('bill: money\nother')
  await page.getByRole('button', { name: say.questionAdd }).click()
  await question.nth(2).fill('Anger 3')
  await page.getByRole('combobox', { name: say.kind }).nth(2).click()
  await page.getByRole('option', { name: say.score }).click()
  await page.getByRole('textbox', { name: say.levels }).fill('calm\nangry')
  await page.getByRole('button', { name: say.send, exact: true }).click()

  const decision = page.getByRole('article', { name: decider })
  await decision.getByText(say.cost).waitFor()
  for (const fact of [say.chosen, say.scored, say.confidence, say.written, '25%'])
    await decision.getByText(fact).first().waitFor()
  await expectFit(page, look.language, [complaint, 'Urgent 1', 'Topic 2', 'Anger 3', 'bill', 'other', 'money', 'calm', 'angry'])
  const sent = JSON.stringify(stage.upstream.journal.findLast(({ model }) => model === decider)?.json)
  for (const text of [complaint, 'Urgent 1', 'bill', 'money', 'angry']) expect(sent).toContain(text)

  answerWith({ content: null, refusal: 'I cannot judge people' })
  await page.getByRole('button', { name: say.send, exact: true }).click()
  await decision.getByText(say.declined).first().waitFor()
  expect(await decision.getByText(say.declined).count()).toBe(3)
  expect(problems).toEqual([])
})

it('an answer runs no scripts and loads no external content automatically', async () => {
  const { page } = await stage.open('root', { language: 'en' })
  const reached: string[] = []
  await page.route('https://canary.test/**', (route) => {
    reached.push(route.request().url())
    return route.fulfill({ contentType: 'image/png', body: Buffer.from(png) })
  })
  await go(page, '/playground')
  await choose(page, words.en.model, hostile)
  await ask(page, 'en', 'try it')
  const answer = page.getByRole('article', { name: hostile })
  await answer.getByRole('img', { name: 'held' }).waitFor()
  await answer.getByText(words.en.cost).waitFor()
  expect(await answer.locator('a[href^="javascript"], a[href^="data"], img[src*="svg"], script').count()).toBe(0)
  expect(await page.evaluate('window.hostile')).toBeUndefined()
  expect(reached).toEqual([])
  await answer.getByRole('button', { name: 'beacon' }).click()
  await answer.getByRole('img', { name: 'beacon' }).waitFor()
  expect(reached).toEqual([foreign])
})

/** Runs in a page: no other tab can write conversations while the page is open. */
function holdConversations(): Promise<void> {
  return new Promise((resolve) => {
    const opening = indexedDB.open('playground')
    opening.onsuccess = () => {
      const heads = opening.result.transaction(['heads', 'turns'], 'readwrite').objectStore('heads')
      const hold = () => {
        heads.count().onsuccess = hold
      }
      hold()
      resolve()
    }
  })
}

describe('conversations', () => {
  it('are stored in this browser, renamed, reopened and deleted', async () => {
    const { page, problems } = await stage.open('root', { language: 'en' })
    await go(page, '/playground')
    await choose(page, words.en.model, thinker)
    await ask(page, 'en', 'the first one')
    await page.getByText(words.en.cost).waitFor()
    await page.getByRole('button', { name: 'New conversation' }).click()
    await ask(page, 'en', 'the second one')
    await page.getByText(words.en.cost).waitFor()

    await page.reload()
    await page.locator('ol').getByText('the second one').waitFor()
    await page.getByText('History', { exact: true }).click()
    const list = page.getByRole('list', { name: 'History' })
    await list.getByText('the first one').click()
    await page.locator('ol').getByText('the first one').waitFor()
    await list.getByRole('button', { name: 'Rename: the first one' }).click()
    await list.getByRole('textbox', { name: 'Rename' }).fill('Kept for later')
    await page.keyboard.press('Enter')
    await list.getByText('Kept for later').waitFor()
    await expectFit(page, 'en')

    await list.getByRole('button', { name: 'Delete conversation: the second one' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete conversation' }).click()
    await list.getByText('the second one').waitFor({ state: 'detached' })
    await page.reload()
    await page.locator('ol').getByText('the first one').waitFor()
    await page.getByText('History', { exact: true }).click()
    await list.getByText('Kept for later').waitFor()

    // Another tab locks the browser's database: conversations that could not be deleted are shown.
    const other = await page.context().newPage()
    await go(other, '/about')
    await other.evaluate(holdConversations)
    await page.getByRole('button', { name: 'Clear all' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Clear all' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('Ask a model').waitFor()
    expect(await list.getByText('Kept for later').isVisible()).toBe(true)
    await other.close()
    await page.getByText('No conversations yet').waitFor()
    await page.reload()
    await page.getByText('Ask a model').waitFor()
    expect(problems).toEqual([])
  })

  it('continue in two tabs at the same time without losing any text', async () => {
    const { page, problems } = await stage.open('root', { language: 'en' })
    await go(page, '/playground')
    await choose(page, words.en.model, thinker)
    await page.getByRole('button', { name: 'New conversation' }).click()
    await ask(page, 'en', 'asked first')
    await page.getByText(words.en.cost).waitFor()

    const other = await page.context().newPage()
    await go(other, '/playground')
    await other.getByText('asked first').waitFor()
    await ask(page, 'en', 'asked here')
    await ask(other, 'en', 'asked there')
    const questions = (tab: Page) => tab.locator('ol').getByText(/^asked (first|here|there)$/)
    for (const tab of [page, other]) await expect.poll(() => questions(tab).count()).toBe(3)
    for (const tab of [page, other]) await expect.poll(() => tab.getByText(words.en.cost).count()).toBe(3)
    await page.reload()
    await expect.poll(() => questions(page).count()).toBe(3)
    await expect.poll(() => page.locator('ol').getByText('42', { exact: true }).count()).toBe(3)
    expect(problems).toEqual([])
  })

  it('go on after a reload, as the same call', async () => {
    const calls = () => stage.server.call<{ total: number }>(`GET /api/log/?type=2&model_name=${slow}`).then(({ total }) => total)
    const before = await calls()
    const { page, problems } = await stage.open('root', { language: 'en' })
    await go(page, '/playground')
    await choose(page, words.en.model, slow)
    await ask(page, 'en', 'a story to come back to')
    await page.getByText(/word5\b/).waitFor()
    await page.reload()
    const answer = page.getByRole('article', { name: slow, exact: true }).last()
    await answer.getByText(/word150\b/).waitFor()
    expect(await answer.textContent()).toMatch(/word1 word2 word3 .*word100 word101/)
    await page.getByRole('textbox', { name: words.en.input }).press('Escape')
    await answer.getByText('Stopped', { exact: false }).waitFor()
    await answer.getByText(words.en.cost).waitFor()
    expect(await calls()).toBe(before + 1)
    expect(problems).toEqual([])
  })

  it('are stopped by Escape, and send only the parameters that are switched on', async () => {
    const { page, problems } = await stage.open('root', { language: 'en' })
    await go(page, '/playground')
    await choose(page, words.en.model, slow)
    await page.getByRole('switch', { name: 'Temperature' }).click()
    await page.getByRole('switch', { name: 'Seed' }).click()
    await page.getByRole('textbox', { name: 'Seed' }).fill('7')
    await ask(page, 'en', 'a long story')
    await page.getByText(/word5\b/).waitFor()
    // Another tab shows the answer as being generated, and writes nothing itself.
    const other = await page.context().newPage()
    await go(other, '/playground')
    await other.getByText('being generated in another tab').waitFor()
    await other.locator('article[aria-busy=true]').waitFor()
    await page.keyboard.press('Escape')
    for (const tab of [page, other]) await tab.getByText('Stopped', { exact: false }).first().waitFor()
    await other.close()
    await page.getByText(words.en.cost).waitFor()
    const sent = stage.upstream.journal.findLast(({ model }) => model === slow)?.json
    expect(sent).toMatchObject({ seed: 7 })
    expect(sent).not.toHaveProperty('temperature')
    expect(sent).not.toHaveProperty('max_tokens')
    expect(problems).toEqual([])
  })
})

async function ask(page: Page, language: Language, question: string): Promise<void> {
  await page.getByRole('textbox', { name: words[language].input }).fill(question)
  await page.keyboard.press('Enter')
}

async function choose(page: Page, select: string, option: string): Promise<void> {
  const field: Locator = page.getByRole('combobox', { name: new RegExp(`^${select}(?: 1)?$`) })
  await field.click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

const words = inBothLanguages({
  model: ['模型', 'Model'],
  compare: ['添加模型对比', 'Compare with another model'],
  input: ['输入消息', 'Message'],
  pictures: ['待发送的图片', 'Images to send'],
  cost: [/花费 \$0\.\d+/, /cost \$0\.\d+/],
  tokens: [/提示 9 · 补全 7 tokens/, /9 prompt · 7 completion tokens/],
  code: ['复制为代码', 'Copy as code'],
  codeTitle: ['用代码发送当前请求', 'Send this request from code'],
  edit: ['编辑并重新发送', 'Edit and resend'],
  retry: ['重新回答', 'Regenerate'],
  settings: [/^(设置|gpt-)/, /^(Settings|gpt-)/],
  decisionInput: ['内容', 'Input'],
  question: ['问题', 'Question'],
  questionAdd: ['添加问题', 'Add question'],
  kind: ['种类', 'Kind'],
  choice: ['从选项中选择', 'A choice between options'],
  options: ['选项', 'Options'],
  send: ['发送', 'Send'],
  chosen: [/选择：bill/, /Choice: bill/],
  score: ['在等级上评分', 'A score on a scale'],
  levels: ['等级', 'Levels'],
  declined: ['模型拒绝回答此问题', 'The model declined this question'],
  scored: [/得分 0\.75/, /Score 0\.75/],
  confidence: [/置信度 75%/, /Confidence 75%/],
  written: [/概率由模型自己写出/, /has written the probabilities itself/],
})
