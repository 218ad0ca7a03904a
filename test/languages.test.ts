import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const folder = new URL('../src/web/lib/languages/', import.meta.url)
const overlays = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.json'))
const textsOf = (path: string): [string, string][] => Object.entries(JSON.parse(readFileSync(new URL(path, folder), 'utf8')))

it('every text that users see has one in each language, and none is left over', () => {
  const script = fileURLToPath(new URL('../scripts/languages.mjs', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})

it.each(overlays)('%s keeps the placeholders of its texts', (path) => {
  // A word in the form of a number needs none where words have one form.
  const names = (text: string) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))].sort()
  const faults = textsOf(path).filter(([text, said]) => names(said).join() !== names(text).join() || said.trim() === '')
  expect(faults).toEqual([])
})
