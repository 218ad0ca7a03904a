import { mkdir, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mayAccess, role } from '../../src/contract/roles.ts'
import { seededWords, seedSite } from './seed-site.ts'
import { expectFit, go, openStage, type Stage } from './stage.ts'
import { type View, viewsOf } from './views.ts'

/**
 * `npm run screenshots`: every view of the console as every kind of person, in both languages and themes, wide and narrow, as files to
 * leaf through in `screenshots/<look>/`; and a check that each is fit to use. SHOTS narrows it down to looks that begin so, as in
 * `SHOTS=root-zh-1440 npm run screenshots`.
 */
const folder = fileURLToPath(new URL('../../screenshots/', import.meta.url))
const people = [
  { who: 'nobody', level: 0 },
  { who: 'user', level: role.ordinary },
  { who: 'admin', level: role.admin },
  { who: 'root', level: role.root },
] as const
const schemes = ['light', 'dark'] as const
const about = '# 关于\n\n| 模型 | 价格 |\n|---|---|\n| gpt-4o | $2.5 |'

const looks = people.flatMap((person) =>
  (['zh', 'en'] as const).flatMap((language) =>
    [1440, 390].map((width) => ({ ...person, language, width, name: `${person.who}-${language}-${width}` })),
  ),
)
const wanted = looks.filter(({ name }) => name.startsWith(process.env.SHOTS ?? ''))

let stage: Stage
let views: readonly View[]
beforeAll(async () => {
  stage = await openStage()
  views = viewsOf({ id: (await seedSite(stage)).channel })
  await stage.server.call('PUT /api/option/', { key: 'About', value: about })
  if (wanted.length === looks.length) await rm(folder, { recursive: true, force: true })
})
afterAll(() => stage.stop())

describe('screenshots', () => {
  it.each(wanted)('of $name', async ({ name, who, level, language, width }) => {
    const { page, problems } = await stage.open(who, { language, width, height: width === 390 ? 844 : 900 })
    for (const scheme of schemes) await mkdir(`${folder}${name}-${scheme}`, { recursive: true })
    for (const view of views.filter(({ access, screen }) => mayAccess(level, access) && !leadsOn(screen, level))) {
      await go(page, view.path)
      // Parts that are loaded later, such as the menus at the top.
      await page.waitForLoadState('networkidle')
      for (const scheme of schemes) {
        await dress(page, scheme)
        await page.screenshot({ path: `${folder}${name}-${scheme}/${view.name}.png`, fullPage: true })
        await expectFit(page, language, [...seededWords, '关于', '模型', '价格'])
      }
    }
    expect(problems).toEqual([])
  })
})

/** Screens that nobody stays at: they lead to another as soon as they are there. */
function leadsOn(screen: string, level: number): boolean {
  return screen.startsWith('/oauth/') || screen.startsWith('/chat') || (level > 0 && ['/login', '/register'].includes(screen))
}

/** The theme is one attribute of the page: both are seen without loading it twice. */
function dress(page: Page, scheme: (typeof schemes)[number]): Promise<void> {
  return page.evaluate((value) => document.documentElement.setAttribute('data-mantine-color-scheme', value), scheme)
}
