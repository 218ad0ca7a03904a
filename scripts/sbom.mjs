// `npm run sbom`: writes the bill of materials as CycloneDX into dist/sbom.json: every package of the lock file, including those in
// the console's bundle. It depends only on the lock file, and is the same for the same lock file.
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './lib/process.mjs'

const { stdout } = await promisify(execFile)(
  'npm',
  ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'],
  { cwd: root, maxBuffer: 64 * 1024 * 1024 },
)
// Timestamp and serial number are left out, because they differ each time.
const { serialNumber: _, ...bom } = JSON.parse(stdout)
const { timestamp: __, ...metadata } = bom.metadata
const { name, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const component = { ...metadata.component, name, version }

await mkdir(join(root, 'dist'), { recursive: true })
const file = join(root, 'dist/sbom.json')
await writeFile(file, `${JSON.stringify({ ...bom, metadata: { ...metadata, component } }, null, 2)}\n`)
console.log(`${file}: ${bom.components.length} packages`)
