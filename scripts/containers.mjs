// `npm run containers [-- FILE …]`: builds the image from its Dockerfile, and runs it, both compose files and the unit of systemd by the commands of the documents, in a Docker daemon of
// this script's own. No registry of images is needed: the base images are made of Debian's packages. What the tests run has a network
// of its own, so that the firewall and the addresses of the machine stay as they are.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { makeBaseImages } from './lib/base-images.mjs'
import { startDaemon } from './lib/docker.mjs'
import { cacheFolder } from './lib/fetch-node.mjs'
import { installWhenNeeded } from './lib/install.mjs'
import { ended, root, startChild } from './lib/process.mjs'

/** Programs, and Debian's packages that have them. */
const parts = {
  dockerd: 'docker.io',
  docker: 'docker.io (docker-cli from Debian 13 on)',
  mmdebstrap: 'mmdebstrap',
  iptables: 'iptables',
  ip: 'iproute2',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  git: 'git',
  // The commands of the documents make secrets with it.
  openssl: 'openssl',
}

requireParts()
// An exit ends the daemon and the tests, too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
await installWhenNeeded({ tests: true })
const folder = join(cacheFolder(), 'containers')
const sources = await mkdtemp(join(tmpdir(), 'sluice-containers-'))
try {
  const [project, newer] = [join(sources, 'project'), join(sources, 'newer')]
  await copyProject(project)
  await copyProject(newer)
  await writeFile(join(newer, 'VERSION'), '99.0.0\n')
  await makeImages([project, newer])
  process.exitCode = await runTests({ CONTAINERS_PROJECT: project, CONTAINERS_NEWER: newer })
} finally {
  await rm(sources, { recursive: true, force: true })
}

function requireParts() {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const missing = Object.keys(parts).filter((name) => !folders.some((path) => existsSync(join(path, name))))
  const problems = [
    ...(process.platform === 'linux' && process.getuid() === 0 ? [] : ['It needs root on Linux: it starts a Docker daemon.']),
    ...missing.map((name) => `${name} is missing: apt-get install ${parts[name]}`),
  ]
  if (problems.length === 0) return
  console.error(['!!! The image, the compose files and the unit of systemd were NOT run.', ...problems].join('\n'))
  process.exit(1)
}

/** The files that git tracks, as they are now: what a user has after cloning. */
async function copyProject(target) {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)
  for (const file of files) await cp(join(root, file), join(target, file), { preserveTimestamps: true })
}

/** The steps that need a network. The tests repeat these builds by the commands of the documents, from the builder's cache. */
async function makeImages(projects) {
  const daemon = await startDaemon(folder, { isolated: false })
  const build = (args) => daemon.docker(['build', '--quiet', '--network=host', ...args], { stdio: ['ignore', 'ignore', 2] })
  try {
    // What a run that was killed has left in this script's own daemon.
    for (const left of ['container', 'network']) await daemon.docker([left, 'prune', '--force'], { stdio: 'ignore' })
    for (const volume of await daemon.lines(['volume', 'ls', '--quiet']))
      await daemon.docker(['volume', 'rm', volume], { stdio: 'ignore' })
    await makeBaseImages(daemon)
    for (const project of projects) {
      console.log(`Building ${project} …`)
      await build(['--tag', 'sluice', project])
    }
    const [project] = projects
    console.log('Building a server with systemd …')
    await build(['--tag', 'machine', '--file', join(project, 'test/containers/machine.Dockerfile'), project])
  } finally {
    await daemon.stop()
  }
}

async function runTests(env) {
  const daemon = await startDaemon(folder, { isolated: true })
  const args = [join(root, 'scripts/test.mjs'), '--config', 'vitest.containers.config.ts', ...process.argv.slice(2)]
  try {
    await removeAll(daemon)
    const network = `--net=/proc/${daemon.pid}/ns/net`
    const tests = startChild(['nsenter', network, process.execPath, ...args], {
      stdio: 'inherit',
      env: { ...process.env, ...daemon.env, ...env },
    })
    const code = await ended(tests)
    await removeAll(daemon)
    return code
  } finally {
    await daemon.stop()
  }
}

/** Removes what tests make, also what those of an earlier run left that was cut off; keeps the images that builds begin with. */
async function removeAll({ docker, lines }) {
  for (const [kind, list, remove] of [
    ['container', ['--all'], ['--force', '--volumes']],
    ['volume', [], []],
    ['network', ['--filter=type=custom'], []],
    ['image', ['--filter=reference=sluice-gateway-*'], ['--force']],
  ]) {
    const found = await lines([kind, 'ls', '--quiet', ...list])
    if (found.length > 0) await docker([kind, 'rm', ...remove, ...new Set(found)], { stdio: ['ignore', 'ignore', 2] })
  }
}
