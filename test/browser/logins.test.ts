import { existsSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { periodAt, totpCode } from '../../src/server/lib/totp.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import { openPage, type PageSettings, sharedBrowser } from '../helpers/browser.ts'
import { type IdentityProviders, startIdentityProviders, telegramData } from '../helpers/identity-providers.ts'
import { expectFit, go, logIn, readMessage, settled, stepMs } from './stage.ts'

let server: TestServer
let browser: Browser
let peers: IdentityProviders
let aheadMs = 0
let home = ''
const now = () => Date.now() + aheadMs
const password = 'plain-user-1'
const botToken = '123456:bot-token'

beforeAll(async () => {
  if (!existsSync(new URL('../../dist/web/index.html', import.meta.url)))
    throw new Error('The console is not built: npm run build')
  peers = await startIdentityProviders(now)
  ;[server, browser] = await Promise.all([
    startServer('sqlite', { now, identityProviders: { endpoints: peers.addresses } }),
    sharedBrowser(),
  ])
  // Without https, browsers offer passkeys only to this name.
  home = server.url.replace('127.0.0.1', 'localhost')
  const options = {
    ServerAddress: home,
    GitHubClientId: 'github-client',
    GitHubClientSecret: 'secret',
    GitHubOAuthEnabled: 'true',
    WeChatServerAddress: peers.url,
    WeChatServerToken: 'wechat-secret',
    WeChatAuthEnabled: 'true',
    TelegramBotToken: botToken,
    TelegramBotName: 'site_bot',
    TelegramOAuthEnabled: 'true',
  }
  for (const [key, value] of Object.entries(options)) await server.call('PUT /api/option/', { key, value })
  for (const username of ['phone', 'finger', 'chat']) await server.call('POST /api/user/', { username, password })
})
afterAll(async () => {
  await server.stop()
  await peers.stop()
})

async function open(settings: PageSettings): Promise<{ page: Page; problems: string[] }> {
  const { page, problems, close } = await openPage(browser, { baseUrl: home, ...settings })
  page.setDefaultTimeout(stepMs)
  onTestFinished(close)
  return { page, problems }
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

it('a second factor is set up with a QR code and asked for at the next login', async () => {
  const { page, problems } = await open({ language: 'zh' })
  await logIn(page, { language: 'zh', username: 'phone', password })
  await go(page, '/setting')
  await page.getByRole('region', { name: '两步验证' }).getByRole('button', { name: '开启' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('img', { name: '两步验证密钥的二维码' }).waitFor()
  const secret = (await dialog.locator('code').innerText()).replaceAll(' ', '')
  await expectFit(page, 'zh', ['Google Authenticator', secret.match(/.{1,4}/g)?.join(' ') ?? ''])
  await dialog.getByRole('textbox').fill(totpCode(secret, periodAt(now() / 1000)))
  await dialog.getByRole('button', { name: '验证并开启' }).click()
  await dialog.getByText('只显示这一次').waitFor()
  const codes = await dialog.locator('li').allInnerTexts()
  expect(codes).toHaveLength(10)
  await expectFit(page, 'zh', codes)
  await button(page, '我已保存').click()
  await page.getByText('剩余 10 个备用验证码').waitFor()

  const next = await open({ language: 'en', width: 390 })
  await go(next.page, '/login')
  await next.page.getByRole('textbox', { name: 'Username or email' }).fill('phone')
  await next.page.getByRole('textbox', { name: 'Password' }).fill(password)
  await next.page.getByRole('main').getByRole('button', { name: 'Log in', exact: true }).click()
  await next.page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor()
  await expectFit(next.page, 'en')
  await next.page.getByRole('textbox', { name: 'Code' }).fill(codes[0] ?? '')
  await button(next.page, 'Verify and log in').click()
  await next.page.waitForURL('**/token')
  expect([...problems, ...next.problems]).toEqual([])
})

it('a passkey is added, logs in without a password, and authenticates before it is removed', async () => {
  const { page, problems } = await open({ language: 'en' })
  const devices = await page.context().newCDPSession(page)
  await devices.send('WebAuthn.enable')
  await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await logIn(page, { language: 'en', username: 'finger', password })
  await go(page, '/setting')
  const card = page.getByRole('region', { name: 'Passkeys' })
  await card.getByRole('button', { name: 'Add' }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('My laptop')
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
  await readMessage(page, 'en', 'Passkey added')
  await card.getByText('never used').waitFor()
  await expectFit(page, 'en', ['finger', 'My laptop'])

  await page.context().clearCookies()
  await page.evaluate(() => localStorage.removeItem('user'))
  await go(page, '/login')
  await button(page, 'Log in with a passkey').click()
  await readMessage(page, 'en', 'Logged in')
  await page.waitForURL('**/token')
  expect(await page.evaluate(() => JSON.parse(localStorage.getItem('user') ?? '{}').username)).toBe('finger')

  aheadMs += 11 * 60_000
  await go(page, '/setting')
  await card.getByText('Last used').waitFor()
  await card.getByRole('button', { name: 'Delete: My laptop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await button(page, 'Use a passkey').click()
  await readMessage(page, 'en', 'Passkey deleted')
  await card.getByText('No passkeys yet').waitFor()
  expect(problems).toEqual([])
})

it('an external identity logs in by a popup window, is shown as bound, and is the last login method', async () => {
  peers.visitor = { id: 583231, login: 'octocat', name: 'Octo Cat' }
  const { page, problems } = await open({ language: 'zh' })
  await go(page, '/login')
  await expectFit(page, 'zh')
  await button(page, '使用微信登录').click()
  await page.getByRole('dialog').getByRole('textbox', { name: '验证码' }).waitFor()
  await expectFit(page, 'zh')
  await page.keyboard.press('Escape')

  const popup = page.waitForEvent('popup')
  await button(page, '使用 GitHub 登录').click()
  const opened = await popup
  await opened.waitForURL('**/token')
  await page.waitForURL('**/token')
  await go(page, '/setting')
  const card = page.getByRole('region', { name: '第三方账户' })
  await card.getByText('583231').waitFor()
  await page.getByRole('region', { name: '修改密码' }).getByRole('button', { name: '设置密码' }).waitFor()
  await expectFit(page, 'zh', ['Octo Cat'])
  await card.getByRole('button', { name: '解绑: GitHub' }).click()
  await page.getByRole('dialog').getByRole('button', { name: '解绑' }).click()
  await readMessage(page, 'zh', '这是你最后的登录方式')
  expect(problems).toEqual([])
})

/** Replaces the script of the widget by a button that redirects with data signed as Telegram does. */
async function fakeTelegram(page: Page): Promise<void> {
  let drawn = 0
  await page.context().route('https://telegram.org/**', async (route) => {
    const auth_date = String(Math.floor(now() / 1000))
    const data = telegramData(botToken, { id: '4242', first_name: `Chat ${++drawn}`, auth_date })
    const body = `const { telegramLogin, authUrl } = document.currentScript.dataset
      const button = document.createElement('button')
      button.textContent = 'Log in as ' + telegramLogin
      button.onclick = () => { location.href = authUrl + '&' + ${JSON.stringify(new URLSearchParams(data).toString())} }
      document.currentScript.after(button)`
    await route.fulfill({ contentType: 'text/javascript', body })
  })
}

it('Telegram is bound and logs in by its own button, and its data is removed from the address', async () => {
  const { page, problems } = await open({ language: 'en' })
  await fakeTelegram(page)
  await logIn(page, { language: 'en', username: 'chat', password })
  await go(page, '/setting')
  await button(page, 'Link: Telegram').click()
  await button(page, 'Log in as site_bot').click()
  await readMessage(page, 'en', 'Account linked')
  await page.waitForURL('**/setting')
  await page.getByRole('region', { name: 'Linked accounts' }).getByText('4242').waitFor()

  await page.context().clearCookies()
  await page.evaluate(() => localStorage.removeItem('user'))
  await go(page, '/login')
  await button(page, 'Continue with Telegram').click()
  await button(page, 'Log in as site_bot').click()
  await page.waitForURL('**/token')
  expect(await page.evaluate(() => JSON.parse(localStorage.getItem('user') ?? '{}').username)).toBe('chat')
  await settled(page)
  // Later requests of the page would be refused without the session.
  await page.waitForLoadState('networkidle')

  // Another user's data in a link are invalid without the state of this browser.
  await page.context().clearCookies()
  await page.evaluate(() => localStorage.removeItem('user'))
  const link = telegramData(botToken, { id: '4242', auth_date: String(Math.floor(now() / 1000)) })
  await page.goto(`/oauth/telegram?${new URLSearchParams(link)}`)
  await readMessage(page, 'en', 'The login request is invalid or has expired')
  await page.waitForURL('**/login')
  expect(page.url()).not.toContain('hash=')
  expect(problems).toEqual([])
})
