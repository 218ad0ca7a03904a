// `npm run build`: compiles dist/contract and dist/server with TypeScript, with dist/server/main.js and sluice.js as bundles of them and of
// their packages; describes the console calls in dist/openapi.json; builds dist/web with Vite, with compressed copies of its files, and
// the documentation in dist/docs; and collects the licences. The exported function builds only the parts that changed since the last build, by a hash over the sources.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installWhenNeeded } from './lib/install.mjs'
import { noticesFile, priceLicences, writeNotices } from './lib/notices.mjs'
import { packFiles } from './lib/pack-files.mjs'
import { commandOf, root, runNode } from './lib/process.mjs'

const stamp = join(root, 'dist/.built')
const shared = ['package-lock.json', 'tsconfig.base.json', 'src/contract']

const parts = {
  server: {
    from: [...shared, 'VERSION', 'tsconfig.contract.json', 'tsconfig.server.json', 'vite.server.config.ts', 'src/server'],
    makes: 'dist/server/main.js',
    build: buildServer,
  },
  web: {
    from: [
      ...shared,
      'tsconfig.web.json',
      'vite.config.ts',
      'scripts/lib/pack-files.mjs',
      'docs/operations/moving.md',
      'src/web',
    ],
    makes: 'dist/web/index.html',
    build: buildWeb,
  },
  docs: {
    from: ['package-lock.json', 'package.json', 'scripts/docs-site', 'scripts/lib/pack-files.mjs', 'docs'],
    makes: 'dist/docs/index.html',
    // Loaded when it is needed, because it needs packages.
    build: async () => (await import('./docs-site/make.mjs')).makeDocsSite(),
  },
  notices: {
    from: ['LICENSE', 'package-lock.json', 'scripts/lib/notices.mjs', priceLicences, 'src/web'],
    makes: noticesFile,
    build: async () => {
      await writeNotices()
      return 0
    },
  },
}

async function buildServer() {
  const code = await runNode(commandOf('typescript', 'tsc'), ['-b', 'tsconfig.server.json'])
  if (code !== 0) return code
  await writeOpenApi()
  await rm(join(root, 'dist/server/chunks'), { recursive: true, force: true })
  return runNode(commandOf('vite'), ['build', '--config', 'vite.server.config.ts', '--logLevel', 'warn'])
}

/** What a server without a base path answers at /api/openapi.json, for readers without a server. */
async function writeOpenApi() {
  const { openApi } = await import('../dist/server/console/calls/openapi.js')
  const version = (await readFile(join(root, 'VERSION'), 'utf8')).trim()
  await writeFile(join(root, 'dist/openapi.json'), `${JSON.stringify(openApi(version), null, 1)}\n`)
}

async function buildWeb() {
  const code = await runNode(commandOf('vite'), ['build', '--manifest', '--logLevel', 'warn'])
  if (code === 0) await packFiles(join(root, 'dist/web/assets'))
  return code
}

/** Builds the stale ones of the requested parts in parallel. Ends the process when a build fails. */
export async function buildWhenStale({ force = false, only = Object.keys(parts) } = {}) {
  const built = force ? {} : await readStamp()
  const now = Object.fromEntries(await Promise.all(only.map(async (name) => [name, await hashOf(parts[name].from)])))
  const stale = only.filter((name) => built[name] !== now[name] || !existsSync(join(root, parts[name].makes)))
  if (stale.length === 0) return

  const startedAt = Date.now()
  console.log(`Building ${stale.join(', ')} …`)
  await mkdir(join(root, 'dist'), { recursive: true })
  const codes = await Promise.all(stale.map((name) => parts[name].build()))
  const failed = stale.filter((_, index) => codes[index] !== 0)
  await writeFile(
    stamp,
    JSON.stringify({
      ...built,
      ...Object.fromEntries(stale.filter((name) => !failed.includes(name)).map((name) => [name, now[name]])),
    }),
  )
  if (failed.length > 0) {
    console.error(`The build of ${failed.join(', ')} failed.`)
    process.exit(1)
  }
  console.log(`Built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`)
}

async function readStamp() {
  try {
    return JSON.parse(await readFile(stamp, 'utf8'))
  } catch {
    return {}
  }
}

/** One hash over the names and contents of files and folders, without tests. */
async function hashOf(paths) {
  const files = (await Promise.all(paths.map((path) => filesBelow(join(root, path))))).flat().sort()
  const contents = await Promise.all(files.map((file) => readFile(file)))
  const hash = createHash('sha256')
  files.forEach((file, index) => {
    hash.update(relative(root, file)).update('\0').update(contents[index]).update('\0')
  })
  return hash.digest('hex')
}

async function filesBelow(path) {
  const entries = await readdir(path, { withFileTypes: true }).catch((error) => (error.code === 'ENOTDIR' ? undefined : []))
  if (entries === undefined) return [path]
  const wanted = entries.filter((entry) => entry.name !== 'fixtures' && !/\.test\.tsx?$/.test(entry.name))
  return (
    await Promise.all(
      wanted.map((entry) => (entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)])),
    )
  ).flat()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await installWhenNeeded()
  await buildWhenStale({ force: true })
}
