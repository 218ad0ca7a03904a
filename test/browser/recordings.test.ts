import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addChannel } from '../helpers/seed.ts'
import { eventually } from '../relay/stage.ts'
import { expectFit, go, type Language, looks, openStage, readMessage, type Stage } from './stage.ts'

/**
 * Recorded calls in the console: started from a menu, marked in the lists, opened from the log, copied, and run again in the
 * playground.
 */
const question = 'one two three four'
let stage: Stage
let id = ''
const data = ['user', 'laptop', 'gpt-4o-mini', 'first-channel', 'gpt-4o', 'default']

beforeAll(async () => {
  stage = await openStage()
  const { server, upstream } = stage
  await addChannel(server, { url: upstream.url, models: 'gpt-4o-mini', name: 'first-channel' })
  const user = await server.app.db.selectFrom('users').select('id').where('username', '=', 'user').executeTakeFirstOrThrow()
  await server.call(`POST /api/user/${user.id}/quota`, { change: 500_000, reason: 'test' })
  const cookie = `session=${await server.app.sessions.create({ userId: user.id, address: '127.0.0.1', userAgent: 'test' })}`
  const headers = { cookie, 'new-api-user': String(user.id), 'content-type': 'application/json' }
  const post = (path: string, body: unknown, method = 'POST', more = {}) =>
    fetch(server.url + path, { method, headers: { ...headers, ...more }, body: JSON.stringify(body) })
  const made = (await (await post('/api/token/', { name: 'laptop', unlimited_quota: true })).json()) as {
    data: { id: number; key: string }
  }
  const until = Math.floor(Date.now() / 1000) + 3600
  await post(`/api/token/${made.data.id}/recording`, { until }, 'PUT')
  await server.app.recordings.rules.refresh()
  const answer = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${made.data.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      stream: true,
      temperature: 0.3,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Good day' },
        { role: 'user', content: question },
      ],
    }),
  })
  await answer.text()
  id = answer.headers.get('x-request-id') ?? ''
  await eventually('the call is recorded', async () => {
    await server.app.recordings.flush()
    return (await server.app.recordings.recorded([id])).size === 1
  })
})
afterAll(() => stage.stop())

const shot = async (page: Page, name: string) => {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` })
}

const words = {
  zh: { open: '打开记录', record: '记录调用…', start: '开始记录', started: '已开始记录', more: /^更多/, recorded: '记录中' },
  en: {
    open: 'Open recording',
    record: 'Record calls…',
    start: 'Start recording',
    started: 'Recording started',
    more: /^More/,
    recorded: 'Recording',
  },
} as const

async function openRecording(page: Page, language: Language): Promise<void> {
  await go(page, `/log?from=0&request_id=${id}`)
  await page.getByRole('button', { name: words[language].open }).click()
  await page.getByRole('dialog').getByText(question).first().waitFor()
}

it('an owner sees only the side of the caller, copies it as curl, and runs it again in the playground', async () => {
  const { page, problems } = await stage.open('user', { language: 'en', width: 1440 })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await openRecording(page, 'en')
  const dialog = page.getByRole('dialog')
  expect(await dialog.innerText()).not.toContain('Channel')
  await expectFit(page, 'en', data)
  await shot(page, 'owner-en-1440')
  await dialog.getByRole('button', { name: 'Copy as curl' }).click()
  await readMessage(page, 'en', '$SLUICE_KEY')
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toContain('/v1/chat/completions')
  expect(copied).toContain('Bearer $SLUICE_KEY')

  await dialog.getByRole('button', { name: 'Run again in the playground' }).click()
  await page.waitForURL('**/playground')
  await page.getByText('Good day').waitFor()
  expect(await page.locator('#playground-input').inputValue()).toBe(question)
  await page.locator('#playground-input').press('Enter')
  await expect
    .poll(() => JSON.parse(String(stage.upstream.journal.at(-1)?.body)))
    .toMatchObject({
      model: 'gpt-4o-mini',
      temperature: 0.3,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Good day' },
        { role: 'user', content: question },
      ],
    })
  await shot(page, 'again-en-1440')
  expect(problems).toEqual([])
})

it.each(
  looks([
    ['zh', 'light', 390],
    ['zh', 'dark', 1440],
    ['en', 'light', 390],
    ['en', 'dark', 1440],
  ] as const),
)('a super admin sees both sides, and records a user (%s, %s, %i)', async (language, scheme, width) => {
  const { page, problems } = await stage.open('root', { language, scheme, width })
  await openRecording(page, language)
  await page.getByRole('tab').nth(1).click()
  await page.getByRole('dialog').locator('summary').first().click()
  await page.getByRole('dialog').getByText('[redacted]').first().waitFor()
  await expectFit(page, language, data)
  await shot(page, `both-${language}-${scheme}-${width}`)

  await go(page, '/user?keyword=user')
  await page.getByRole('button', { name: words[language].more }).first().click()
  await page.getByRole('menuitem', { name: words[language].record }).click()
  const dialog = page.getByRole('dialog')
  await expectFit(page, language, data)
  await shot(page, `record-${language}-${scheme}-${width}`)
  await dialog.getByRole('button').last().click()
  await readMessage(page, language, words[language].started)
  await page.getByText(words[language].recorded, { exact: true }).first().waitFor()
  await shot(page, `users-${language}-${scheme}-${width}`)

  await go(page, '/log')
  await page.getByRole('button', { name: language === 'zh' ? '调用记录' : 'Recordings of calls' }).click()
  await page.getByRole('dialog').getByText('laptop').waitFor()
  await expectFit(page, language, data)
  await shot(page, `rules-${language}-${scheme}-${width}`)

  const own = await stage.open('user', { language, scheme, width })
  await go(own.page, '/token')
  await own.page.getByText(words[language].recorded, { exact: true }).first().waitFor()
  await expectFit(own.page, language, data)
  await shot(own.page, `tokens-${language}-${scheme}-${width}`)
  expect([...problems, ...own.problems]).toEqual([])
})
