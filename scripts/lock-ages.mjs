// `node scripts/lock-ages.mjs`: fails when the lock file has a package without a recorded age, or one younger than a week. Needs
// no network: the ages are in lock-ages.json. `--record` queries the registry for the new ones, a few per change, and
// `--record --reason "…"` accepts a younger one, with the reason.
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ageProblems, lockedVersions } from './lib/lock-ages.mjs'
import { root } from './lib/process.mjs'

const run = promisify(execFile)
const file = join(root, 'scripts/lock-ages.json')
const newMax = 40

const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
let ages = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'))
if (process.argv.includes('--record')) {
  ages = await record(ages, process.argv[process.argv.indexOf('--reason') + 1 || process.argv.length])
  await writeFile(file, `${JSON.stringify(ages, null, 2)}\n`)
}

const problems = ageProblems(lock, ages, Date.now())
for (const problem of problems) console.error(problem)
console.log(problems.length === 0 ? `${Object.keys(ages).length} packages are old enough` : `${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

async function record(known, reason) {
  const locked = lockedVersions(lock)
  const fresh = locked.filter((version) => known[version] === undefined)
  if (Object.keys(known).length === 0) {
    const today = new Date().toISOString().slice(0, 10)
    return Object.fromEntries(locked.map((version) => [version, `before ${today}`]))
  }
  if (fresh.length > newMax) throw new Error(`${fresh.length} packages are new: bring them in a few at a time`)
  const dated = []
  for (const version of fresh) dated.push([version, await ageOf(version, reason)])
  const kept = Object.entries(known).filter(([version]) => locked.includes(version))
  return Object.fromEntries([...kept, ...dated].sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function ageOf(version, reason) {
  const name = version.slice(0, version.lastIndexOf('@'))
  const { stdout } = await run('npm', ['view', name, 'time', '--json'], { maxBuffer: 16 * 1024 * 1024 })
  const day = JSON.parse(stdout)[version.slice(name.length + 1)]?.slice(0, 10)
  if (day === undefined) throw new Error(`The registry does not know ${version}`)
  return reason ? `${day} ${reason}` : day
}
