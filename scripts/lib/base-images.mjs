// The images that Dockerfile and the compose files name, and a server with systemd, for machines without a registry of images: Debian's packages, with Node and npm from npm, under the
// names, paths, users and entry points of the official ones. test/containers/images has a folder for each.
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetchNode } from './fetch-node.mjs'
import { root } from './process.mjs'

const folderOfImages = join(root, 'test/containers/images')
const certificates = '/etc/ssl/certs/ca-certificates.crt'
const composePlugin = '/usr/libexec/docker/cli-plugins/docker-compose'

/** The newest of Node 24's that is older than a week. */
const npmVersion = 'npm@11.21.2'
/** The release of Debian that has the versions of the named images. */
const release = 'trixie'
const images = [
  { name: `debian:${release}-slim`, make: importDebian, recipe: [] },
  { name: 'node:24-slim', make: (docker, made) => buildImage(docker, made, 'node', addNode) },
  { name: 'debian-systemd', make: (docker, made) => buildImage(docker, made, 'systemd') },
  { name: 'postgres:17', make: (docker, made) => buildImage(docker, made, 'postgres') },
  { name: 'redis:8-alpine', make: (docker, made) => buildImage(docker, made, 'redis') },
  { name: 'nginx:1.29-alpine', make: (docker, made) => buildImage(docker, made, 'nginx') },
  { name: 'docker-compose', make: (docker, made) => buildImage(docker, made, 'compose') },
]

/** Makes the images that are missing or were made by another recipe, and takes the plugin Compose out of the last one. */
export async function makeBaseImages({ docker, succeeds, env }) {
  for (const { name, make, recipe = await recipeFiles() } of images) {
    const made = `${name.split(':')[0]}:${await hashOf(recipe)}`
    if (!(await succeeds(['inspect', '--type=image', made]))) {
      console.log(`Making ${name} …`)
      await make(docker, made)
    }
    await docker(['tag', made, name])
  }
  await docker(['create', '--name', 'compose', 'docker-compose'], { stdio: 'ignore' })
  await docker(['cp', `compose:${composePlugin}`, join(env.DOCKER_CONFIG, 'cli-plugins')], { stdio: 'ignore' })
  await docker(['rm', 'compose'], { stdio: 'ignore' })
}

/** A minimal system, without a mirror of our choice: mmdebstrap takes Debian's. */
async function importDebian(docker, made) {
  const system = spawn('mmdebstrap', ['--variant=minbase', '--quiet', release, '-'], { stdio: ['ignore', 'pipe', 2] })
  const over = once(system, 'exit')
  await docker(['import', '--change', 'CMD ["bash"]', '-', made], { stdio: [system.stdout, 'ignore', 2] })
  const [code] = await over
  if (code !== 0) throw new Error(`mmdebstrap failed with ${code}`)
}

async function buildImage(docker, made, folder, add) {
  const context = await mkdtemp(join(tmpdir(), 'sluice-image-'))
  try {
    await cp(join(folderOfImages, folder), context, { recursive: true })
    await add?.(context)
    await docker(['build', '--quiet', '--network=host', '--tag', made, context], { stdio: ['ignore', 'ignore', 2] })
  } finally {
    await rm(context, { recursive: true, force: true })
  }
}

/** Node and npm, with the registry and the certificates that npm uses on this machine. */
async function addNode(context) {
  const { program } = await fetchNode()
  const npm = (...args) => execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 2] }).trim()
  await cp(program, join(context, 'node'))
  npm('install', '--global', '--ignore-scripts', '--loglevel=error', '--prefix', join(context, 'npm'), npmVersion)
  const cafile = npm('config', 'get', 'cafile')
  const own = cafile === 'null' ? process.env.NODE_EXTRA_CA_CERTS : cafile
  const settings = [`registry=${npm('config', 'get', 'registry')}`, ...(own ? [`cafile=${certificates}`] : [])]
  await writeFile(join(context, 'npmrc'), `${settings.join('\n')}\n`)
  await writeFile(join(context, 'ca-certificates.crt'), own ? await readFile(own) : '')
}

/** Everything that the images are made of, except Debian's packages. */
async function recipeFiles() {
  const files = (await readdir(folderOfImages, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const programs = ['scripts/lib/base-images.mjs', 'scripts/lib/fetch-node.mjs'].map((path) => join(root, path))
  return [...files.map(({ parentPath, name }) => join(parentPath, name)), ...programs].toSorted()
}

async function hashOf(paths) {
  const hash = createHash('sha256').update(release)
  for (const path of paths) hash.update(path.slice(root.length)).update(await readFile(path))
  return hash.digest('hex').slice(0, 16)
}
