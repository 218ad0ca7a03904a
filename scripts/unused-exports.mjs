// `node scripts/unused-exports.mjs`: fails when a file exports what no other file imports. Such an export is deleted, or loses its `export`.
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { root } from './lib/process.mjs'
import { unusedExports } from './lib/unused-exports.mjs'

/** Loaded by the name of their file: configurations of tools, what they start, and types that tests compile against. */
const loadedByName = [
  /\.config\.ts$/,
  /^test\/helpers\/(?:global-setup|canary-setup|canary-tally)\.ts$/,
  /^test\/wire-types\/wire-types\.ts$/,
]
const isLoadedByName = (path) => loadedByName.some((pattern) => pattern.test(path))

const folders = ['src', 'test', 'scripts'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true }).map((path) => posix.join(folder, path.replaceAll('\\', '/'))),
)
const files = [...folders, ...readdirSync(root)]
  .filter((path) => /\.(?:tsx?|mjs|mts)$/.test(path) && !path.includes('/node_modules/'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

const unused = unusedExports(files, isLoadedByName)
for (const each of unused) console.error(each)
console.log(unused.length === 0 ? `The exports of ${files.length} files are used` : `${unused.length} exports are unused`)
process.exitCode = unused.length === 0 ? 0 : 1
