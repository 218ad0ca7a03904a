import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Dialect } from './columns.ts'

/** Queries in the SQL of a database, run by a function of the caller, which returns the rows. They have no transactions of their own. */
export function queriesOver<Schema>(
  dialect: Dialect,
  run: (query: CompiledQuery) => Promise<readonly unknown[]>,
): Kysely<Schema> {
  const connection: DatabaseConnection = {
    async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
      // The columns are those of the query.
      return { rows: (await run(query)) as Row[] }
    },
    streamQuery() {
      throw new Error('These queries do not stream')
    },
  }
  const refuse = async () => {
    throw new Error('These queries have no transactions of their own')
  }
  const driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: async () => {},
    destroy: async () => {},
  }
  const isSqlite = dialect === 'sqlite'
  return new Kysely({
    dialect: {
      createDriver: () => driver,
      createAdapter: () => (isSqlite ? new SqliteAdapter() : new PostgresAdapter()),
      createQueryCompiler: () => (isSqlite ? new SqliteQueryCompiler() : new PostgresQueryCompiler()),
      createIntrospector: (db): DatabaseIntrospector => (isSqlite ? new SqliteIntrospector(db) : new PostgresIntrospector(db)),
    },
  })
}
