import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { setOptions } from '../helpers/seed.ts'
import { seededWords, seedSite } from './seed-site.ts'
import { expectFit, go, inBothLanguages, looks, openStage, type Stage, serveChatPages } from './stage.ts'
import { viewsOf } from './views.ts'

/** What a phone shows of lists, and what a finger can hit. */
let stage: Stage
let channel: number
beforeAll(async () => {
  stage = await openStage()
  channel = (await seedSite(stage)).channel
  // Without it, the drawings begin with a hint to it.
  await setOptions(stage.server, { MjNotifyEnabled: 'true' })
})
afterAll(() => stage.stop())

/** Pixels from the top of the head to the first row. */
const aboveRowsMax = 125
/** Tabs stand between the head and such a list. */
const belowTabsMax = 165

const lists = [
  '/channel',
  '/token',
  '/user',
  '/log',
  '/redemption',
  '/order',
  '/midjourney',
  '/task',
  '/video',
  '/batch',
  '/file',
  '/budgets',
  '/quality',
]
const belowTabs = ['/alerts', '/alerts?tab=history', '/topup?tab=statement', '/topup?tab=orders']

const phones = looks([
  { language: 'en', scheme: 'light' },
  { language: 'zh', scheme: 'dark' },
] as const)

it.each(phones)(
  'the rows of a list begin high up on a phone, in $language',
  async ({ language, scheme }) => {
    const { page, problems } = await stage.open('root', { language, scheme, width: 390 })
    const heights: Record<string, number> = {}
    for (const path of [...lists, '/incident', '/pricing', ...belowTabs]) {
      await go(page, path)
      await page.locator('main [class*=toolbar] ~ *, main li[class*=card]').first().waitFor()
      // Hints are there until they are closed or followed.
      await page.addStyleTag({ content: 'main [class*=notice] { display: none }' })
      heights[path] = await aboveRows(page)
      expect.soft(heights[path], path).toBeLessThanOrEqual(belowTabs.includes(path) ? belowTabsMax : aboveRowsMax)
      await expectFit(page, language, seededWords)
    }
    expect(problems).toEqual([])
  },
  240_000,
)

/** A list without rows has its empty state in their place. */
function aboveRows(page: Page): Promise<number> {
  return page.evaluate(() => {
    const top = document.querySelector('main header h1')?.closest('header')?.getBoundingClientRect().top ?? Number.NaN
    const frame = [...document.querySelectorAll('main [class*=toolbar] ~ *')].find(
      (part) => part.getBoundingClientRect().height > 4,
    )
    const first = document.querySelector('main li[class*=card]') ?? frame
    return Math.round((first?.getBoundingClientRect().top ?? Number.NaN) - top)
  })
}

const words = inBothLanguages({
  about: ['页面说明', 'About this page'],
  filters: ['筛选', 'Filters'],
  filtersSet: [/^筛选（2）$/, /^Filters \(2\)$/],
  done: ['查看列表', 'Show the list'],
})

it.each(phones)('what the head and the filters of a list leave out on a phone is one press away, in $language', async (look) => {
  const { language } = look
  const say = words[language]
  const { page, problems } = await stage.open('root', { ...look, width: 390 })
  await go(page, '/redemption')
  const about = page.getByRole('button', { name: say.about })
  expect(await about.getAttribute('aria-expanded')).toBe('false')
  await about.click()
  expect(await page.locator('main header p').isVisible()).toBe(true)
  await expectFit(page, language, seededWords)

  await go(page, '/log')
  await page.getByRole('button', { name: say.filters }).click()
  const sheet = page.getByRole('dialog', { name: say.filters })
  await sheet.getByRole('switch').first().waitFor()
  await expectFit(page, language, seededWords)
  await sheet.getByRole('switch').first().press('Space')
  await page.waitForURL(/type=5/)
  await sheet.getByRole('button', { name: say.done }).click()
  await page.getByRole('button', { name: say.filtersSet }).waitFor()
  expect(problems).toEqual([])
})

it('a finger hits every target of every screen: none is smaller than 24 pixels', async () => {
  const { page, problems } = await stage.open('root', { language: 'zh', width: 390, isOwn: true })
  await serveChatPages(page)
  for (const { path } of viewsOf({ id: channel }).filter(({ access }) => access !== 'public')) {
    await go(page, path)
    expect.soft(await smallTargets(page), path).toEqual([])
  }
  expect(problems).toEqual([])
}, 240_000)

/** Targets below 24 pixels in width or height. Links within a sentence may be as high as its line. */
function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const targets = document.querySelectorAll('main :is(a, button, input, select, summary, textarea, [role=button], [role=tab])')
    return [...targets].flatMap((target) => {
      if (!target.checkVisibility() || getComputedStyle(target).display === 'inline') return []
      const isChoice = target.matches('input:is([type=checkbox], [type=radio])')
      const { width, height } = ((isChoice && target.parentElement) || target).getBoundingClientRect()
      // Small buttons react to touches around them, too.
      const around = getComputedStyle(target, '::after')
      const reach = around.content !== 'none' && around.position === 'absolute' ? -2 * Number.parseFloat(around.top) || 0 : 0
      if (width === 0 || Math.min(width, height) + reach >= 23.9) return []
      const name = target.getAttribute('aria-label') ?? target.textContent
      return [`${target.tagName} ${target.className} “${name}” ${Math.round(width)} × ${Math.round(height)}`]
    })
  })
}

it('the button that copies a text never lies over it', async () => {
  const { page } = await stage.open('root', { language: 'en', width: 390 })
  await go(page, '/connect')
  const pre = page.locator('main pre').first()
  await pre.waitFor()
  const apart = await page.evaluate(() =>
    [...document.querySelectorAll('main pre')].map((text) => {
      const button = text.parentElement?.querySelector('button')?.getBoundingClientRect()
      return button === undefined || text.getBoundingClientRect().right <= button.left
    }),
  )
  expect(apart.length).toBeGreaterThan(0)
  expect(apart).not.toContain(false)
})
