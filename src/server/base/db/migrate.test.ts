import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { newFolder } from '../../../../test/helpers/templates.ts'
import { isTorture, sampled } from '../../../../test/helpers/torture.ts'
import { lastWithoutTransaction } from './interrupted-migration.ts'
import { migrate } from './migrate.ts'
import { type Migration, migrations } from './migrations/index.ts'
import { type Database, openSqliteDatabase } from './open.ts'
import { sqliteDialect } from './sqlite.ts'
import { openSqlite } from './sqlite-file.ts'

/** Databases before each migration, with a channel that migrations read and change. Each is a file without anything beside it. */
interface Before {
  readonly migration: Migration
  readonly file: string
  /** How many statements the migration has. */
  readonly statements: number
}

describe('a migration on SQLite', () => {
  const befores: Before[] = []
  let complete: Content

  beforeAll(async () => {
    const folder = newFolder()
    const latest = join(folder, 'latest.db')
    const raw = openSqlite(latest)
    for (const migration of migrations) {
      const file = join(folder, `${migration.name}.db`)
      copy(raw, file)
      const statements = await run(raw, migration)
      note(raw, migration)
      befores.push({ migration, file, statements })
      if (migration.name === '0001-start')
        raw.exec(
          `insert into channels (type, name, key_sealed, setting, created_time) values (1, 'x', 'sealed', '{"pass_account_headers":true}', 7)`,
        )
    }
    raw.close()
    complete = contentOf(latest)
  })

  it('that fails at any of its statements leaves nothing, and the next start completes it', async () => {
    const cases = befores.flatMap((before) => statementsOf(before).map((at) => ({ ...before, at })))
    for (const { migration, file, at } of sampled(cases, 5)) {
      const database = openSqliteDatabase(fresh(file))
      const failing = { ...database, db: new Kysely({ dialect: sqliteDialect(failingAfter(database.raw, at), () => undefined) }) }
      await expect(migrate(failing as Database)).rejects.toThrow(`Migration ${migration.name} failed`)
      expect(contentOf(database.file), `${migration.name}, ${at}`).toEqual(contentOf(file))
      await requireCompletion(database, migration, at)
    }
  })

  it('in which a process of an earlier version was killed, between any two of its statements, is completed by the next start', async () => {
    const ofEarlierVersions = befores.filter(({ migration }) => migration.name <= lastWithoutTransaction)
    const cases = ofEarlierVersions.flatMap((before) => statementsOf(before).map((at) => ({ ...before, at: at + 1 })))
    for (const { migration, file, at } of sampled(cases, 5, 2)) {
      const database = openSqliteDatabase(fresh(file))
      // Earlier versions committed each statement, and then the row.
      await run(failingAfter(database.raw, at), migration).catch(() => {})
      await requireCompletion(database, migration, at)
    }
  })

  it('for which the file system is full leaves nothing, and is completed once there is room', async () => {
    for (const { migration, file } of sampled(befores, 6)) {
      const database = openSqliteDatabase(fresh(file))
      const pages = database.raw.prepare('pragma page_count').get()?.page_count
      database.raw.exec(`pragma max_page_count = ${pages}`)
      const error = await migrate(database).catch((failure: Error) => failure)
      if (error) expect(String(error.cause), migration.name).toContain('full')
      database.raw.exec('pragma max_page_count = 1073741823')
      await requireCompletion(database, migration)
    }
  })

  async function requireCompletion(
    database: ReturnType<typeof openSqliteDatabase>,
    { name }: Migration,
    at?: number,
  ): Promise<void> {
    await migrate(database)
    await database.close()
    // Before the first one there is no channel.
    const expected = name === migrations[0]?.name ? { ...complete, channels: [], keys: [] } : complete
    expect(contentOf(database.file), `${name}, ${at}`).toEqual(expected)
  }
})

/** The numbers of the statements of a migration; the first, the last and one between them outside of `npm run torture`. */
function statementsOf({ statements }: Before): number[] {
  const all = Array.from({ length: statements }, (_, index) => index)
  return isTorture ? all : [...new Set([0, Math.floor(statements / 2), statements - 1])]
}

/** Runs a migration without a transaction, and returns how many statements it has. */
async function run(raw: DatabaseSync, { up }: Migration): Promise<number> {
  const texts = new Set<string>()
  const dialect = sqliteDialect(
    watched(raw, (text) => texts.add(text)),
    () => undefined,
  )
  await up(new Kysely({ dialect }), 'sqlite')
  return [...texts].filter((text) => changes.test(text)).length
}

const changes = /^\s*(create|alter|drop|insert|update)\b/

function note(raw: DatabaseSync, { name }: Migration): void {
  raw.exec(
    'create table if not exists kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)',
  )
  raw.prepare('insert into kysely_migration values (?, ?)').run(name, new Date().toISOString())
}

/** The connection, whose statements fail after so many that change something. The table of migrations itself is not counted. */
function failingAfter(raw: DatabaseSync, count: number): DatabaseSync {
  let left = count
  return watched(raw, (text) => {
    if (!changes.test(text) || text.includes('kysely_migration')) return
    if (left-- === 0) throw new Error('It ends here')
  })
}

function watched(raw: DatabaseSync, see: (text: string) => void): DatabaseSync {
  const prepare = (text: string) => {
    see(text)
    return raw.prepare(text)
  }
  // The dialect calls nothing else.
  return { prepare, close: () => {} } as unknown as DatabaseSync
}

function fresh(file: string): string {
  const copied = join(newFolder(), 'app.db')
  copyFileSync(file, copied)
  return copied
}

function copy(raw: DatabaseSync, file: string): void {
  raw.prepare('vacuum into ?').run(file)
}

type Content = ReturnType<typeof contentOf>

/** The schema, the applied migrations and the rows that migrations write. */
function contentOf(file: string) {
  const raw = openSqlite(file)
  const all = (text: string) => raw.prepare(text).all()
  const schema = all("select type, name, tbl_name, sql from sqlite_master where name not like 'sqlite_%' order by type, name")
  const rowsOf = (table: string, columns: string) =>
    schema.some(({ name }) => name === table) ? all(`select ${columns} from ${table}`) : undefined
  const content = {
    schema: schema
      .filter(({ name }) => name !== 'kysely_migration')
      .map((row) => ({ ...row, sql: String(row.sql ?? '').replace(/\s+/g, ' ') })),
    migrations: rowsOf('kysely_migration', 'name'),
    channels: rowsOf('channels', 'id, setting'),
    keys: rowsOf('channel_keys', 'channel_id, key_sealed, created_time'),
    journals: rowsOf('ledger_journal', 'applied'),
  }
  raw.close()
  return content
}
