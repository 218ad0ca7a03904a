import { mkdir, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mayAccess, role } from '../../src/contract/roles.ts'
import { seedSite } from './seed-site.ts'
import { go, openStage, type Stage } from './stage.ts'
import { type View, viewsOf } from './views.ts'

/**
 * `npm run screenshots`: every view of the console as every kind of person, in both languages and themes, wide and narrow, as files to
 * leaf through in `screenshots/<who>/`. SHOTS narrows it down, as in `SHOTS=root-zh-light-1440 npm run screenshots`.
 */
const folder = fileURLToPath(new URL('../../screenshots/', import.meta.url))
const people = [
  { who: 'nobody', level: 0 },
  { who: 'user', level: role.ordinary },
  { who: 'admin', level: role.admin },
  { who: 'root', level: role.root },
] as const

const looks = people.flatMap((person) =>
  (['zh', 'en'] as const).flatMap((language) =>
    (['light', 'dark'] as const).flatMap((scheme) =>
      [1440, 390].map((width) => ({ ...person, language, scheme, width, name: `${person.who}-${language}-${scheme}-${width}` })),
    ),
  ),
)
const wanted = looks.filter(({ name }) => name.startsWith(process.env.SHOTS ?? ''))

let stage: Stage
let views: readonly View[]
beforeAll(async () => {
  stage = await openStage()
  views = viewsOf({ id: (await seedSite(stage)).channel })
  await stage.server.call('PUT /api/option/', { key: 'About', value: '# 关于\n\n| 模型 | 价格 |\n|---|---|\n| gpt-4o | $2.5 |' })
  if (wanted.length === looks.length) await rm(folder, { recursive: true, force: true })
})
afterAll(() => stage.stop())

describe('screenshots', () => {
  it.each(wanted)('of $name', async ({ name, who, level, width, ...look }) => {
    const { page, problems } = await stage.open(who, { ...look, width, height: width === 390 ? 844 : 900 })
    await mkdir(`${folder}${name}`, { recursive: true })
    for (const view of views.filter(({ access }) => mayAccess(level, access))) {
      await go(page, view.path)
      await page.screenshot({ path: `${folder}${name}/${view.name}.png`, fullPage: true })
    }
    expect(problems).toEqual([])
  })
})
