import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Database, Queries } from './open.ts'
import type { ReadingConnections } from './reading-connections.ts'
import type { Tables } from './schema.ts'
import { SqliteReader } from './sqlite-reader.ts'

/**
 * Long reads, on connections separate from those of requests and commits: a separate process on SQLite, a small pool on PostgreSQL.
 * Each statement occupies a connection while it runs; others wait for a free one.
 */
export interface Reader {
  /**
   * Queries that only read. When the signal is aborted, the running statement is cancelled and later ones are refused; both reject
   * with the reason of the signal.
   */
  queries(signal?: AbortSignal): Queries
  /** Number of statements that run at the same time. */
  readonly connections: number
  close(): Promise<void>
}

export async function openReader(database: Database): Promise<Reader> {
  const connections = await connectionsTo(database)
  return {
    queries: (signal) => new Kysely<Tables>({ dialect: readingDialect(database.dialect, connections, signal) }),
    connections: connections.count,
    close: () => connections.close(),
  }
}

/** The PostgreSQL client is only loaded where it is used. */
async function connectionsTo(database: Database): Promise<ReadingConnections> {
  if (database.dialect === 'sqlite') return new SqliteReader(database)
  const { PostgresReader } = await import('./postgres-reader.ts')
  return new PostgresReader(database)
}

function readingDialect(kind: Database['dialect'], { read }: ReadingConnections, signal: AbortSignal | undefined): Dialect {
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      signal?.throwIfAborted()
      // The columns are those of the query.
      return { rows: (await read(sql, parameters, signal)) as Row[] }
    },
    streamQuery() {
      throw new Error('A reader does not stream')
    },
  }
  const refuse = async () => {
    throw new Error('A reader has no transactions')
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
  const isSqlite = kind === 'sqlite'
  return {
    createDriver: () => driver,
    createAdapter: () => (isSqlite ? new SqliteAdapter() : new PostgresAdapter()),
    createQueryCompiler: () => (isSqlite ? new SqliteQueryCompiler() : new PostgresQueryCompiler()),
    createIntrospector: (db): DatabaseIntrospector => (isSqlite ? new SqliteIntrospector(db) : new PostgresIntrospector(db)),
  }
}
