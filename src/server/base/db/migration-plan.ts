import { sql } from 'kysely'
import { pendingMigrations } from './migrate.ts'
import { indexOf, isLarge, statementsOf } from './migration-statements.ts'
import type { Database } from './open.ts'

/** What a migration of this database would do, without doing it. */
interface PlannedMigration {
  readonly name: string
  readonly steps: readonly PlannedStep[]
}

export interface PlannedStep {
  /** In English, such as `index logs_failed on logs`. */
  readonly what: string
  /** `moment`: the table is locked while its definition changes. `whole`: until the step has ended. */
  readonly lock: 'none' | 'moment' | 'whole'
  /** Built beside requests by the server, after its start. */
  readonly isOnline: boolean
  /** Rows that the step reads, 0 where their number does not matter. */
  readonly rows: number
}

/** The migrations that the database lacks, in order. Throws when it is of a newer version. */
export async function planMigrations(database: Database): Promise<readonly PlannedMigration[]> {
  const planned: PlannedMigration[] = []
  for (const migration of await pendingMigrations(database)) {
    const steps: PlannedStep[] = []
    for (const text of await statementsOf(migration, database.dialect)) {
      const step = await planStep(database, text)
      if (step) steps.push(step)
    }
    planned.push({ name: migration.name, steps })
  }
  return planned
}

/** On SQLite the file has one lock for all tables. */
async function planStep(database: Database, text: string): Promise<PlannedStep | undefined> {
  const isFile = database.dialect === 'sqlite'
  const index = indexOf(text)
  if (index) {
    const rows = await rowsOf(database, index.table)
    const isOnline = !isFile && (await isLarge(database.db, index.table))
    return { what: `index ${index.name} on ${index.table}`, lock: isOnline || rows === 0 ? 'none' : 'whole', isOnline, rows }
  }
  const statement = text.trim().replaceAll('"', '')
  const [, made] = /^create table (\w+)/.exec(statement) ?? []
  if (made) return { what: `table ${made}`, lock: 'none', isOnline: false, rows: 0 }
  const [, changed, column] = /^alter table (\w+) add column (\w+)/.exec(statement) ?? []
  if (changed) return { what: `column ${changed}.${column}`, lock: 'moment', isOnline: false, rows: 0 }
  const [, filled] = /^(?:insert into|update) (\w+)/.exec(statement) ?? []
  if (filled) return { what: `rows of ${filled}`, lock: 'moment', isOnline: false, rows: 0 }
  return undefined
}

/** About how many rows a table has; 0 for one that does not exist yet. */
async function rowsOf({ db, dialect }: Database, table: string): Promise<number> {
  if (dialect === 'postgres') {
    const { rows } = await sql<{
      count: number
    }>`select greatest(reltuples, 0)::bigint as count from pg_class where oid = to_regclass(${table})`.execute(db)
    return rows[0]?.count ?? 0
  }
  const { rows: found } = await sql`select 1 from sqlite_master where type = 'table' and name = ${table}`.execute(db)
  if (found.length === 0) return 0
  const { rows } = await sql<{ count: number }>`select coalesce(max(rowid), 0) as count from ${sql.table(table)}`.execute(db)
  return rows[0]?.count ?? 0
}
