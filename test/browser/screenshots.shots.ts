import { mkdir, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mayAccess, role } from '../../src/contract/roles.ts'
import { type Scene, scenes } from './scenes.ts'
import { type SceneIds, sceneWords, seedScenes } from './seed-scenes.ts'
import { seededWords, seedSite } from './seed-site.ts'
import { expectFit, go, type Language, openStage, type Stage, type Who } from './stage.ts'
import { type View, viewsOf } from './views.ts'

/**
 * `npm run screenshots`: takes screenshots of every view of the console as every role, and of every scene without an address, in
 * both languages and themes, wide and narrow, into `screenshots/<look>/`; and runs `expectFit` on each. SHOTS restricts it to looks
 * that begin with its value, as in `SHOTS=root-zh-1440 npm run screenshots` or `SHOTS=scenes-en`, and SCENES to scenes of these
 * names.
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
const data = [...seededWords, ...sceneWords, '关于', '模型', '价格']

const { SHOTS = '', SCENES } = process.env
const frames = (['zh', 'en'] as const).flatMap((language) => [1440, 390].map((width) => ({ language, width })))
const looks = people.flatMap((person) =>
  frames.map((frame) => ({ ...person, ...frame, name: `${person.who}-${frame.language}-${frame.width}` })),
)
const sceneLooks = frames.map((frame) => ({ ...frame, name: `scenes-${frame.language}-${frame.width}` }))
const isWanted = ({ name }: { name: string }) => name.startsWith(SHOTS)
const wantedScenes = scenes.filter(({ name }) => SCENES === undefined || SCENES.split(',').includes(name))

let stage: Stage
let views: readonly View[]
let ids: SceneIds
beforeAll(async () => {
  stage = await openStage()
  views = viewsOf({ id: (await seedSite(stage)).channel })
  ids = await seedScenes(stage)
  await stage.server.call('PUT /api/option/', { key: 'About', value: about })
  if (SHOTS === '' && SCENES === undefined) await rm(folder, { recursive: true, force: true })
})
afterAll(() => stage.stop())

it.each(looks.filter(isWanted))('screenshots of $name', async ({ name, who, level, language, width }) => {
  const { page, problems } = await stage.open(who, { language, width, height: heightOf(width) })
  for (const view of views.filter(({ access, screen }) => mayAccess(level, access) && !leadsOn(screen, level))) {
    await go(page, view.path)
    await look(page, { language, folderName: name, name: view.name, fullPage: true })
  }
  expect(problems).toEqual([])
})

it.each(sceneLooks.filter(isWanted))('screenshots of $name', async ({ name: folderName, language, width }) => {
  const shape = { language, width, height: heightOf(width) }
  const pages = new Map<Who, Page>()
  async function pageOf({ who }: Scene): Promise<Page> {
    const page = pages.get(who) ?? (await stage.open(who, shape)).page
    pages.set(who, page)
    return page
  }
  const take = (page: Page, name: string) => look(page, { language, folderName, name, fullPage: false })
  const enter = async (baseUrl: string) => (await stage.open('nobody', { ...shape, baseUrl })).page

  const failed: string[] = []
  for (const scene of wantedScenes) {
    const page = await pageOf(scene)
    try {
      await scene.open({ page, stage, ids, language, narrow: width === 390, enter, look: take })
    } catch (cause) {
      failed.push(`${scene.name}: ${cause}`)
    }
  }
  expect(failed).toEqual([])
})

interface Picture {
  readonly language: Language
  readonly folderName: string
  readonly name: string
  readonly fullPage: boolean
}

/** Takes a screenshot in both themes, and checks that the page is accessible. */
async function look(page: Page, { language, folderName, name, fullPage }: Picture): Promise<void> {
  // Parts that are loaded later, such as the menus at the top.
  await page.waitForLoadState('networkidle')
  for (const scheme of schemes) {
    await dress(page, scheme)
    await mkdir(`${folder}${folderName}-${scheme}`, { recursive: true })
    await page.screenshot({ path: `${folder}${folderName}-${scheme}/${name}.png`, fullPage, animations: 'disabled' })
    await expectFit(page, language, data)
  }
}

/** Screens that redirect immediately. */
function leadsOn(screen: string, level: number): boolean {
  return (
    screen.startsWith('/oauth/') || screen.startsWith('/chat') || (level > 0 && ['/login', '/register', '/sso'].includes(screen))
  )
}

/** The theme is one attribute of the page, so both are checked without loading the page twice. */
function dress(page: Page, scheme: (typeof schemes)[number]): Promise<void> {
  return page.evaluate((value) => document.documentElement.setAttribute('data-mantine-color-scheme', value), scheme)
}

function heightOf(width: number): number {
  return width === 390 ? 844 : 900
}
