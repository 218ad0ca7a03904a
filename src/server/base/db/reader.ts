import type { Database, Queries } from './open.ts'
import { queriesOver } from './queries-over.ts'
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
    queries: (signal) =>
      queriesOver<Tables>(database.dialect, async ({ sql, parameters }) => {
        signal?.throwIfAborted()
        return connections.read(sql, parameters, signal)
      }),
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
