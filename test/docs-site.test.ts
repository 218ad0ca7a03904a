import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import MiniSearch from 'minisearch'
import { describe, expect, it } from 'vitest'
// @ts-expect-error a script of the site, which has no types
import { indexOptions } from '../scripts/docs-site/search.js'

const site = fileURLToPath(new URL('../dist/docs', import.meta.url))
const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'))
const read = (name: string) => readFileSync(join(site, name), 'utf8')
const ofUsers = new Set<string>(JSON.parse(read('users.json')))

describe('the documentation site', () => {
  it.each(pages)('%s has links that lead somewhere', (name) => {
    const text = read(name)
    for (const [, href = ''] of text.matchAll(/(?:href|src|data-index)="([^"]+)"/g)) {
      if (/^(https?|mailto):/.test(href)) continue
      const [path = '', anchor] = href.split('#')
      const target = path === '' ? name : normalize(join(dirname(name), path))
      expect(existsSync(join(site, target)), `${href} in ${name}`).toBe(true)
      if (anchor) expect(read(target), `${href} in ${name}`).toContain(`id="${anchor}"`)
    }
  })

  it('can be read without a script, and is light', () => {
    for (const name of pages.filter((page) => page !== 'api.html')) {
      const text = read(name)
      expect(text.match(/<script/g), name).toHaveLength(1)
      expect(text, name).toMatch(/<h1 id="/)
    }
    const bytes = ['site.css', 'search.js', 'minisearch.js'].map((name) => readFileSync(join(site, name)).length)
    expect(Math.max(...bytes)).toBeLessThan(80_000)
  })

  it('gives strangers pages that lead to theirs alone, and to the entry of operators', () => {
    for (const name of pages.filter((page) => ofUsers.has(page)))
      for (const [, href = ''] of read(name).matchAll(/href="([^"#:]+\.html)/g)) {
        const target = normalize(join(dirname(name), href))
        expect(ofUsers.has(target) || target === 'operators.html', `${href} in ${name}`).toBe(true)
      }
  })

  it.each([
    ['users', 'Idempotency-Key', 'use/calls.html#try-again'],
    ['users', '计费', 'use/calls.zh.html#计费'],
    ['operators', 'TRUSTED_PROXIES', 'operations/kubernetes.html#kubernetes'],
  ])('finds what %s search: %s', (audience, wanted, address) => {
    const index = MiniSearch.loadJSON<{ address: string }>(read(`search-${audience}.json`), indexOptions)
    expect(index.search(wanted, { combineWith: 'AND' }).map((hit) => hit.address)).toContain(address)
  })

  it('lists its pages for programs that read', () => {
    for (const [, path = ''] of read('llms-operators.txt').matchAll(/\]\(([^)]+)\)/g))
      expect(existsSync(join(site, path))).toBe(true)
    expect(read('llms.txt')).not.toContain('operations/')
  })
})
