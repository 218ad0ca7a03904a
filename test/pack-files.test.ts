import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { packFiles } from '../scripts/lib/pack-files.mjs'

it('every script and style of a built console has compressed copies beside it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pack-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const script = 'export const water = 1\n'.repeat(200)
  await writeFile(join(folder, 'a.js'), script)
  await writeFile(join(folder, 'small.js'), 'export {}')
  await writeFile(join(folder, 'picture.png'), script)
  await packFiles(folder)
  expect((await readdir(folder)).toSorted()).toEqual(['a.js', 'a.js.br', 'a.js.gz', 'picture.png', 'small.js'])
  expect(String(brotliDecompressSync(await readFile(join(folder, 'a.js.br'))))).toBe(script)
  expect(String(gunzipSync(await readFile(join(folder, 'a.js.gz'))))).toBe(script)
})
