// `npm run release -- VERSION [--write] [--publish]`: shows what a release would be. With --write it sets the version, cuts the changelog, builds
// dist/release (package, bill of materials, checksums, provenance), commits and tags. With --publish it pushes the tag, too, and refuses
// to as long as package.json does not say where the project is published.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded } from './lib/install.mjs'
import { root, runNode } from './lib/process.mjs'
import { cutChangelog, problemsOf, provenanceOf, sectionOf, stepsLeft, unreleased } from './lib/release.mjs'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false }, publish: { type: 'boolean', default: false } },
})
const [version = ''] = positionals
const folder = join(root, 'dist/release')
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
const read = (name) => readFile(join(root, name), 'utf8')
const sha256 = async (path) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

await installWhenNeeded()
await buildWhenStale({ only: ['server'] })
const { isNewer } = await import('../dist/server/people/notify/latest-release.js')

const { publication, name, version: current } = JSON.parse(await read('package.json'))
const changelog = await read('CHANGELOG.md')
const problems = problemsOf({
  version,
  current,
  isNewer,
  changelog,
  status: git('status', '--porcelain'),
  branch: git('branch', '--show-current'),
  tags: git('tag').split('\n'),
})
const left = stepsLeft({ version, publication })
const isPublishable = left[0]?.startsWith('git push')
if (values.publish && !isPublishable) problems.push(...left)
if (problems.length > 0) fail(problems)

const notes = `## ${version}\n\n${sectionOf(changelog, unreleased)}\n`
if (!values.write && !values.publish) {
  console.log(
    [
      `${current} → ${version}. Nothing is written without --write.`,
      '',
      notes,
      'What is left to a person afterwards:',
      ...left.map((step) => `- ${step}`),
    ].join('\n'),
  )
  process.exit()
}

await setVersion()
try {
  await makeFiles()
} catch (error) {
  git('checkout', '--', '.')
  fail([`${error.message}; the version is ${current} again`])
}
git('commit', '--quiet', '--all', '--message', `release: ${version}`)
execFileSync('git', ['tag', '--annotate', `v${version}`, '--cleanup=verbatim', '--file=-'], { cwd: root, input: notes })
await writeProvenance()
if (values.publish) git('push', publication.repository, 'main', `v${version}`)
console.log(
  [`Released v${version}. Left to a person:`, ...left.slice(values.publish ? 1 : 0).map((step) => `- ${step}`)].join('\n'),
)

async function setVersion() {
  await writeFile(join(root, 'VERSION'), `${version}\n`)
  // Writes package.json and the lock file.
  execFileSync('npm', ['version', version, '--no-git-tag-version'], { cwd: root, stdio: 'ignore' })
  await writeFile(join(root, 'CHANGELOG.md'), cutChangelog(changelog, version))
  await replaceIn('deploy/helm/Chart.yaml', /^((?:appV|v)ersion: ).*$/gm)
  for (const file of ['compose.yaml', 'compose.cluster.yaml']) await replaceIn(file, /^( +image: sluice:).*$/gm)
}

/** Writes the version behind what the pattern keeps. */
async function replaceIn(file, pattern) {
  await writeFile(join(root, file), (await read(file)).replaceAll(pattern, `$1${version}`))
}

async function makeFiles() {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const script of ['build', 'sbom'])
    if ((await runNode(join(root, `scripts/${script}.mjs`))) !== 0) throw new Error(`npm run ${script} failed`)
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: root, stdio: 'ignore' })
  await copyFile(join(root, 'dist/sbom.json'), join(folder, `${name}-${version}.cdx.json`))
  await copyFile(join(root, 'dist/openapi.json'), join(folder, `${name}-${version}.openapi.json`))
}

/** The commit is known only after the files are made. The checksums cover the provenance, too. */
async function writeProvenance() {
  const provenance = provenanceOf({
    version,
    repository: publication.repository,
    commit: git('rev-parse', 'HEAD'),
    lockHash: await sha256(join(root, 'package-lock.json')),
    node: process.version,
    finishedOn: new Date().toISOString(),
    subjects: await hashesOfFiles(),
  })
  await writeFile(join(folder, `${name}-${version}.provenance.json`), `${JSON.stringify(provenance, null, 2)}\n`)
  const lines = (await hashesOfFiles()).map((file) => `${file.sha256}  ${file.name}\n`)
  await writeFile(join(folder, 'SHA256SUMS'), lines.join(''))
}

async function hashesOfFiles() {
  const files = (await readdir(folder)).sort()
  return Promise.all(files.map(async (file) => ({ name: file, sha256: await sha256(join(folder, file)) })))
}

function fail(problems) {
  console.error(`No release of ${version || 'a version'}:\n${problems.map((problem) => `- ${problem}`).join('\n')}`)
  process.exit(1)
}
