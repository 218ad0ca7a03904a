import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from './free-port.ts'

/** Whether PgBouncer is installed; otherwise the tests with it are skipped, with a message. */
export const hasPgbouncer = spawnSync('pgbouncer', ['--version']).status === 0
if (!hasPgbouncer) process.stderr.write('\n  !! pgbouncer is not installed: the tests behind PgBouncer are SKIPPED\n\n')

/** It refuses to run as root: then it runs as `nobody`. */
const nobody = 65_534

interface Pgbouncer {
  /** The address of the database behind it. */
  readonly url: string
  stop(): Promise<void>
}

/** PgBouncer in transaction mode in front of a database. `more`: further settings. */
export async function startPgbouncer(databaseUrl: string, more = ''): Promise<Pgbouncer> {
  const { hostname, port: databasePort, username, password, pathname } = new URL(databaseUrl)
  const name = pathname.slice(1)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pgbouncer-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
${name} = host=${hostname} port=${databasePort} dbname=${name} user=${decodeURIComponent(username)}${password === '' ? '' : ` password=${decodeURIComponent(password)}`}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
${more}
`,
  )
  chmodSync(file, 0o644)
  const identity = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
  const child = spawn('pgbouncer', ['-q', file], { stdio: 'ignore', ...identity })
  for (let tries = 0; !(await accepts(port)); tries++) {
    if (child.exitCode !== null || tries === 500) throw new Error(`pgbouncer did not start (${child.exitCode})`)
    await pause(20)
  }
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${port}`
  return {
    url: url.href,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGKILL')) await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
