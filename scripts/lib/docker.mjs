// A Docker daemon of this project's own: it knows nothing of one that the machine already runs, and leaves nothing on the machine but its folder.
import { execFile, spawn } from 'node:child_process'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ended, startChild } from './process.mjs'

const startMaxMs = 120_000

/**
 * Starts a daemon that keeps its images and containers in `folder`. An `isolated` one has a network of its own, in which it makes
 * bridges, ports and firewall rules, and from which nothing else can be reached. The other one has the network of the machine, changes
 * nothing in it, and gives it to containers that ask for `--network host`.
 */
export async function startDaemon(folder, { isolated }) {
  const [socket, log] = [join(folder, 'docker.sock'), join(folder, 'dockerd.log')]
  await mkdir(join(folder, 'config/cli-plugins'), { recursive: true, mode: 0o700 })
  await writeFile(join(folder, 'daemon.json'), '{}')
  const places = [`--data-root=${folder}/data`, `--exec-root=${folder}/run`, `--pidfile=${folder}/pid`, `--host=unix://${socket}`]
  const network = isolated ? [] : ['--bridge=none', '--iptables=false', '--ip-forward=false', '--ip-masq=false']
  const daemon = ['dockerd', `--config-file=${folder}/daemon.json`, '--shutdown-timeout=5', ...places, ...network]
  // Its mounts end with it in either case.
  const begin = isolated
    ? ['unshare', '--mount', '--net', 'sh', '-euc', 'ip link set lo up; exec "$@"', 'sh', ...daemon]
    : ['unshare', '--mount', ...daemon]
  const output = await open(log, 'w')
  const child = startChild(begin, { stdio: ['ignore', output.fd, output.fd] })
  await output.close()

  const env = {
    DOCKER_HOST: `unix://${socket}`,
    DOCKER_CONFIG: join(folder, 'config'),
    // The builder that needs no plugin. Its cache does not ask which network a step had, so that builds repeat without one.
    DOCKER_BUILDKIT: '0',
  }
  const run = (args, options = {}) => ended(spawn('docker', args, { ...options, env: { ...process.env, ...env } }))
  for (const end = Date.now() + startMaxMs; (await run(['version'], { stdio: 'ignore' })) !== 0; await pause(200)) {
    if (child.exitCode === null && Date.now() < end) continue
    throw new Error(`dockerd does not start:\n${(await readFile(log, 'utf8')).split('\n').slice(-15).join('\n')}`)
  }
  return {
    env,
    pid: child.pid,
    /** Runs `docker` in this terminal. Rejects when it fails. */
    async docker(args, options = {}) {
      const code = await run(args, { stdio: ['ignore', 2, 2], ...options })
      if (code !== 0) throw new Error(`docker ${args[0]} failed with ${code}`)
    },
    /** Whether `docker` succeeds. */
    succeeds: async (args) => (await run(args, { stdio: 'ignore' })) === 0,
    /** The lines that `docker` prints. */
    async lines(args) {
      const { stdout } = await promisify(execFile)('docker', args, { env: { ...process.env, ...env } })
      return stdout.split('\n').filter(Boolean)
    },
    async stop() {
      const over = ended(child)
      if (child.exitCode === null && child.kill('SIGTERM')) await over
    },
  }
}
