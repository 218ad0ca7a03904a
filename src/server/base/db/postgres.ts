import { setTimeout as pause } from 'node:timers/promises'
import { PostgresDialect, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { suspendedMs, withActiveTimeout } from '../lib/time/active-time.ts'
import { isDatabaseFailure } from './failures.ts'
import { clientsOf, newPostgresClient } from './postgres-hosts.ts'

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

/** Where a database is, and how it is reached. */
export interface PostgresAddress {
  /** As the environment has it: of one or more hosts. */
  readonly url: string
  /**
   * Through a pooler that gives a connection away after each transaction, such as PgBouncer. Then nothing may be left on a connection:
   * no prepared statement and no setting. Time limits hold within transactions alone, unless the role has them.
   */
  readonly isPooled: boolean
}

export function openPostgres({ url, isPooled }: PostgresAddress, connectionsMax = 10, more: pg.PoolConfig = {}): pg.Pool {
  const base = { types, connectionTimeoutMillis: 2000, application_name: 'sluice' }
  const settings = isPooled ? { ...base, ...ofClient(more) } : { ...base, ...limits, ...more }
  const { Client, config, waitMs } = clientsOf(url, settings, isPooled ? UnpreparedClient : pg.Client)
  // The pool's type of a class of clients lacks the settings that it constructs them with.
  const clientClass = Client as unknown as NonNullable<pg.PoolConfig['Client']>
  const pool = new pg.Pool({ ...config, max: connectionsMax, connectionTimeoutMillis: waitMs, Client: clientClass })
  // A connection that breaks while it is in use fails its query; without its own listener it would also end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  // One that breaks while it is idle, or is being closed, is replaced by the next.
  pool.on('error', () => {})
  return pool
}

const limits = {
  statement_timeout: statementMs,
  lock_timeout: lockMs,
  idle_in_transaction_session_timeout: 30_000,
} as const

/** The settings that the client itself heeds; the others are for the server, and a pooler refuses them. */
function ofClient({ connectionTimeoutMillis, idleTimeoutMillis }: pg.PoolConfig): pg.PoolConfig {
  return {
    ...(connectionTimeoutMillis === undefined ? {} : { connectionTimeoutMillis }),
    ...(idleTimeoutMillis === undefined ? {} : { idleTimeoutMillis }),
  }
}

/** A client that prepares nothing: the next transaction may run on another connection of the server. */
class UnpreparedClient extends pg.Client {
  // The forms of `query` in the client's types are overloads, which all begin with the text or the configuration.
  override query = ((asked: unknown, ...rest: unknown[]) => {
    const isNamed = typeof asked === 'object' && asked !== null && 'name' in asked
    const query = isNamed ? { ...asked, name: undefined } : asked
    return super.query(query as string, ...(rest as []))
  }) as unknown as pg.Client['query']
}

/**
 * Whether an address leads through a pooler: it refuses, or ignores, a setting that each connection asks for. Waits up to `waitMs` for a
 * database that cannot be reached, and says so by `tell`; what is then still unreachable counts as not pooled.
 */
export async function isPooler(url: string, { waitMs = 0, tell = () => {} }: PostgresWait = {}): Promise<boolean> {
  for (const latest = performance.now() + waitMs; ; ) {
    const client = newPostgresClient(url, { connectionTimeoutMillis: 2000, statement_timeout: statementMs })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query<{ ms: string }>(
        `select setting as ms from pg_settings where name = 'statement_timeout'`,
      )
      return Number(rows[0]?.ms) !== statementMs
    } catch (error) {
      const { message } = error as Error
      if (message.includes('startup parameter')) return true
      if (!isDatabaseFailure(error) || performance.now() > latest) return false
      tell(message)
      await pause(waitingMs)
    } finally {
      await client.end().catch(() => {})
    }
  }
}

export interface PostgresWait {
  readonly waitMs?: number
  readonly tell?: (reason: string) => void
}

const waitingMs = 1000

/** One connection for work that may take hours: none of its statements, and of the pauses between them, has a time limit. */
export function openUnlimitedPostgres(address: PostgresAddress): pg.Pool {
  return openPostgres(address, 1, { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 })
}

export function postgresDialect(pool: pg.Pool, isPooled: boolean): PostgresDialect {
  const begins = isPooled ? withLimits : (sql: string) => sql
  return new PostgresDialect({ pool: { connect: async () => watched(await connect(pool), begins), end: () => pool.end() } })
}

/** Through a pooler the beginning of a transaction sets its time limits, in the same round trip. */
function withLimits(sql: string): string {
  if (!/^(begin|start transaction)\b/.test(sql)) return sql
  return [sql, ...Object.entries(limits).map(([name, ms]) => `set local ${name} = ${ms}`)].join('; ')
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

/** Wraps a connection so that it is not used again once it is unresponsive, or its server has become a standby. */
function watched(client: pg.PoolClient, begins: (sql: string) => string): PostgresPoolClient {
  let silent: Error | undefined
  let isReadOnly = false
  const send = async (sql: string, parameters: unknown[]) => {
    try {
      return await client.query(begins(sql), parameters)
    } catch (error) {
      isReadOnly ||= error instanceof Error && 'code' in error && error.code === readOnlyTransaction
      throw error
    }
  }
  const query = (sql: string, parameters: unknown[]) =>
    silent
      ? Promise.reject(silent)
      : withActiveTimeout(silenceMs, send(sql, parameters), () => {
          silent = new Error('Query read timeout')
          throw silent
        })
  // The other form of `query`, with a cursor, is for dialects that were given one.
  return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release(silent ?? isReadOnly) }
}

const readOnlyTransaction = '25006'
