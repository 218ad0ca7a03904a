import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { SqliteDialect, type SqliteDialectConfig } from 'kysely'
import { LRUCache } from 'lru-cache'
import { BusyWaitingSqliteDriver, type Flush } from './contention.ts'

class PatientSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig
  readonly #flush: Flush

  constructor(config: SqliteDialectConfig, flush: Flush) {
    super(config)
    this.#config = config
    this.#flush = flush
  }

  override createDriver(): BusyWaitingSqliteDriver {
    return new BusyWaitingSqliteDriver(this.#config, this.#flush)
  }
}

/**
 * Kysely over a `node:sqlite` database. Transactions take the write lock at once, so that they never fail half-way on upgrade. Before
 * a statement outside of a transaction, and before a transaction begins, `flush` is awaited.
 */
export function sqliteDialect(database: DatabaseSync, flush: Flush): SqliteDialect {
  const statements = new LRUCache<string, Prepared>({ max: 500 })
  const config: SqliteDialectConfig = {
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
  }
  return new PatientSqliteDialect(config, flush)
}

interface Prepared {
  readonly reader: boolean
  all(parameters: readonly unknown[]): unknown[]
  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>
}

type Values = Parameters<StatementSync['all']>

function prepared(statement: StatementSync, sql: string): Prepared {
  // Kysely's compiled query; its values are those of the schema: numbers, texts and null.
  const values = (parameters: readonly unknown[]) => parameters as Values
  return {
    reader: /^\s*(select|with|pragma|explain)\b/i.test(sql) || /\breturning\b/i.test(sql),
    all: (parameters) => statement.all(...values(parameters)),
    run: (parameters) => statement.run(...values(parameters)),
    iterate: (parameters) => statement.iterate(...values(parameters)),
  }
}
