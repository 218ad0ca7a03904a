import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
import { freePort } from './free-port.ts'

/** A real MariaDB with an empty data folder on a free loopback port. */
export interface MariadbServer {
  /** Creates an empty database and returns its address in the format of Go. */
  database(name: string): Promise<string>
  /** Runs statements in a database. */
  run(name: string, statements: readonly string[]): Promise<void>
  /** The output of `mariadb-dump` for a database. */
  dump(name: string, options?: readonly string[]): Promise<string>
  stop(): Promise<void>
}

const run = promisify(execFile)
const password = 'p@ss:word/1'
const dumpMaxBytes = 64 << 20
const launchesMax = 3

/** Undefined, with a loud notice, on a machine without `mariadbd` (Debian package mariadb-server). */
export async function startMariadb(): Promise<MariadbServer | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-mariadb-'))
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : []
  const plain = ['--no-defaults', `--datadir=${join(folder, 'data')}`]
  const socket = join(folder, 'socket')
  let server: ChildProcess | undefined

  const stop = async () => {
    if (server && server.exitCode === null) {
      const ended = new Promise((resolve) => server?.once('exit', resolve))
      server.kill('SIGKILL')
      await ended
    }
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await run('mariadb-install-db', [...plain, ...asRoot, '--auth-root-authentication-method=normal', '--skip-test-db'])
  } catch {
    process.stderr.write(
      '\n!!! mariadb-server is missing: the tests of MariaDB are SKIPPED. Install it: apt-get install mariadb-server\n\n',
    )
    await stop()
    return undefined
  }
  const light = ['--skip-log-bin', '--innodb-flush-log-at-trx-commit=0', '--innodb-buffer-pool-size=32M']
  // Another process may take the free port before the server does.
  let port = 0
  const launch = async () => {
    port = await freePort()
    const settings = [`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${socket}`, `--pid-file=${join(folder, 'pid')}`]
    server = spawn('mariadbd', [...plain, ...asRoot, ...settings, ...light], { stdio: 'ignore' })
  }

  const connect = (database?: string) =>
    createConnection({
      socketPath: socket,
      user: 'root',
      multipleStatements: true,
      ...(database === undefined ? {} : { database }),
    })
  await launch()
  for (let launches = 1; ; ) {
    const connection = await connect().catch(() => undefined)
    if (connection) {
      await connection.query(`create user 'mover'@'%' identified by '${password}'; grant select on *.* to 'mover'@'%'`)
      await connection.end()
      break
    }
    if (server?.exitCode != null) {
      if (launches++ === launchesMax) throw new Error(`MariaDB ended with ${server.exitCode}`)
      await launch()
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }

  const runIn: MariadbServer['run'] = async (name, statements) => {
    const connection = await connect(name)
    try {
      for (const statement of statements) await connection.query(statement)
    } finally {
      await connection.end()
    }
  }
  return {
    async database(name) {
      const connection = await connect()
      await connection.query(`create database ${name} character set utf8mb4`)
      await connection.end()
      return `mover:${password}@tcp(127.0.0.1:${port})/${name}?charset=utf8mb4&parseTime=True`
    },
    run: runIn,
    async dump(name, options = []) {
      const { stdout } = await run('mariadb-dump', ['--no-defaults', `--socket=${socket}`, '-u', 'root', ...options, name], {
        maxBuffer: dumpMaxBytes,
      })
      return stdout
    },
    stop,
  }
}
