import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../../src/server/base/db/migrate.ts'
import { type Database, openDatabase } from '../../src/server/base/db/open.ts'
import { createRoot } from '../../src/server/people/accounts/create-root.ts'
import { cheapPasswords, rootPassword, testCore } from './core.ts'

/**
 * The initial database of a test: without any table, with the current schema, or as after the first start of a server, with `root` and
 * the keys of `testMasterKey`. The latter are copies of templates: running migrations and a password hash for each would take most of
 * the time of all tests.
 */
export type Beginning = 'empty' | 'migrated' | 'started'

/**
 * Creates the templates of one test run, and the folder for its files, which is in memory if there is room: tests kill processes,
 * never the machine. The workers receive both by environment variables. Returns the function that deletes everything.
 */
export async function makeTemplates(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(roomyMemory(1) ?? tmpdir(), `sluice-tests-${process.pid}-`))
  process.env.TEST_FOLDER = folder

  const [migrated, started] = [folderOf('migrated'), folderOf('started')]
  await using({ DATABASE_URL: '', DATA_DIR: migrated }, migrate)
  mkdirSync(started)
  copyFileSync(join(migrated, 'app.db'), join(started, 'app.db'))
  await using({ DATABASE_URL: '', DATA_DIR: started }, addRoot)

  const empty = await copyPostgres('empty', nameOf('migrated'))
  await using({ DATABASE_URL: empty, DATA_DIR: '' }, migrate)
  const withTables = await copyPostgres('migrated', nameOf('started'))
  await using({ DATABASE_URL: withTables, DATA_DIR: '' }, addRoot)

  return async () => {
    rmSync(folder, { recursive: true, force: true })
    await dropPostgres(empty)
    await dropPostgres(withTables)
  }
}

/** Creates a folder for the files of one test. */
export function newFolder(): string {
  return mkdtempSync(join(testFolder(), 'test-'))
}

/** Copies a SQLite template into a folder; an empty database is created when it is first opened. */
export function copySqlite(beginning: Beginning, folder: string): void {
  if (beginning !== 'empty') copyFileSync(join(folderOf(beginning), 'app.db'), join(folder, 'app.db'))
}

/** Creates a PostgreSQL database and returns its address. */
export async function copyPostgres(beginning: Beginning, name: string): Promise<string> {
  // Copied file by file: writing every page into the log would take more time than most tests.
  const template = beginning === 'empty' ? '' : ` template "${nameOf(beginning)}" strategy file_copy`
  await administer(`create database "${name}"${template}`)
  const url = new URL(serverUrl())
  url.pathname = `/${name}`
  return url.href
}

export async function dropPostgres(url: string): Promise<void> {
  await administer(`drop database if exists "${new URL(url).pathname.slice(1)}" with (force)`)
}

async function addRoot(database: Database): Promise<void> {
  const core = await testCore(database, { env: { ROOT_PASSWORD: rootPassword } })
  await createRoot({ ...core, passwords: cheapPasswords() })
  core.options.close()
}

async function using(
  env: { DATABASE_URL: string; DATA_DIR: string },
  task: (database: Database) => Promise<void>,
): Promise<void> {
  const database = await openDatabase(env)
  try {
    await task(database)
    // Only the file is copied, so nothing may remain in the write-ahead log beside it.
    if (database.dialect === 'sqlite') database.raw.exec('pragma wal_checkpoint(truncate)')
  } finally {
    await database.close()
  }
}

let administrators: pg.Pool | undefined

/** Connections are reused: a new one is a new process of PostgreSQL. Idle ones are closed when this process ends. */
async function administer(statement: string): Promise<void> {
  if (!administrators) {
    administrators = new pg.Pool({ connectionString: `${serverUrl()}/postgres`, allowExitOnIdle: true })
    administrators.on('error', () => {})
  }
  await administrators.query(statement)
}

/** The folder for files in memory, if it has this many free gigabytes. */
export function roomyMemory(gigabytes: number): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(memoryFolder)
    return bavail * bsize > gigabytes * 2 ** 30 ? memoryFolder : undefined
  } catch {
    return undefined
  }
}

const memoryFolder = '/dev/shm'

/** A run that was killed leaves its files, in memory gigabytes of them: deletes those whose process is gone. */
export function removeDeadRuns(): void {
  for (const root of [memoryFolder, tmpdir()].filter((folder) => existsSync(folder))) {
    for (const name of readdirSync(root)) {
      const [, pid] = /^sluice-(?:tests|postgres)-(\d+)-/.exec(name) ?? []
      if (pid && !isRunning(Number(pid))) rmSync(join(root, name), { recursive: true, force: true })
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const folderOf = (template: Beginning) => join(testFolder(), template)
const nameOf = (template: Beginning) => `${testFolder().slice(-6).toLowerCase()}_${template}`
const testFolder = () => fromSetup('TEST_FOLDER')
const serverUrl = () => fromSetup('TEST_PG_URL').replace(/\/$/, '')

function fromSetup(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: the global setup of the tests makes it`)
  return value
}
