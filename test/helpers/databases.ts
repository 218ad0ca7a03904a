import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { describe } from 'vitest'
import { migrate } from '../../src/server/base/db/migrate.ts'
import { type Database, openDatabase } from '../../src/server/base/db/open.ts'
import { type Beginning, copyPostgres, copySqlite, dropPostgres, newFolder } from './templates.ts'
import { isTorture } from './torture.ts'

export type DatabaseKind = Database['dialect']

/** The environment of a server that uses a database, and the function that deletes the database. */
export interface TestDatabase {
  readonly kind: DatabaseKind
  readonly env: { DATABASE_URL: string; DATA_DIR: string }
  open(): Promise<Database>
  drop(): Promise<void>
}

/** Runs the same tests on SQLite and on PostgreSQL. Each call of `fresh` creates an empty database. */
export function eachDatabase(name: string, tests: (fresh: () => Promise<TestDatabase>, kind: DatabaseKind) => void): void {
  for (const kind of ['sqlite', 'postgres'] as const) {
    describe(`${name} (${kind})`, () => tests(() => freshDatabase(kind), kind))
  }
}

/**
 * Like `eachDatabase`, for tests of protocols, parsing and peers, whose SQL statements other suites run on both databases: on
 * SQLite in the ordinary run, on both in `npm run torture`.
 */
export function anyDatabase(name: string, tests: Parameters<typeof eachDatabase>[1]): void {
  if (isTorture) eachDatabase(name, tests)
  else describe(name, () => tests(() => freshDatabase('sqlite'), 'sqlite'))
}

/** A database with the current schema, unless another initial state is named. */
export async function freshDatabase(kind: DatabaseKind, beginning: Beginning = 'migrated'): Promise<TestDatabase> {
  const folder = newFolder()
  const url = kind === 'postgres' ? await copyPostgres(beginning, `test_${randomBytes(8).toString('hex')}`) : ''
  if (kind === 'sqlite') copySqlite(beginning, folder)
  const env = { DATABASE_URL: url, DATA_DIR: folder }

  return {
    kind,
    env,
    async open() {
      const database = await openDatabase(env)
      await migrate(database)
      return database
    },
    async drop() {
      rmSync(folder, { recursive: true, force: true })
      if (url !== '') await dropPostgres(url)
    },
  }
}
