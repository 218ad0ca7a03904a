// `npm run sbom`: writes the bill of materials as CycloneDX into dist/sbom.json: every package of the lock file, including those in
// the console's bundle. It depends only on the lock file, and is the same for the same lock file.
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './lib/process.mjs'

const manifestOf = async (path) => JSON.parse(await readFile(join(root, path), 'utf8'))
const { name, version } = await manifestOf('package.json')
const tests = await manifestOf('test/package.json')

const { stdout } = await promisify(execFile)(
  'npm',
  ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'],
  { cwd: root, maxBuffer: 64 * 1024 * 1024 },
)
// Timestamp and serial number are left out, because they differ each time.
const { serialNumber: _, ...bom } = JSON.parse(stdout)
const { timestamp: __, ...metadata } = bom.metadata
const component = { ...metadata.component, name, version }
// The workspace of the tests is a folder, not a package; its packages are listed like all others.
const isPackage = (ref) => ref !== `${tests.name}@${tests.version}`
const components = bom.components.filter((one) => isPackage(one['bom-ref']))
const dependencies = bom.dependencies
  .filter(({ ref }) => isPackage(ref))
  .map((one) => ({ ...one, dependsOn: one.dependsOn?.filter(isPackage) }))

await mkdir(join(root, 'dist'), { recursive: true })
const file = join(root, 'dist/sbom.json')
await writeFile(file, `${JSON.stringify({ ...bom, metadata: { ...metadata, component }, components, dependencies }, null, 2)}\n`)
console.log(`${file}: ${components.length} packages`)
