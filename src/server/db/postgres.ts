import { PostgresDialect } from 'kysely'
import pg from 'pg'

const int8 = 20
const numeric = 1700

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
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
    application_name: 'sluice',
    ...more,
  })
  // A connection that breaks while it is in use fails its query; without a listener of its own it would also end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

export function postgresDialect(pool: pg.Pool): PostgresDialect {
  return new PostgresDialect({ pool })
}
