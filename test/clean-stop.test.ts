import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { startPostgres } from '../scripts/postgres-server.mjs'
import { openSqlite } from '../src/server/db/sqlite-file.ts'
import { startServer } from './helpers/app.ts'
import { collectGarbage } from './helpers/collect-garbage.ts'
import { freshDatabase, type TestDatabase } from './helpers/databases.ts'
import { documentedCommands } from './helpers/documented-commands.ts'
import { startProcess } from './helpers/process.ts'
import { books, requireBalancedBooks } from './helpers/seed.ts'
import { newFolder } from './helpers/templates.ts'
import { upstreamOfTest } from './helpers/upstream.ts'
import { ask, chat, model } from './relay/stage.ts'

const run = promisify(execFile)

const commandsOf = (chapter: string, heading: string) => documentedCommands('backup.md', chapter, heading)

/** A folder as in backup.md, with `data` and `backup`. */
function installation() {
  const folder = newFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'data')
  mkdirSync(data)
  mkdirSync(join(folder, 'backup'))
  return { folder, data }
}

async function sqliteInstallation() {
  const { folder, data } = installation()
  const template = await freshDatabase('sqlite', 'started')
  copyFileSync(join(template.env.DATA_DIR, 'app.db'), join(data, 'app.db'))
  await template.drop()
  return { folder, data, database: { ...template, env: { DATABASE_URL: '', DATA_DIR: data } } }
}

/** A server with a channel and a key. `spend` makes a number of charged calls. */
async function serving(database: TestDatabase) {
  const upstream = await upstreamOfTest()
  const server = await startProcess(database)
  onTestFinished(async () => void (await server.kill('SIGKILL')))
  await server.call('POST /api/channel/', { name: 'x', type: 1, key: 'k', base_url: upstream.url, models: model })
  const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })
  const spend = async (calls: number) => {
    for (let call = 0; call < calls; call++) expect((await ask(server, `sk-${key}`, chat())).status).toBe(200)
  }
  return { server, spend }
}

const shell = (folder: string, commands: string, env: Record<string, string> = {}) =>
  run('sh', ['-euc', commands], { cwd: folder, env: { ...process.env, ...env } })

async function requireCharges(database: TestDatabase, count: number): Promise<void> {
  const server = await startServer(database.kind, { database })
  expect((await books(server)).logs).toHaveLength(count)
  await requireBalancedBooks(server)
  await server.stop()
}

it('a stopped server is not retained in the memory of its process', async () => {
  const afterStop = async () => {
    const server = await startServer('sqlite')
    await server.call('GET /api/status')
    await server.stop()
    return new WeakRef(server.app)
  }
  const apps = [await afterStop(), await afterStop()]
  const kept = () => {
    collectGarbage()
    return apps.filter((app) => app.deref() !== undefined).length
  }
  await expect.poll(kept).toBe(0)
})

it('a clean stop leaves the complete database in app.db, and a copy of only that file can be restored', async () => {
  const { folder, data, database } = await sqliteInstallation()
  const { server, spend } = await serving(database)
  await spend(5)
  expect(await server.kill('SIGTERM')).toBe(0)
  const log = join(data, 'app.db-wal')
  expect(existsSync(log) ? statSync(log).size : 0).toBe(0)

  await shell(folder, commandsOf('SQLite', 'Back up after a clean stop'))
  expect(readdirSync(join(folder, 'backup'))).toEqual(['app.db'])
  const copy = openSqlite(join(folder, 'backup', 'app.db'))
  expect(copy.prepare('select count(*) as rows from logs where type = 2').get()).toEqual({ rows: 5 })
  copy.close()
  rmSync(data, { recursive: true })
  mkdirSync(data)
  await shell(folder, commandsOf('SQLite', 'Restore'))
  await requireCharges(database, 5)
})

const hasSqlite = (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'sqlite3')))
if (!hasSqlite)
  process.stderr.write(
    '\n!!! sqlite3 is missing: the test of backups of SQLite is SKIPPED. Install it: apt-get install sqlite3\n\n',
  )

it.runIf(hasSqlite)('the commands of backup.md work: a backup of SQLite while the server runs', async () => {
  const { folder, database } = await sqliteInstallation()
  const { server, spend } = await serving(database)
  await spend(3)
  const charges = `select count(*) from ledger where kind = 'charge'`
  await expect.poll(async () => (await run('sqlite3', [join(folder, 'data', 'app.db'), charges])).stdout).toBe('3\n')
  await shell(folder, commandsOf('SQLite', 'Back up while the server runs'))
  await spend(2)
  // Killed, so that a write-ahead log with a later state remains beside the file.
  await server.kill('SIGKILL')
  await shell(folder, commandsOf('SQLite', 'Restore'))
  await requireCharges(database, 3)
})

/** The installed versions of PostgreSQL: its tools refuse newer servers. */
const systems = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').sort() : []
const bin = `/usr/lib/postgresql/${systems.at(-1)}/bin`
const hasTools = ['postgres', 'initdb', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(bin, name)))
if (!hasTools)
  process.stderr.write(
    '\n!!! pg_dump is missing: the test of backups of PostgreSQL is SKIPPED. Install it: apt-get install postgresql\n\n',
  )

it.runIf(hasTools)('the commands of backup.md work: a backup of PostgreSQL while the server runs', async () => {
  const { folder, data } = installation()
  const postgres = await startPostgres({ bin })
  onTestFinished(() => postgres.stop())
  const env = { DATABASE_URL: `${postgres.url}/postgres`, DATA_DIR: data }
  const own = await freshDatabase('postgres', 'empty')
  onTestFinished(() => own.drop())
  const database: TestDatabase = { ...own, env }
  const tools = { DATABASE_URL: env.DATABASE_URL, PATH: `${bin}:${process.env.PATH}` }
  const { server, spend } = await serving(database)
  await spend(3)
  await shell(folder, commandsOf('PostgreSQL', 'Back up'), tools)
  await spend(2)
  await server.kill('SIGTERM')
  await shell(folder, commandsOf('PostgreSQL', 'Restore'), tools)
  await requireCharges(database, 3)
})
