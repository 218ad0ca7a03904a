import { afterAll, beforeAll, expect, it } from 'vitest'
import { addToken } from '../helpers/seed.ts'
import { expectFit, go, inBothLanguages, looks, openStage, readMessage, type Stage, serveChatPages } from './stage.ts'

/** External chat pages in a frame, and how they are opened. */
let stage: Stage
let key: string
beforeAll(async () => {
  stage = await openStage()
  const { server } = stage
  key = (await addToken(server, { name: 'the first' })).key
  // The newest token is the first in the list, and disabled.
  const { id } = await server.call<{ id: number }>('POST /api/token/', { name: 'switched off', unlimited_quota: true })
  await server.call('PUT /api/token/?status_only=true', { id, status: 2 })
})
afterAll(() => stage.stop())

const words = inBothLanguages({
  chat: ['聊天', 'Chat'],
  uses: ['使用令牌“the first”', 'Uses the token “the first”'],
  program: ['打开应用', 'Open app'],
  broken: ['聊天链接配置错误，请联系管理员', 'The chat link is misconfigured. Contact the admin.'],
  none: ['无聊天链接，请联系管理员配置', 'No chat link is configured. Contact the admin.'],
  noToken: ['没有可用的令牌', 'No enabled token'],
})

it.each(
  looks([
    { language: 'zh', scheme: 'light' },
    { language: 'en', scheme: 'dark' },
  ] as const),
)('in $language a chat page is shown in a frame with the first enabled token', async ({ language, scheme }) => {
  const { page, problems } = await stage.open('root', { language, scheme })
  await serveChatPages(page)
  const say = words[language]
  const names = ['NextChat', 'Lobe Chat', 'AI as Workspace', 'OpenCat', 'the first']
  await go(page, '/')
  await page.getByRole('button', { name: say.chat, exact: true }).click()
  await page.getByRole('link', { name: 'NextChat' }).click()
  await page.waitForURL('**/chat/0')
  const shown = await page.frameLocator('iframe').locator('pre').textContent()
  expect(shown).toBe(`https://app.nextchat.dev/#/?settings={"key":"${key}","url":"${new URL(page.url()).origin}"}`)
  const rights = (await page.locator('iframe').getAttribute('sandbox')) ?? ''
  expect(rights).toContain('allow-scripts')
  expect(rights).not.toContain('allow-top-navigation')
  await page.getByText(say.uses).waitFor()
  await expectFit(page, language, names)

  // The fourth link opens an application, not a page.
  await page.getByRole('link', { name: 'AMA' }).click()
  await page.getByRole('button', { name: say.program }).waitFor()
  expect(await page.locator('iframe').count()).toBe(0)
  await go(page, '/chat/99')
  await page.getByText(say.broken).waitFor()
  await expectFit(page, language, names)
  await page.goto('/chat2link')
  await page.waitForURL(/^https:\/\/app\.nextchat\.dev\//)
  expect(decodeURIComponent(page.url())).toContain(`"key":"${key}"`)
  expect(problems).toEqual([])
})

it('without an enabled token the screen shows a warning, and redirects to the tokens', async () => {
  for (const [who, end] of [
    ['user', '**/token'],
    // The token page requires a login.
    ['nobody', '**/login'],
  ] as const) {
    const { page, problems } = await stage.open(who, { language: 'en' })
    await page.goto('/chat/0')
    await page.getByText(words.en.noToken).first().waitFor()
    await page.waitForURL(end)
    expect(problems).toEqual([])
  }
})

it('a chat page is added as a row that shows its target, at the position of the row', async () => {
  const { page, problems } = await stage.open('admin', { language: 'en' })
  await go(page, '/setting?tab=operation#chats')
  const card = page.locator('#chats')
  await card.getByRole('button', { name: 'Add a chat page' }).click()
  const at = '(no. 6)'
  const link = card.getByRole('textbox', { name: `Link ${at}` })
  await link.fill('chat')
  await card.getByText('must be a link').waitFor()
  await card.getByRole('textbox', { name: `Name ${at}` }).fill('Ours')
  await link.fill('https://app.nextchat.dev/?k=')
  await card.getByText('it opens without a token').waitFor()
  await card.getByRole('button', { name: `Insert {key} ${at}` }).click()
  await card.getByText('https://app.nextchat.dev/?k=sk-…').waitFor()
  await card.getByRole('button', { name: `Move up ${at}` }).click()
  await page.getByRole('region', { name: 'Unsaved changes' }).getByRole('button', { name: 'Save' }).click()
  await readMessage(page, 'en', 'Saved')
  const { chats } = await stage.server.call<{ chats: Record<string, string>[] }>('GET /api/status')
  expect(chats.slice(4)).toEqual([
    { Ours: 'https://app.nextchat.dev/?k={key}' },
    { OpenCat: 'opencat://team/join?domain={address}&token={key}' },
  ])
  expect(problems).toEqual([])
})

it('without links the screen refers to the admin, and the single link of older settings needs no list', async () => {
  const { call } = stage.server
  const { page } = await stage.open('root', { language: 'en' })
  await serveChatPages(page)
  await call('PUT /api/option/', { key: 'Chats', value: '[]' })
  for (const path of ['/chat', '/chat/0', '/chat2link']) {
    await go(page, path)
    await page.getByText(words.en.none).waitFor()
  }
  expect(await page.getByRole('navigation', { name: 'Main navigation' }).getByText('Chat', { exact: true }).count()).toBe(0)
  await call('PUT /api/option/', { key: 'ChatLink', value: 'https://app.nextchat.dev' })
  await go(page, '/')
  await page.getByRole('link', { name: 'Chat', exact: true }).click()
  await page.waitForURL('**/chat')
  expect(await page.frameLocator('iframe').locator('pre').textContent()).toContain(`/#/?settings={"key":"${key}"`)
})
