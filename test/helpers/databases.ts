import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe } from 'vitest'
import { migrate } from '../../src/server/db/migrate.ts'
import { type Database, openDatabase } from '../../src/server/db/open.ts'

export type DatabaseKind = Database['dialect']

/** What the environment of a server must name to use a database, and how to throw the database away. */
export interface TestDatabase {
  readonly kind: DatabaseKind
  readonly env: { DATABASE_URL: string; DATA_DIR: string }
  open(): Promise<Database>
  drop(): Promise<void>
}

/** Runs the same tests on SQLite and on PostgreSQL. Each call of `fresh` makes an empty database of its own. */
export function eachDatabase(name: string, tests: (fresh: () => Promise<TestDatabase>, kind: DatabaseKind) => void): void {
  for (const kind of ['sqlite', 'postgres'] as const) {
    describe(`${name} (${kind})`, () => tests(() => freshDatabase(kind), kind))
  }
}

export async function freshDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  const url = kind === 'postgres' ? await createPostgresDatabase() : ''
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
      if (url !== '') await administer(`drop database if exists "${new URL(url).pathname.slice(1)}" with (force)`)
    },
  }
}

async function createPostgresDatabase(): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(`create database "${name}"`)
  const url = new URL(serverUrl())
  url.pathname = `/${name}`
  return url.href
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${serverUrl()}/postgres` })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

function serverUrl(): string {
  const url = process.env.TEST_PG_URL
  if (!url) throw new Error('TEST_PG_URL is not set: the global setup of the tests starts PostgreSQL and sets it')
  return url.replace(/\/$/, '')
}
