import { PostgresDialect, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { suspendedMs, withActiveTimeout } from '../lib/active-time.ts'

const int8 = 20
const numeric = 1700
/** A caller is refused at once when so many others already wait for a connection. */
const waitingMax = 2000
/** The time for which a statement waits for rows and tables that others have locked. */
const lockMs = 1000
const statementMs = 30_000
/** Without even the server's statement timeout error after this time, the connection counts as dead. */
const silenceMs = statementMs + 1000

/** 64-bit integers arrive as numbers; a value that a number cannot hold exactly is an error, never a rounded amount. */
function exactNumber(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new Error(`Value ${text} is outside of the exact integers`)
  return value
}

const types: pg.CustomTypesConfig = {
  getTypeParser: (id, format) => (id === int8 || id === numeric ? exactNumber : pg.types.getTypeParser(id, format)),
}

export function openPostgres(url: string, connectionsMax = 10, more: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    types,
    connectionTimeoutMillis: 2000,
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: 30_000,
    application_name: 'sluice',
    ...more,
  })
  // A connection that breaks while it is in use fails its query; without its own listener it would also end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** One connection for work that may take hours: none of its statements, and of the pauses between them, has a time limit. */
export function openUnlimitedPostgres(url: string): pg.Pool {
  return openPostgres(url, 1, { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 })
}

export function postgresDialect(pool: pg.Pool): PostgresDialect {
  return new PostgresDialect({ pool: { connect: async () => watched(await connect(pool)), end: () => pool.end() } })
}

function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  if (pool.waitingCount >= waitingMax) throw new Error(`${pool.waitingCount} wait for a connection`)
  // The pool's time limit also counts the time for which this process was suspended: then one more attempt is made.
  const stillBefore = suspendedMs()
  return pool.connect().catch((error: unknown) => {
    if (suspendedMs() > stillBefore) return pool.connect()
    throw error
  })
}

/** Wraps a connection so that it is not used again once it is unresponsive. */
function watched(client: pg.PoolClient): PostgresPoolClient {
  let silent: Error | undefined
  const query = (sql: string, parameters: unknown[]) =>
    silent
      ? Promise.reject(silent)
      : withActiveTimeout(silenceMs, client.query(sql, parameters), () => {
          silent = new Error('Query read timeout')
          throw silent
        })
  // The other form of `query`, with a cursor, is for dialects that were given one.
  return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release(silent) }
}
