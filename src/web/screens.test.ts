import { describe, expect, it } from 'vitest'
import { pages } from '../contract/pages.ts'
import { navGroups, type Screen } from './lib/screen.ts'
import { screens } from './screens.ts'

describe('the table of screens', () => {
  it('has no fault', () => expect(faultsOf(screens)).toEqual([]))

  it('has a screen for every page that the server knows', () => {
    expect(screens.flatMap(({ path, also = [] }) => [path, ...also]).sort()).toEqual([...pages].sort())
  })

  it('has groups named in both languages', () => {
    expect(Object.values(navGroups).filter(({ zh, en }) => zh.trim() === '' || en.trim() === '')).toEqual([])
  })

  it('reports a repeated path, and a name that lacks a language', () => {
    const [first, ...rest] = screens
    if (!first) throw new Error('There are no screens')
    expect(faultsOf([first, first, ...rest])).toContain(`${first.path} stands twice`)
    expect(faultsOf([{ ...first, label: { zh: '', en: 'x' } }, ...rest])).toEqual([`${first.path} lacks a name in a language`])
  })

  it('leads from the sidebar only to screens that need a login, or that explain themselves to visitors', () => {
    const open = screens.filter(({ nav, access }) => nav && access === 'public')
    expect(open.map(({ path }) => path)).toEqual(['/chat'])
  })

  it("lists the sidebar in order: the overview, the user's own screens, those of admins, orders after the codes", () => {
    const shown = Object.keys(navGroups).flatMap((group) => screens.filter(({ nav }) => nav?.group === group))
    expect(shown.map(({ path }) => path)).toEqual([
      ...['/overview', '/playground', '/channel', '/chat', '/token', '/budgets', '/connect', '/detail'],
      ...['/redemption', '/order', '/topup', '/organisation', '/organisations', '/user'],
      ...['/log', '/midjourney', '/task', '/video', '/batch', '/file'],
      ...['/alerts', '/quality', '/incident', '/setting'],
    ])
  })

  it('loads every screen from its own file', () => {
    expect(new Set(screens.map(({ load }) => String(load))).size).toBe(screens.length)
  })
})

function faultsOf(table: readonly Screen[]): string[] {
  const paths = table.flatMap(({ path, also = [] }) => [path, ...also])
  return [
    ...paths.filter((path, index) => paths.indexOf(path) < index).map((path) => `${path} stands twice`),
    ...table
      .filter(({ label }) => label.zh.trim() === '' || label.en.trim() === '')
      .map(({ path }) => `${path} lacks a name in a language`),
  ]
}
