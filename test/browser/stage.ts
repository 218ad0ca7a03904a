import { existsSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { role } from '../../src/contract/roles.ts'
import type { Env } from '../../src/server/base/env.ts'
import { signIn } from '../../src/server/people/accounts/sign-in.ts'
import { createUser } from '../../src/server/people/accounts/users.ts'
import { rootPassword, type ServerSettings, startServer, type TestServer } from '../helpers/app.ts'
import {
  launchBrowser,
  openPage,
  PagePool,
  type PageSettings,
  seriousViolations,
  sharedBrowser,
  unoptimized,
} from '../helpers/browser.ts'
import { type FakeUpstream, startFakeUpstream } from '../helpers/upstream.ts'
import { strayWords } from './words.ts'

export type Language = NonNullable<PageSettings['language']>
/** How long one step on a page may take, on a machine that is busy with other work. */
/** Words in both languages, from pairs as the screens have them: Chinese, then English. */
export function inBothLanguages<const Pairs extends Readonly<Record<string, readonly [zh: unknown, en: unknown]>>>(
  pairs: Pairs,
): Readonly<Record<Language, { readonly [Name in keyof Pairs]: Pairs[Name][number] }>> {
  const words = (side: 0 | 1) => Object.fromEntries(Object.entries(pairs).map(([name, pair]) => [name, pair[side]]))
  // Each name has one side of its pair.
  return { zh: words(0), en: words(1) } as never
}

export const stepMs = 60_000
/** The heavy run repeats journeys in every language, theme and width; the ordinary run in the most different ones. */
export const everyLook = process.env.EVERY_LOOK === '1'
/** The looks of a journey: all in the heavy run, the first in the ordinary one. Each file begins with a different look. */
export const looks = <Look>(all: readonly Look[]): readonly Look[] => (everyLook ? all : all.slice(0, 1))

/** The chat pages of the default settings: external sites, replaced here by a page that shows its own address. */
export const chatPages = /^https:\/\/(?:app\.nextchat\.dev|chat-preview\.lobehub\.com|aiaw\.app)\//
const chatPage = `<!doctype html><html lang="en"><title>Chat</title><main><h1>Elsewhere</h1><pre></pre></main>
<script>document.querySelector('pre').textContent = decodeURIComponent(location.href)</script></html>`

/** Only for tests that open them: a browser with request interception reloads every script with every page. */
export const serveChatPages = (page: Page) =>
  page.route(chatPages, (route) => route.fulfill({ contentType: 'text/html', body: chatPage }))

export type Who = 'nobody' | 'user' | 'admin' | 'root'

export const userPassword = 'plain-user-1'

/**
 * The resources shared by the tests of one file: a whole server with the built console, a simulated provider, a root, a user and
 * an admin, and pages of a browser.
 */
export interface Stage {
  readonly server: TestServer
  readonly upstream: FakeUpstream
  /**
   * A separate page for the calling test; `problems` are the errors on it so far. With `isOwn` it is not used again: for a test that replaces scripts or the
   * clock of its page.
   */
  open(who: Who, settings?: PageSettings & { isOwn?: boolean }): Promise<{ page: Page; problems: string[] }>
  stop(): Promise<void>
}

/** The pages of this worker's last stage: the next one takes over its port, and with it the pages. */
let lastPool: PagePool | undefined

/** With `flags` the stage has a browser of its own; `env` is that of the server. */
export async function openStage({
  flags,
  env = {},
  upstream: reached,
}: Pick<ServerSettings, 'upstream'> & { flags?: readonly string[]; env?: Partial<Env> } = {}): Promise<Stage> {
  if (!existsSync(new URL('../../dist/web/index.html', import.meta.url)))
    throw new Error('The console is not built. Run the tests with `npm test`, or first: npm run build')
  const browser = await (flags ? launchBrowser([unoptimized, ...flags]) : sharedBrowser())
  const known = (await lastPool?.isUsableIn(browser)) ? lastPool : undefined
  const port = known ? Number(new URL(known.baseUrl).port) : 0
  const [server, upstream] = await Promise.all([
    startServer('sqlite', { env: { PORT: port, ...env }, ...(reached ? { upstream: reached } : {}) }),
    startFakeUpstream(),
  ])
  await addUser(server, 'user')
  await addUser(server, 'admin', role.admin)
  const storages: Partial<Record<Who, PageSettings['storage']>> = {
    root: await storageOf(server, 'root', rootPassword),
    user: await storageOf(server, 'user', userPassword),
    admin: await storageOf(server, 'admin', userPassword),
  }
  const pool = known ?? new PagePool(browser, server.url)
  if (!flags) lastPool = pool
  return {
    server,
    upstream,
    async open(who, { isOwn = false, baseUrl, ...settings } = {}) {
      const look = { storage: storages[who], ...settings }
      const { page, problems, close } =
        isOwn || baseUrl ? await openPage(browser, { baseUrl: baseUrl ?? server.url, ...look }) : await pool.open(look)
      page.setDefaultTimeout(stepMs)
      onTestFinished(close)
      return { page, problems }
    },
    async stop() {
      if (flags) await browser.close()
      await server.stop()
      await upstream.stop()
    },
  }
}

/** Adds a user as the product does. */
async function addUser({ app }: TestServer, username: string, level: number = role.ordinary): Promise<void> {
  const password_hash = await app.passwords.hash(userPassword)
  const user = { username, displayName: '', password_hash, role: level, at: app.now() }
  await app.db.transaction().execute((within) => createUser(within, user))
}

/** The browser storage of a logged-in user. */
async function storageOf({ app, url }: TestServer, username: string, password: string): Promise<PageSettings['storage']> {
  const { token, user } = await signIn(app, { username, password, address: '127.0.0.1', userAgent: 'test' })
  const cookie = { name: 'session', value: token, domain: '127.0.0.1', path: '/', expires: -1, httpOnly: true, secure: false }
  return {
    cookies: [{ ...cookie, sameSite: 'Lax' }],
    origins: [{ origin: url, localStorage: [{ name: 'user', value: JSON.stringify(user) }] }],
  }
}

export async function go(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await settled(page)
}

const closeMessage = { zh: '关闭此消息', en: 'Close this message' } as const

/** Waits for a short message, and closes it. */
export async function readMessage(page: Page, language: Language, text: string | RegExp): Promise<void> {
  const close = page.getByRole('button', { name: closeMessage[language] })
  const message = page.locator('[role=status], [role=alert]').filter({ hasText: text, has: close })
  await message.getByRole('button').click()
  await message.waitFor({ state: 'detached' })
}

const loginWords = {
  zh: { name: '用户名/邮箱', password: '密码', submit: '登录', done: '登录成功！' },
  en: { name: 'Username or email', password: 'Password', submit: 'Log in', done: 'Logged in' },
} as const

/** Logs in through the form, as a person does. */
export async function logIn(
  page: Page,
  { language, username, password }: { language: Language; username: string; password: string },
): Promise<void> {
  const words = loginWords[language]
  await go(page, '/login')
  await page.getByRole('textbox', { name: words.name }).fill(username)
  await page.getByRole('textbox', { name: words.password }).fill(password)
  await page.getByRole('main').getByRole('button', { name: words.submit, exact: true }).click()
  await readMessage(page, language, words.done)
  await page.waitForURL('**/token')
}

/** Waits until no placeholder for loading content remains on the page. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main :is(h1, p)').first().waitFor()
  // A button behind a dialog may wait for its answer.
  await page.waitForFunction(
    () => {
      const asking = [...document.querySelectorAll('.mantine-Modal-content')].at(-1) ?? document
      return (
        !document.querySelector('.mantine-Skeleton-root') &&
        !asking.querySelector('[data-loading]') &&
        // A dialog takes its name from its title one frame after it has opened.
        !document.querySelector('[role=dialog]:not([aria-labelledby], [aria-label])')
      )
    },
    undefined,
    // Checking in every frame would make the page draw every frame.
    { polling: 50 },
  )
}

/** The number of states of a page that were checked. */
const statesOf = new WeakMap<Page, number>()

/** Waits until this element has the focus, which returns to it when a dialog or menu is closed. */
export async function hasFocus(target: Locator): Promise<void> {
  await expect
    .poll(() => target.evaluate((element) => element === document.activeElement), { message: `${target} has the focus` })
    .toBe(true)
}

/**
 * Checks that the page is accessible in its current state, that every word on it is in its language, and that it fits. `data` are user-defined
 * texts. The heavy run checks accessibility with contrast in every state; the ordinary run on every screen once, and without contrast in every
 * third state of a page.
 */
export async function expectFit(
  page: Page,
  language: Language,
  data: readonly string[] = [],
  { contrast = everyLook }: { contrast?: boolean } = {},
): Promise<void> {
  await settled(page)
  expect.soft(await strayWords(page, language, data), page.url()).toEqual([])
  const before = statesOf.get(page) ?? 0
  statesOf.set(page, before + 1)
  if (contrast || before % 3 === 0) expect.soft(await seriousViolations(page, contrast), page.url()).toEqual([])
  expect
    .soft(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${page.url()} is wider than the window`)
    .toBeLessThanOrEqual(0)
}

/** Writes a picture of the page into the folder SHOTS, if one is named, for a person to look at. */
export async function shoot(page: Page, name: string, { language, width, scheme }: PageSettings): Promise<void> {
  const folder = process.env.SHOTS
  if (folder) await page.screenshot({ path: `${folder}/${name}-${language}-${width}-${scheme}.png`, fullPage: true })
}
