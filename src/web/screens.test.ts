import { describe, expect, it } from 'vitest'
import { navGroups } from './lib/screen.ts'
import { screens } from './screens.ts'

describe('the table of screens', () => {
  it('names every path once', () => {
    const paths = screens.flatMap(({ path, also = [] }) => [path, ...also])
    expect(new Set(paths).size).toBe(paths.length)
    expect(paths.filter((path) => !path.startsWith('/'))).toEqual([])
  })

  it('has every name in both languages', () => {
    const names = [...screens.map(({ label }) => label), ...Object.values(navGroups)]
    expect(names.filter(({ zh, en }) => zh.trim() === '' || en.trim() === '')).toEqual([])
  })

  it('leads from the sidebar only to screens that need a login', () => {
    expect(screens.filter(({ nav, access }) => nav && access === 'public')).toEqual([])
  })

  it('loads every screen from a file of its own', () => {
    expect(new Set(screens.map(({ load }) => String(load))).size).toBe(screens.length)
  })
})
