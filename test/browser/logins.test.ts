import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { periodAt, totpCode } from '../../src/server/base/lib/secrets/totp.ts'
import { mailOptions } from '../helpers/accounts.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import { openPage, type PageSettings, sharedBrowser } from '../helpers/browser.ts'
import { type IdentityProviders, startIdentityProviders, telegramData } from '../helpers/identity-providers.ts'
import { setOptions } from '../helpers/seed.ts'
import { type SmtpServer, startSmtpServer } from '../helpers/smtp-server.ts'
import { expectFit, go, logIn, readMessage, settled, stepMs } from './stage.ts'

let server: TestServer
let browser: Browser
let peers: IdentityProviders
let smtp: SmtpServer
let aheadMs = 0
let home = ''
const now = () => Date.now() + aheadMs
const password = 'plain-user-1'
const botToken = '123456:bot-token'

beforeAll(async () => {
  if (!existsSync(new URL('../../dist/web/index.html', import.meta.url)))
    throw new Error('The console is not built: npm run build')
  ;[peers, smtp] = await Promise.all([startIdentityProviders(now), startSmtpServer({ security: 'none' })])
  ;[server, browser] = await Promise.all([
    startServer('sqlite', { now, identityProviders: { endpoints: peers.addresses } }),
    sharedBrowser(),
  ])
  // Without https, browsers offer passkeys only to this name.
  home = server.url.replace('127.0.0.1', 'localhost')
  const options = {
    ...mailOptions(smtp),
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
  await setOptions(server, options)
  for (const username of ['phone', 'finger', 'copied', 'chat']) await server.call('POST /api/user/', { username, password })
  await server.app.db.updateTable('users').set({ email: 'copied@example.com' }).where('username', '=', 'copied').execute()
})
afterAll(async () => {
  await server.stop()
  await smtp.stop()
  await peers.stop()
})

async function open(settings: PageSettings): Promise<{ page: Page; problems: string[] }> {
  const { page, problems, close } = await openPage(browser, { baseUrl: home, ...settings })
  page.setDefaultTimeout(stepMs)
  onTestFinished(close)
  return { page, problems }
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

/** A device of the page, which confirms by itself that its owner is present. Returns its id. */
async function addAuthenticator(devices: CDPSession): Promise<string> {
  await devices.send('WebAuthn.enable')
  const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return authenticatorId
}

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
  await addAuthenticator(await page.context().newCDPSession(page))
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

it('[T258] a passkey of a real browser: no challenge serves twice, a copy is refused and its owner told, no other origin or removed key gets in', async () => {
  const { page } = await open({ language: 'en' })
  const devices = await page.context().newCDPSession(page)
  const authenticatorId = await addAuthenticator(devices)
  await logIn(page, { language: 'en', username: 'copied', password })
  const sent: { path: string; body: { answer: object; name?: string } }[] = []
  page.on('request', (request) => {
    const body = request.method() === 'POST' ? request.postDataJSON() : undefined
    if (body?.answer) sent.push({ path: new URL(request.url()).pathname, body })
  })
  const last = () => sent.at(-1) ?? { path: '', body: { answer: {} } }
  /** Sends a body again, with the cookies of the page. */
  const repeat = ({ path, body } = last()) =>
    page.evaluate(
      async ([to, text]) => {
        const { id = '' } = JSON.parse(localStorage.getItem('user') ?? '{}')
        const headers = { 'content-type': 'application/json', 'new-api-user': String(id) }
        return (await fetch(to, { method: 'POST', headers, body: text })).json()
      },
      [path, JSON.stringify(body)] as const,
    )
  const refused = expect.objectContaining({ success: false, code: 'passkey_refused' })
  const logOut = async () => {
    await page.context().clearCookies()
    await page.evaluate(() => localStorage.removeItem('user'))
    await go(page, '/login')
  }
  const logInByPasskey = async () => {
    await logOut()
    await button(page, 'Log in with a passkey').click()
  }

  await go(page, '/setting')
  const card = page.getByRole('region', { name: 'Passkeys' })
  await card.getByRole('button', { name: 'Add' }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Stolen')
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
  await readMessage(page, 'en', 'Passkey added')
  expect(await repeat()).toEqual(refused)

  const [copy] = (await devices.send('WebAuthn.getCredentials', { authenticatorId })).credentials
  await logInByPasskey()
  await page.waitForURL('**/token')
  expect(await repeat()).toEqual(refused)

  // A page at another port, for which browsers use the same passkeys, and whose attacker sends the answer here.
  const other = await anotherOrigin()
  await logOut()
  const challenge = await page.evaluate(() => fetch('/api/user/login/passkey/options', { method: 'POST' }).then((r) => r.json()))
  const evil = await page.context().newPage()
  await evil.goto(other)
  const evilDevices = await page.context().newCDPSession(evil)
  const evilId = await addAuthenticator(evilDevices)
  if (copy)
    await evilDevices.send('WebAuthn.addCredential', {
      authenticatorId: evilId,
      credential: { ...copy, rpId: 'localhost', signCount: 900 },
    })
  const answer = await evil.evaluate(async (options) => {
    const credential = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
    return (credential as PublicKeyCredential).toJSON()
  }, challenge.data)
  await evil.close()
  expect(JSON.parse(Buffer.from(answer.response.clientDataJSON, 'base64url').toString()).origin).toBe(other)
  expect(await repeat({ path: '/api/user/login/passkey', body: { answer } })).toEqual(refused)

  // A copy made before the login has the counter of then.
  await devices.send('WebAuthn.clearCredentials', { authenticatorId })
  if (copy) await devices.send('WebAuthn.addCredential', { authenticatorId, credential: copy })
  await logInByPasskey()
  const mail = await smtp.mailTo('copied@example.com', 2)
  expect(mail.text).toContain('a use of the passkey “Stolen” was refused, because it may have been copied')
  const rows = await server.call<{ items: { content: string }[] }>('GET /api/log/?username=copied&type=4')
  expect(rows.items.map(({ content }) => content)).toContainEqual(expect.stringContaining('Stolen may have been copied'))

  // The copy counts on: once it is ahead, nothing tells it apart. The owner removes the key.
  await logIn(page, { language: 'en', username: 'copied', password })
  await go(page, '/setting')
  await card.getByRole('button', { name: 'Delete: Stolen' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await readMessage(page, 'en', 'Passkey deleted')
  const count = sent.length
  await logInByPasskey()
  await expect.poll(() => sent.length).toBeGreaterThan(count)
  expect(await repeat()).toEqual(refused)
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
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

/** A page of another server under the name of this one. Returns its origin. */
async function anotherOrigin(): Promise<string> {
  const site = createServer((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>evil'))
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    site.closeAllConnections()
    site.close()
  })
  // It listens on a port, not on a pipe.
  return `http://localhost:${(site.address() as AddressInfo).port}`
}

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
