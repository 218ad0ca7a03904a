import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { startPostgres } from '../../scripts/postgres-server.mjs'
import { openSqlite } from '../../src/server/base/db/sqlite-file.ts'
import { freshDatabase, type TestDatabase } from '../helpers/databases.ts'
import { documentedCommands, inlineCommand } from '../helpers/documented-commands.ts'
import { startProcess } from '../helpers/process.ts'
import { hasProgram, installation, requireCharges, serving, sqliteInstallation } from './installation.ts'

// The commands of docs/operations/backup.md, as they are written there.

const commandsOf = (chapter: string, heading = '') => documentedCommands('backup.md', chapter, heading)

it.each([
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const)('a site on %s is backed up while it serves, and restored into %s', async (kind, into) => {
  const { shell } = installation()
  const from = await freshDatabase(kind, 'started')
  onTestFinished(() => from.drop())
  const { server, spend } = await serving(from)
  await spend(3)
  await shell(commandsOf('Backup'), from.env)
  await spend(2)
  await server.kill('SIGTERM')

  const target = await freshDatabase(into, 'empty')
  onTestFinished(() => target.drop())
  await shell(commandsOf('Backup', 'Restore a backup'), target.env)
  const restored = await startProcess(target)
  onTestFinished(async () => void (await restored.kill('SIGKILL')))
  await shell(inlineCommand('backup.md', 'npm run -s sluice -- verify'), target.env)
  await restored.kill('SIGTERM')
  await requireCharges(target, 3)
})

it('a clean stop leaves the complete database in app.db, and a copy of only that file can be restored', async () => {
  const { folder, data, shell, database } = await sqliteInstallation()
  const { server, spend } = await serving(database)
  await spend(5)
  expect(await server.kill('SIGTERM')).toBe(0)
  const log = join(data, 'app.db-wal')
  expect(existsSync(log) ? statSync(log).size : 0).toBe(0)

  await shell(commandsOf('SQLite', 'Back up after a clean stop'))
  expect(readdirSync(join(folder, 'backup'))).toEqual(['app.db'])
  const copy = openSqlite(join(folder, 'backup', 'app.db'))
  expect(copy.prepare('select count(*) as rows from logs where type = 2').get()).toEqual({ rows: 5 })
  copy.close()
  rmSync(data, { recursive: true })
  mkdirSync(data)
  await shell(commandsOf('SQLite', 'Restore'))
  await requireCharges(database, 5)
})

const hasSqlite = hasProgram('sqlite3', 'the test of backups of SQLite', 'sqlite3')

it.runIf(hasSqlite)('a backup of SQLite while the server runs', async () => {
  const { data, shell, database } = await sqliteInstallation()
  const { server, spend } = await serving(database)
  await spend(3)
  const charges = `select count(*) from ledger where kind = 'charge'`
  const charged = async () => (await promisify(execFile)('sqlite3', [join(data, 'app.db'), charges])).stdout
  await expect.poll(charged).toBe('3\n')
  await shell(commandsOf('SQLite', 'Back up while the server runs'))
  await spend(2)
  // Killed, so that a write-ahead log with a later state remains beside the file.
  await server.kill('SIGKILL')
  await shell(commandsOf('SQLite', 'Restore'))
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

it.runIf(hasTools)('a backup of PostgreSQL while the server runs', async () => {
  const { data, shell } = installation()
  const postgres = await startPostgres({ bin })
  onTestFinished(() => postgres.stop())
  const env = { DATABASE_URL: `${postgres.url}/postgres`, DATA_DIR: data }
  const own = await freshDatabase('postgres', 'empty')
  onTestFinished(() => own.drop())
  const database: TestDatabase = { ...own, env }
  const tools = { DATABASE_URL: env.DATABASE_URL, PATH: `${bin}:${process.env.PATH}` }
  const { server, spend } = await serving(database)
  await spend(3)
  await shell(commandsOf('PostgreSQL', 'Back up'), tools)
  await spend(2)
  await server.kill('SIGTERM')
  await shell(commandsOf('PostgreSQL', 'Restore'), tools)
  await requireCharges(database, 3)
})

const hasStrings = hasProgram('strings', 'the test that reads a journal that was set aside', 'binutils')

it.runIf(hasStrings)('a journal that was set aside shows its charges, as JSON with request id, user, key and units', async () => {
  const { data, shell, database } = await sqliteInstallation()
  const { server, spend } = await serving(database)
  const ids = await spend(3)
  await server.kill('SIGKILL')
  const journal = readdirSync(data).filter((name) => /-charges-[12]$/.test(name))
  const reading = journal.map((name) => inlineCommand('backup.md', 'strings FILE').replace('FILE', join(data, name)))
  // Request id, user, key and units.
  expect(await shell(reading.join('\n'))).toMatch(new RegExp(`\\["${ids.at(-1)}",1,\\d+,\\d+,`))
})
