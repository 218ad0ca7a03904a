// `npm run check`: all checks that must pass before a change lands. `--fast` leaves out the tests and the weight of the screens.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded } from './lib/install.mjs'
import { commandOf, root, runNode } from './lib/process.mjs'

const budget = { entryKb: 160, visitKb: 250 }

const steps = [
  { name: 'format and lint', run: () => runNode(commandOf('@biomejs/biome', 'biome'), ['ci', '--reporter=default']) },
  { name: 'types', run: () => runNode(commandOf('typescript', 'tsc'), ['-b', 'tsconfig.json']) },
  { name: 'unused exports', run: () => runNode('scripts/unused-exports.mjs') },
  { name: 'generated documents', run: () => runNode('scripts/docs.mjs', ['--check']) },
  { name: 'size of the console', run: checkBundle },
  { name: 'weight of every screen', slow: true, run: () => runNode('scripts/bench-web.mjs', ['--weight']) },
  { name: 'age of packages', run: () => runNode('scripts/lock-ages.mjs') },
  { name: 'tests', slow: true, run: () => runNode('scripts/test.mjs') },
]

await installWhenNeeded({ tests: true })
await buildWhenStale()

const results = []
const isFast = process.argv.includes('--fast')
for (const step of steps.filter(({ slow }) => !(slow && isFast))) {
  console.log(`\n── ${step.name}`)
  const startedAt = Date.now()
  const code = await step.run()
  results.push({ name: step.name, ok: code === 0, seconds: (Date.now() - startedAt) / 1000 })
}

console.log('')
for (const { name, ok, seconds } of results) console.log(`${ok ? 'ok    ' : 'FAILED'}  ${name} (${seconds.toFixed(1)} s)`)
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1

/** Checks the compressed size of the entry, and of a first visit: the entry and one screen. KB of 1000 bytes. */
async function checkBundle() {
  const manifest = JSON.parse(await readFile(join(root, 'dist/web/.vite/manifest.json'), 'utf8'))
  const chunks = Object.keys(manifest)
  const entry = chunks.find((name) => manifest[name].isEntry)
  const screens = manifest[entry].dynamicImports ?? []

  const entryKb = await sizeOf(manifest, [entry])
  const visits = await Promise.all(screens.map(async (screen) => ({ screen, kb: await sizeOf(manifest, [entry, screen]) })))
  visits.sort((a, b) => b.kb - a.kb)

  console.log(`entry ${entryKb.toFixed(0)} KB of ${budget.entryKb}`)
  for (const { screen, kb } of visits.slice(0, 3)) console.log(`first visit ${kb.toFixed(0)} KB of ${budget.visitKb}: ${screen}`)
  return entryKb <= budget.entryKb && visits.every(({ kb }) => kb <= budget.visitKb) ? 0 : 1
}

/** Scripts of the chunks and of all their static imports; styles are counted separately by the browser. */
async function sizeOf(manifest, names) {
  const seen = new Set()
  const visit = (name) => {
    if (seen.has(name)) return
    seen.add(name)
    for (const imported of manifest[name].imports ?? []) visit(imported)
  }
  names.forEach(visit)
  const files = [...seen].map((name) => manifest[name].file).filter((file) => file.endsWith('.js'))
  const sizes = await Promise.all(
    files.map(async (file) => gzipSync(await readFile(join(root, 'dist/web', file)), { level: 9 }).length),
  )
  return sizes.reduce((sum, size) => sum + size, 0) / 1000
}
