import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cutChangelog, problemsOf, sectionOf, stepsLeft, unreleased } from '../scripts/lib/release.mjs'
import { isNewer } from '../src/server/people/notify/latest-release.ts'
import { isTorture } from './helpers/torture.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const changelog = `# Changelog\n\nWords.\n\n${unreleased}\n\n### Action required\n\n- One.\n\n## 1.0.0\n\n- Old.\n`
const sound = { version: '1.1.0', current: '1.0.0', isNewer, changelog, status: '', branch: 'main', tags: ['v1.0.0'] }
const nowhere = { homepage: '', repository: '', contact: '', releases: '' }

describe('a release', () => {
  it('has no problem on a clean main with something new', () => {
    expect(problemsOf(sound)).toEqual([])
  })

  it.each([
    [{ version: 'next' }, 'next is no version'],
    [{ version: '1.0.0' }, '1.0.0 does not come after 1.0.0'],
    [{ version: '1.0.0-rc.9' }, 'does not come after'],
    [{ tags: ['v1.1.0'] }, 'a tag never moves'],
    [{ branch: 'topic' }, 'the branch is topic'],
    [{ status: '?? file' }, 'changes without a commit'],
    [{ changelog: changelog.replace('### Action required\n\n- One.\n', '') }, 'has nothing below'],
  ])('is refused with %o', (change, problem) => {
    expect(problemsOf({ ...sound, ...change }).join('\n')).toContain(problem)
  })

  it('gets what no release had, and leaves an empty section for the next', () => {
    const cut = cutChangelog(changelog, '1.1.0')
    expect(sectionOf(cut, '## 1.1.0')).toBe('### Action required\n\n- One.')
    expect(sectionOf(cut, unreleased)).toBe('')
    expect(sectionOf(cut, '## 1.0.0')).toBe('- Old.')
  })

  it('is not published before package.json says where', () => {
    expect(stepsLeft({ version: '1.1.0', publication: nowhere })[0]).toBe(
      'It cannot be published: "publication" in package.json has no homepage, no repository, no contact, no releases.',
    )
    const publication = { homepage: 'h', repository: 'r', contact: 'c', releases: 'f' }
    expect(stepsLeft({ version: '1.1.0', publication })[0]).toBe('git push r main v1.1.0')
  })
})

describe.runIf(isTorture)('`npm run release` in a clone', () => {
  const clone = () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-release-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim()
    execFileSync('git', ['clone', '--quiet', '--branch', 'main', root, folder])
    git('config', 'user.name', 'Release')
    git('config', 'user.email', 'release@example.com')
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    // `.gitignore` means the folder, not a link.
    writeFileSync(join(folder, '.git/info/exclude'), 'node_modules\n')
    const release = (...args: string[]) =>
      spawnSync(process.execPath, ['scripts/release.mjs', ...args], { cwd: folder, encoding: 'utf8' })
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    return { folder, git, release, read }
  }

  it('shows the release without writing, and refuses to publish', () => {
    const { git, release } = clone()
    const { stdout, status } = release('99.0.0')
    expect([status, stdout]).toEqual([0, expect.stringContaining('→ 99.0.0. Nothing is written without --write.')])
    expect(release('99.0.0', '--write', '--publish').stderr).toContain('It cannot be published')
    expect(git('status', '--porcelain')).toBe('')
  })

  it('sets the version, cuts the changelog, builds the files with their checksums, commits and tags', () => {
    const { folder, git, release, read } = clone()
    const before = sectionOf(read('CHANGELOG.md'), unreleased)
    expect(release('99.0.0', '--write')).toMatchObject({ status: 0 })

    expect([git('status', '--porcelain'), git('log', '-1', '--format=%s'), git('describe')]).toEqual([
      '',
      'release: 99.0.0',
      'v99.0.0',
    ])
    expect(git('tag', '--list', '--format=%(contents)', 'v99.0.0')).toBe(`## 99.0.0\n\n${before}`)
    expect([read('VERSION'), JSON.parse(read('package.json')).version, JSON.parse(read('package-lock.json')).version]).toEqual([
      '99.0.0\n',
      '99.0.0',
      '99.0.0',
    ])
    const made = join(folder, 'dist/release')
    expect(execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: made, encoding: 'utf8' }).split('\n')).toHaveLength(5)
    const provenance = JSON.parse(readFileSync(join(made, 'sluice-99.0.0.provenance.json'), 'utf8'))
    expect(provenance.predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit).toBe(git('rev-parse', 'HEAD'))
    expect(provenance.subject.map(({ name }: { name: string }) => name)).toEqual([
      'sluice-99.0.0.cdx.json',
      'sluice-99.0.0.openapi.json',
      'sluice-99.0.0.tgz',
    ])
    expect(existsSync(join(made, 'sluice-99.0.0.tgz'))).toBe(true)
  })
})
