import { createRequire } from 'node:module'
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { SqliteDialect } from 'kysely'
import { LRUCache } from 'lru-cache'

const require = createRequire(import.meta.url)

/** The `node:sqlite` API: the builtin where Node has it without a flag (22.13 and later), else the package with the same API. */
export function openSqlite(file: string): DatabaseSyncInstance {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const builtin = major > 22 || (major === 22 && minor >= 13)
  const api: typeof import('@photostructure/sqlite') = require(builtin ? 'node:sqlite' : '@photostructure/sqlite')
  const database = new api.DatabaseSync(file)
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 5000; pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -16000')
  return database
}

/** Kysely over a `node:sqlite` database. Transactions take the write lock at once, so that they never fail half-way on upgrade. */
export function sqliteDialect(database: DatabaseSyncInstance): SqliteDialect {
  const statements = new LRUCache<string, Prepared>({ max: 500 })

  return new SqliteDialect({
    database: {
      close: () => database.close(),
      prepare(text) {
        const sql = text === 'begin' ? 'begin immediate' : text
        const known = statements.get(sql)
        if (known) return known
        const made = prepared(database.prepare(sql), sql)
        statements.set(sql, made)
        return made
      },
    },
  })
}

interface Prepared {
  readonly reader: boolean
  all(parameters: readonly unknown[]): unknown[]
  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>
}

type Values = Parameters<StatementSyncInstance['all']>

function prepared(statement: StatementSyncInstance, sql: string): Prepared {
  // Kysely hands over what it compiled; its values are those of the schema: numbers, texts and null.
  const values = (parameters: readonly unknown[]) => parameters as Values
  return {
    reader: /^\s*(select|with|pragma|explain)\b/i.test(sql) || /\breturning\b/i.test(sql),
    all: (parameters) => statement.all(...values(parameters)),
    run: (parameters) => statement.run(...values(parameters)),
    iterate: (parameters) => statement.iterate(...values(parameters)),
  }
}
