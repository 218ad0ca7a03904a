import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ageProblems, lockedVersions } from '../scripts/lib/lock-ages.mjs'
import { isTorture } from './helpers/torture.ts'

// The origin of third-party code: cases T246 to T248 of docs/reference/trust-cases.md.

const root = new URL('../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

describe('the lock file', () => {
  const today = Date.parse('2026-11-22')
  const lock = {
    packages: { '': {}, 'node_modules/a': { version: '1.0.0' }, 'node_modules/b/node_modules/@c/d': { version: '2.0.0' } },
  }
  const ages = { 'a@1.0.0': 'before 2026-11-01', '@c/d@2.0.0': '2026-11-15' }

  it('[T247] contains no version younger than a week, and none without a recorded age', () => {
    expect(ageProblems(JSON.parse(read('package-lock.json')), JSON.parse(read('scripts/lock-ages.json')), Date.now())).toEqual([])
  })

  it('[T247] is rejected when a version has no recorded age, is too young without a reason, or was removed', () => {
    expect(ageProblems(lock, ages, today)).toEqual([])
    expect(ageProblems(lock, { ...ages, '@c/d@2.0.0': '2026-11-16' }, today)).toEqual([
      '@c/d@2.0.0 is 6 days old, and 7 are asked for',
    ])
    expect(ageProblems(lock, { ...ages, '@c/d@2.0.0': '2026-11-22 fixes a hole' }, today)).toEqual([])
    expect(ageProblems(lock, { ...ages, '@c/d@2.0.0': 'old' }, today)).toEqual([expect.stringContaining('no readable age')])
    expect(ageProblems(lock, { 'a@1.0.0': 'before 2026-11-01' }, today)).toEqual([expect.stringContaining('@c/d@2.0.0 is new')])
    expect(ageProblems(lock, { ...ages, 'e@1.0.0': '2020-01-01' }, today)).toEqual([
      expect.stringContaining('not in the lock file'),
    ])
    const other = {
      packages: { ...lock.packages, 'node_modules/a': { version: '1.0.1' }, 'node_modules/z': { name: 'a', version: '1.0.0' } },
    }
    expect(ageProblems(other, ages, today)).toEqual([expect.stringContaining('a@1.0.1 is new')])
  })
})

it('[T248] the bill of materials names every package of the lock file with its hash, and is the same every time', () => {
  const make = () => {
    execFileSync(process.execPath, ['scripts/sbom.mjs'], { cwd: root })
    return read('dist/sbom.json')
  }
  const bom = make()
  interface Component {
    name: string
    group?: string
    version: string
    hashes?: { alg: string }[]
  }
  const components: Component[] = JSON.parse(bom).components
  const named = components.map(({ name, group, version }) => `${group ? `${group}/` : ''}${name}@${version}`)
  // For a package with an alias the bill contains the alias.
  const renamed = ['openai@6.49.0', 'client-only@0.0.1']
  const wanted = lockedVersions(JSON.parse(read('package-lock.json'))).filter((version) => !renamed.includes(version))
  expect(wanted.filter((version) => !named.includes(version))).toEqual([])
  for (const { name, hashes } of components) expect(hashes?.[0]?.alg, name).toBe('SHA-512')
  // These would differ each time. A second run, which takes seconds, would also show it.
  expect(bom).not.toMatch(/"(serialNumber|timestamp)"/)
  if (isTorture) expect(make()).toBe(bom)
})

it('every container of the compose file has a memory limit', () => {
  const containers = read('compose.yaml').match(/^ {4}image: |^ {2}build: /gm) ?? []
  expect(read('compose.yaml').match(/^ {2,4}mem_limit: \d+[mg]$/gm)).toHaveLength(containers.length)
})

it('the build context of the image contains the files outside of src that the build reads', () => {
  const ignored = read('.dockerignore').split('\n')
  expect(read('scripts/build.mjs') + read('Dockerfile')).toContain('test/package.json')
  expect(ignored).toContain('!test/package.json')
  // The site of documents is built from all of them.
  expect(ignored.filter((line) => line.startsWith('docs'))).toEqual([])
})

it('files of settings with secrets get neither into git nor into the build context of the image', () => {
  for (const file of ['.gitignore', '.dockerignore'])
    for (const name of ['.env', '*.env']) expect(read(file).split('\n'), file).toContain(name)
})

it('npm run containers fails where a program is missing, and names the package that has it', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/containers.mjs'], {
    cwd: root,
    env: { PATH: '/nowhere' },
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^!!! The image, the compose files and the unit of systemd were NOT run\.$/m)
  for (const name of ['dockerd is missing: apt-get install docker.io', 'mmdebstrap is missing: apt-get install mmdebstrap'])
    expect(stderr).toContain(name)
})

it('[T248] the image has no package manager, runs as an unprivileged user, and writes only its data', () => {
  const final =
    read('Dockerfile')
      .split(/^FROM /m)
      .at(-1) ?? ''
  expect(final).toMatch(/^USER node$/m)
  expect(final).toMatch(/rm -rf [^\n]*\/usr\/local\/lib\/node_modules/)
  expect(final).not.toMatch(/npm (ci|install|run)/)
  const compose = read('compose.yaml')
  for (const line of ['read_only: true', 'cap_drop: [ALL]', "security_opt: ['no-new-privileges:true']", 'core: 0'])
    expect(compose).toContain(line)
})
