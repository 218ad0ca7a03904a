import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { pages } from '../../src/contract/pages.ts'
import { rootPassword, startServer, type TestServer } from '../helpers/app.ts'
import { openPage, sharedBrowser } from '../helpers/browser.ts'
import { addChannel, addToken } from '../helpers/seed.ts'
import { type FakeUpstream, startFakeUpstream } from '../helpers/upstream.ts'
import { go, readMessage, settled, stepMs } from './stage.ts'

/** The console of a site below a path of its host: BASE_PATH. */

const model = 'gpt-4o-mini'
/** Pages that lead elsewhere at once, or show nothing without a link from elsewhere. */
const elsewhere: readonly string[] = ['/login', '/register', '/sso', '/reset', '/user/reset', '/chat', '/chat2link']

let server: TestServer
let upstream: FakeUpstream
let channel: number
beforeAll(async () => {
  upstream = await startFakeUpstream()
  server = await startServer('sqlite', { env: { BASE_PATH: '/tools/sluice' } })
  channel = await addChannel(server, { url: upstream.url, models: model })
  await addToken(server)
})
afterAll(async () => {
  await server?.stop()
  await upstream?.stop()
})

it('login, every screen, links, a reload of a deep link, the playground and the way out work, and nothing outside is asked for', async () => {
  const { origin } = new URL(server.url)
  const { page, problems, close } = await openPage(await sharedBrowser(), { language: 'en' })
  onTestFinished(close)
  page.setDefaultTimeout(stepMs)
  // What the console stores has the base path in its name, because all sites of a host share it.
  await page.addInitScript(() => localStorage.setItem('/tools/sluice i18nextLng', 'en'))
  const outside: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(`${server.url}/`) && /^https?:/.test(request.url())) outside.push(request.url())
  })

  await page.goto(`${origin}/`)
  expect(page.url()).toBe(`${server.url}/`)
  expect(outside.splice(0)).toEqual([`${origin}/`])
  await page.getByText(`${server.url}/v1`).waitFor()
  await page.getByRole('link', { name: 'Log in' }).first().click()
  await page.waitForURL(`${server.url}/login`)
  await page.getByRole('textbox', { name: 'Username or email' }).fill('root')
  await page.getByRole('textbox', { name: 'Password' }).fill(rootPassword)
  await page.getByRole('main').getByRole('button', { name: 'Log in', exact: true }).click()
  await readMessage(page, 'en', 'Logged in')
  await page.waitForURL(`${server.url}/token`)

  for (const path of pages) {
    if (path.includes('$') || path.startsWith('/oauth/') || elsewhere.includes(path)) continue
    await go(page, server.url + path)
    expect(page.url(), path).toBe(server.url + path)
    expect(await page.getByText('Page not found').count(), path).toBe(0)
  }

  await go(page, `${server.url}/channel`)
  await page.getByRole('link', { name: 'Logs' }).first().click()
  await page.waitForURL(`${server.url}/log`)
  await go(page, `${server.url}/channel/edit/${channel}`)
  const form = page.getByRole('dialog')
  await form.getByRole('textbox', { name: 'Name' }).first().waitFor()
  await page.reload()
  await form.getByRole('textbox', { name: 'Name' }).first().waitFor()
  expect(page.url()).toBe(`${server.url}/channel/edit/${channel}`)

  // A code that no provider has given: the callback clears it from the address, and goes on.
  await page.goto(`${server.url}/oauth/github?code=one&state=two`)
  await page.waitForURL(`${server.url}/setting`)

  await go(page, `${server.url}/connect`)
  await page.getByRole('region', { name: 'First request' }).getByRole('button', { name: 'Send request' }).click()
  await page.getByRole('region', { name: 'First request' }).getByText('You said').waitFor()
  await page.locator('pre').filter({ hasText: server.url }).first().waitFor()

  await go(page, `${server.url}/playground`)
  await page.getByRole('combobox', { name: /^Model/ }).click()
  await page.getByRole('option', { name: model, exact: true }).click()
  await page.getByRole('textbox', { name: 'Message' }).fill('one two three')
  await page.keyboard.press('Enter')
  await page.getByRole('article', { name: model }).getByText('You said: one two three').waitFor()

  const stored = await page.evaluate(async () => [
    ...Object.keys(localStorage).filter((name) => !name.startsWith('mantine') && name !== 'i18nextLng'),
    ...(await indexedDB.databases()).map(({ name = '' }) => name),
  ])
  expect(stored).not.toEqual([])
  expect(stored.filter((name) => !name.startsWith('/tools/sluice '))).toEqual([])

  await page.getByRole('button', { name: 'root' }).first().click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await page.waitForURL(`${server.url}/login`)
  await go(page, `${server.url}/token`)
  await page.waitForURL(`${server.url}/login`)
  await settled(page)
  expect(await page.context().cookies()).toEqual([])
  expect(outside).toEqual([])
  expect(problems).toEqual([])
})
