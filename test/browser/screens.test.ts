import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mayAccess, role } from '../../src/contract/roles.ts'
import type { Status } from '../../src/contract/status.ts'
import { navGroups } from '../../src/web/lib/screen.ts'
import { screens } from '../../src/web/screens.ts'
import { serverOfTest } from '../helpers/app.ts'
import { setOptions } from '../helpers/seed.ts'
import { sampled } from '../helpers/torture.ts'
import { seededWords, seedSite } from './seed-site.ts'
import {
  chatPages,
  everyLook,
  expectFit,
  go,
  hasFocus,
  type Language,
  logIn,
  looks,
  openStage,
  type Stage,
  serveChatPages,
  settled,
  userPassword,
} from './stage.ts'
import { type View, viewsOf } from './views.ts'

/**
 * Two looks for each role, so that every two values of role, language, scheme and width occur together. The heavy run has every
 * screen in both looks.
 */
const everyone = [
  { who: 'nobody', level: 0, language: 'en', scheme: 'dark', width: 1440 },
  { who: 'user', level: role.ordinary, language: 'en', scheme: 'light', width: 390 },
  { who: 'admin', level: role.admin, language: 'zh', scheme: 'dark', width: 390 },
  { who: 'root', level: role.root, language: 'zh', scheme: 'light', width: 1440 },
] as const
type Person = (typeof everyone)[number]

/** The other look of a role: the opposite language, scheme and width. */
const opposite = ({ language, scheme, width }: Person) =>
  ({
    language: language === 'en' ? 'zh' : 'en',
    scheme: scheme === 'dark' ? 'light' : 'dark',
    width: width === 390 ? 1440 : 390,
  }) as const
const forbidden = { zh: '没有权限', en: 'No permission' } as const

let stage: Stage
let views: readonly View[]
let visits = 0
beforeAll(async () => {
  stage = await openStage({ env: { TRUSTED_PROXIES: '127.0.0.1' } })
  views = viewsOf({ id: (await seedSite(stage)).channel })
})
afterAll(() => stage.stop())

/** Navigates to another screen as a link does, without loading the console anew. The previous screen may stay for a moment. */
const follow = (page: Page, path: string) =>
  page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)

/** Asks the page itself, since a change of the address reaches the test later than the page. */
const isAt = (page: Page, path: string) => page.waitForFunction((wanted) => location.pathname === wanted, path)

const isTab = ({ path }: View) => path.includes('?')
/** These screens redirect signed-in users. */
const isEntrance = (screen: string) => ['/login', '/register', '/sso'].includes(screen)
const isChat = (screen: string) => screen.startsWith('/chat')

/** Whether this person opens a screen by its address: the roles that may see it take turns; in the heavy run all of them do. */
function opens({ who }: Person, { screen, access }: View, at: number): boolean {
  const seers = everyone
    .filter(({ level }) => mayAccess(level, access) && !(isEntrance(screen) && level > 0))
    .filter((one) => !isChat(screen) || one.who === 'root')
  // Every second screen is in the other look.
  return seers.some((one, turn) => one.who === who && (everyLook || turn === Math.floor(at / 2) % seers.length))
}

describe.each(everyone)('for $who', (person) => {
  const { who, level, language, scheme } = person
  /** Pages that have loaded the console already. */
  const begun = new WeakSet<Page>()

  it('every screen opens, redirects to the login, or shows that it is not permitted', async () => {
    const opened = []
    for (const look of [person, opposite(person)]) {
      const { page, problems } = await stage.open(who, { language: look.language, scheme: look.scheme, width: look.width })
      opened.push({ page, problems, language: look.language })
    }
    const seen = new Set<string>()
    // In the ordinary run, each role opens some of the screens of the other roles by a link.
    const followed = new Set(
      sampled(
        views.filter((one) => !isTab(one)),
        5,
        everyone.indexOf(person),
      ),
    )
    for (const [at, view] of views.filter((one) => !isTab(one)).entries()) {
      const end = view.access !== 'public' && level === 0 ? 'login' : mayAccess(level, view.access) ? view.path : 'refused'
      // The login and the refusal are the same for every screen: each is opened by an address once, and checked there.
      const isOpened = (end !== view.path && !seen.has(end)) || opens(person, view, at)
      if (!isOpened && !followed.has(view)) continue
      seen.add(end)
      for (const { page, language } of everyLook ? opened : opened.slice(at % 2, (at % 2) + 1)) {
        await visit(page, view, { end, language, isOpened })
        // One screen redirects to the page of another site.
        if (isOpened && view.screen !== '/chat2link') await expectFit(page, language, seededWords, { contrast: true })
      }
    }
    for (const { problems } of opened) expect(problems).toEqual([])
  }, 300_000)

  async function visit(
    page: Page,
    { path, screen: of }: View,
    { end, language, isOpened }: { end: string; language: Language; isOpened: boolean },
  ): Promise<void> {
    // Some hundred visits in a minute exceed the rate limit of one address.
    await page.setExtraHTTPHeaders({ 'x-forwarded-for': `10.0.${visits >> 8}.${visits++ & 255}` })
    const opensChatPage = isChat(of) && who === 'root'
    if (opensChatPage) await serveChatPages(page)
    const screen = screens.find((one) => one.path === of)
    const refused = page.getByText(forbidden[language], { exact: true })
    const title = () => expect.poll(() => page.title()).toBe(of === '/' ? 'Sluice' : `${screen?.label[language]} · Sluice`)
    // Following a link takes half the time.
    const isFollowed = !isOpened && !everyLook && begun.has(page) && !of.startsWith('/oauth/')
    begun.add(page)
    await (isFollowed ? follow : go)(page, path)
    if (end === 'login') {
      await isAt(page, '/login')
    } else if (end === 'refused') {
      await title()
      await refused.waitFor()
    } else if (isEntrance(of) && level > 0) {
      await isAt(page, '/token')
    } else if (isChat(of) && !opensChatPage) {
      // The other users have no token, and the token page requires a login.
      await isAt(page, level > 0 ? '/token' : '/login')
    } else if (of === '/chat2link') {
      await page.waitForURL(chatPages)
      // The page of another site follows no link of the console.
      begun.delete(page)
    } else if (of.startsWith('/oauth/')) {
      // There is no previous page.
      await isAt(page, level > 0 ? '/setting' : '/login')
    } else {
      await title()
      await settled(page)
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect(await refused.count(), path).toBe(0)
    }
    if (opensChatPage) await page.unroute(chatPages)
  }

  it('the sidebar leads to the permitted screens, and to no other', async () => {
    // In a narrow window the sidebar is behind a button.
    const { page } = await stage.open(who, { language, scheme })
    await go(page, '/')
    const links = page.getByRole('navigation', { name: { zh: '主导航', en: 'Main navigation' }[language] }).getByRole('link')
    const status = await stage.server.call<Status>('GET /api/status')
    const wanted = Object.keys(navGroups).flatMap((group) =>
      screens.filter(
        ({ nav, access }) =>
          level > 0 &&
          nav?.group === group &&
          // There is no organisation.
          nav.isOfOrganisation !== true &&
          (nav.flag?.(status, null) ?? true) &&
          // A split entry shows its parts when it is expanded.
          (nav.parts?.(status) ?? []).length <= 1 &&
          mayAccess(level, access),
      ),
    )
    await expect.poll(() => links.allTextContents()).toEqual(wanted.map(({ label }) => label[language]))
    const top = page.getByRole('navigation', { name: { zh: '站点导航', en: 'Site navigation' }[language] }).getByRole('link')
    const topWords = { zh: ['首页', '控制台', '定价', '关于'], en: ['Home', 'Console', 'Pricing', 'About'] }
    await expect.poll(() => top.allTextContents()).toEqual(topWords[language])
    expect(await top.getByText(topWords[language][1] ?? '').getAttribute('href')).toBe('/')
  })
})

it.each(sampled(everyone, 3))('an unknown address is reported to $who', async ({ who, language, scheme }) => {
  const { page } = await stage.open(who, { language, scheme })
  await go(page, '/no/such/page')
  await page.getByRole('heading', { level: 1, name: { zh: '页面不存在', en: 'Page not found' }[language] }).waitFor()
  await page.getByText({ zh: '请检查你的浏览器地址是否正确', en: 'Check the address in your browser' }[language]).waitFor()
  await expectFit(page, language)
  await page.getByRole('link', { name: { zh: '返回首页', en: 'Go to home page' }[language] }).click()
  await page.waitForURL(/\/$/)
})

const settingsLooks = [
  { who: 'root', language: 'zh', scheme: 'light', width: 1440 },
  { who: 'root', language: 'en', scheme: 'dark', width: 390 },
] as const

it.each(looks(settingsLooks))(
  'every tab of the settings is accessible, translated and not too wide for $who in $language, $width wide',
  async ({ who, language, ...look }) => {
    const { page, problems } = await stage.open(who, { language, ...look })
    for (const { path } of views.filter(isTab)) {
      await go(page, path)
      await page.getByRole('tabpanel').waitFor()
      await expectFit(page, language, seededWords, { contrast: true })
    }
    expect(problems).toEqual([])
  },
  120_000,
)

describe('the session', () => {
  const notice = 'Not logged in or login has expired, please log in again'

  it('redirects to the login when it has ended, and the login shows the reason', async () => {
    const { page } = await stage.open('nobody', { language: 'en' })
    await go(page, '/login')
    expect(await page.getByText(notice).count()).toBe(0)
    // This browser still takes the user for signed in.
    await page.evaluate(() => localStorage.setItem('user', JSON.stringify({ id: 1, username: 'root', role: 100 })))
    await page.goto('/log')
    await page.waitForURL('**/login?expired=true')
    await page.getByText(notice).waitFor()
    await expectFit(page, 'en')
  })

  it('shows an ended session in the playground too', async () => {
    const { page } = await stage.open('user', { language: 'en' })
    await go(page, '/playground?expired=true')
    await page.getByText(notice).waitFor()
  })

  it('ends with the logout, in the browser and on the server', async () => {
    const { page, problems } = await stage.open('nobody', { language: 'zh' })
    await logIn(page, { language: 'zh', username: 'user', password: userPassword })
    await page.getByRole('button', { name: /账户菜单/ }).click()
    await page.getByRole('menuitem', { name: '退出' }).click()
    await page.getByText('注销成功！').waitFor()
    await page.waitForURL('**/login')
    expect(await page.evaluate(() => localStorage.getItem('user'))).toBeNull()
    expect((await page.request.get('/api/user/self', { headers: { 'new-api-user': '1' } })).status()).toBe(401)
    await go(page, '/setting')
    await page.waitForURL('**/login')
    expect(problems).toEqual([])
  })
})

describe('the shell', () => {
  it('has a footer with the name and the version, or with the text that the operator saved', async () => {
    const { page } = await stage.open('nobody', { language: 'zh' })
    const footer = page.getByRole('contentinfo')
    await go(page, '/about')
    await expect.poll(() => footer.textContent()).toBe(`Sluice ${stage.server.app.version} · 接口 0.4.8.9.6 · 文档`)

    await setOptions(stage.server, { Footer: '<b>Our own</b> footer<script>alert(1)</script>', SystemName: '我们的站' })
    await go(page, '/about')
    await footer.getByText('Our own').waitFor()
    expect(await footer.innerHTML()).not.toContain('script')
    await expect.poll(() => page.title()).toBe('关于 · 我们的站')
    await setOptions(stage.server, { Footer: '', SystemName: 'Sluice' })
  })

  it('keeps the chosen language over a reload', async () => {
    const { page, problems } = await stage.open('nobody', { language: 'zh' })
    const language = () => page.evaluate(() => [document.documentElement.lang, localStorage.getItem('i18nextLng')])
    await go(page, '/login')
    expect(await language()).toEqual(['zh-CN', 'zh'])
    await page.getByRole('button', { name: '语言' }).click()
    await page.getByRole('menuitem', { name: 'English' }).click()
    await page.getByRole('heading', { name: 'Log in to Sluice' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Log in to Sluice' }).waitFor()
    expect(await language()).toEqual(['en', 'en'])
    expect(problems).toEqual([])
  })

  it.each([
    ['繁體中文', 'zh-TW', 'zh-Hant', '登入 Sluice', '令牌', 'zh'],
    ['日本語', 'ja', 'ja', 'Sluice にログイン', 'トークン', 'en'],
  ] as const)('speaks %s to users, and its base where that has no texts', async (name, locale, stored, login, tokens, base) => {
    const { page, problems } = await stage.open('nobody', { language: 'en' })
    await go(page, '/login')
    await page.getByRole('button', { name: 'Language' }).click()
    await page.getByRole('menuitem', { name }).click()
    await page.getByRole('heading', { name: login }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: login }).waitFor()
    expect(await page.evaluate(() => [document.documentElement.lang, localStorage.getItem('i18nextLng')])).toEqual([
      locale,
      stored,
    ])

    const root = await stage.open('root', { language: 'en' })
    await root.page.goto('/about')
    await root.page.evaluate((chosen) => localStorage.setItem('i18nextLng', chosen), stored)
    await go(root.page, '/token')
    await root.page.getByRole('heading', { name: tokens, level: 1 }).waitFor()
    await go(root.page, '/channel')
    await root.page.getByText({ zh: '渠道是网关背后的上游。', en: 'Channels are the upstreams behind' }[base]).first().waitFor()
    await root.page.evaluate(() => localStorage.setItem('i18nextLng', 'en'))
    expect([...problems, ...root.problems]).toEqual([])
  })

  it('keeps the chosen theme over a reload, and returns the focus after a menu closes', async () => {
    const { page, problems } = await stage.open('nobody', { language: 'en', scheme: 'light' })
    const scheme = () => page.evaluate(() => document.documentElement.dataset.mantineColorScheme)
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    await go(page, '/')
    expect(await scheme()).toBe('light')
    await page.getByRole('button', { name: 'Theme' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Light' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(focused).toBe('Theme')
    await page.keyboard.press('Enter')
    await page.getByRole('menu', { name: 'Theme' }).getByRole('menuitem', { name: 'Dark' }).click()
    await expect.poll(scheme).toBe('dark')
    await page.reload()
    expect(await scheme()).toBe('dark')
    expect(problems).toEqual([])
  })

  it('shows its menu over a narrow page, and closes it after a choice', async () => {
    const { page, problems } = await stage.open('root', { language: 'en', width: 390, height: 844 })
    await go(page, '/')
    expect(await page.getByRole('navigation', { name: 'Main navigation' }).count()).toBe(0)
    const before = await page.locator('main').boundingBox()
    await page.getByRole('button', { name: 'Open the menu' }).click()
    const menu = page.getByRole('dialog', { name: 'Sluice' })
    await menu.getByRole('link', { name: 'Logs' }).waitFor()
    // It is an overlay; the page does not move.
    expect(await page.locator('main').boundingBox()).toEqual(before)
    await expectFit(page, 'en')
    await menu.getByRole('link', { name: 'Logs' }).click()
    await page.waitForURL('**/log')
    await menu.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Open the menu' }).click()
    await menu.waitFor()
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'detached' })
    await hasFocus(page.getByRole('button', { name: 'Open the menu' }))
    expect(problems).toEqual([])
  })

  it('keeps the sidebar collapsed', async () => {
    const { page, problems } = await stage.open('root', { language: 'en' })
    await go(page, '/about')
    const width = async () => (await page.getByRole('navigation', { name: 'Main navigation' }).boundingBox())?.width ?? 0
    const wide = await width()
    await page.getByRole('button', { name: 'Collapse the sidebar' }).click()
    await expect.poll(width).toBeLessThan(wide / 2)
    await go(page, '/about')
    expect(await width()).toBeLessThan(wide / 2)
    await expectFit(page, 'en')
    expect(problems).toEqual([])
  })

  it('finds a screen by keyboard, in either language', async () => {
    const { page, problems } = await stage.open('root', { language: 'en' })
    await go(page, '/')
    for (const { typed, name, path } of [
      { typed: 'settin', name: 'Settings', path: '/setting' },
      { typed: '日志', name: 'Logs', path: '/log' },
    ]) {
      await page.keyboard.press('ControlOrMeta+k')
      const palette = page.getByRole('dialog', { name: 'Command palette' })
      // The palette takes the focus when it opens, so that typing goes into it.
      await palette.locator('input:focus').waitFor()
      await page.keyboard.type(typed)
      // Enter opens the first match.
      await palette.locator('[data-selected]', { hasText: name }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**${path}`)
      await palette.waitFor({ state: 'detached' })
    }
    const search = page.getByRole('banner').getByRole('button', { name: 'Search' })
    await search.press('Enter')
    await page.getByRole('dialog', { name: 'Command palette' }).locator('input:focus').press('Escape')
    await hasFocus(search)
    expect(problems).toEqual([])
  })

  it('celebrates the first of January for three seconds, and reloads ten seconds later', async () => {
    const { page } = await stage.open('nobody', { language: 'en', isOwn: true })
    await page.clock.install({ time: new Date('2027-01-01T09:00:00+08:00') })
    await go(page, '/')
    await page.getByRole('button', { name: 'Happy New Year!' }).click()
    const sparks = page.locator('canvas')
    await sparks.waitFor({ state: 'attached' })
    await page.clock.runFor(3000)
    await sparks.waitFor({ state: 'detached' })
    const reloaded = page.waitForEvent('load')
    await page.clock.runFor(10_000)
    await reloaded
    await page.getByRole('button', { name: 'Happy New Year!' }).waitFor()

    // What was typed is not lost without a question.
    await go(page, '/login')
    await page.getByRole('button', { name: 'Happy New Year!' }).click()
    await page.getByRole('textbox', { name: 'Username' }).fill('ada')
    await sparks.waitFor({ state: 'attached' })
    await page.clock.runFor(3000)
    await page.clock.runFor(10_000)
    await page.getByRole('button', { name: 'Keep editing' }).click()
    expect(await page.getByRole('textbox', { name: 'Username' }).inputValue()).toBe('ada')
  })
})

describe('a root with the default password', () => {
  it('is warned on every screen until the password is changed', async () => {
    const fresh = await serverOfTest('sqlite', { env: { ROOT_PASSWORD: '123456' } })
    const { page, problems } = await stage.open('nobody', { language: 'zh', baseUrl: fresh.url })
    await logIn(page, { language: 'zh', username: 'root', password: '123456' })
    const dialog = page.getByRole('dialog', { name: '您正在使用默认密码！' })
    await dialog.getByText('请立刻修改默认密码！').waitFor()
    await expectFit(page, 'zh')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    // The dialog opens once in a visit; the warning stays.
    await go(page, '/log')
    expect(await dialog.count()).toBe(0)
    await page.getByRole('button', { name: '修改密码' }).click()
    await dialog.waitFor()
    await dialog.getByRole('textbox', { name: '当前密码' }).fill('123456')
    await dialog.getByRole('textbox', { name: '新密码', exact: true }).fill('another-one-7')
    await dialog.getByRole('textbox', { name: '确认新密码' }).fill('another-one-8')
    await dialog.getByRole('button', { name: '修改密码' }).click()
    await dialog.getByText('两次输入的密码不一致！').waitFor()
    await dialog.getByRole('textbox', { name: '确认新密码' }).fill('another-one-7')
    await dialog.getByRole('button', { name: '修改密码' }).click()
    await page.getByText('密码修改成功！').waitFor()
    await page.getByText('您正在使用默认密码！').first().waitFor({ state: 'detached' })
    await go(page, '/log')
    expect(await page.getByText('您正在使用默认密码！').count()).toBe(0)
    expect(problems).toEqual([])
  })
})
