import { availableParallelism } from 'node:os'
import type pg from 'pg'
import { randomText } from '../lib/secrets/ids.ts'
import { raceAbort } from '../lib/time/race-abort.ts'
import type { Database } from './open.ts'
import { openPostgres } from './postgres.ts'
import type { ReadingConnections } from './reading-connections.ts'

/**
 * Limit per node. Each connection keeps one core of the database server busy, which is often this machine: at least half of the
 * cores are left for requests.
 */
const connectionsMax = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)))
const waitMs = 30_000
/**
 * While other statements wait, a connection pauses for as long as its statement took, so that the database has time for requests.
 */
const restMaxMs = 500
/** A cancellation that arrives before its statement has begun is without effect: it is repeated. */
const cancelEveryMs = 250
const session = 'set default_transaction_read_only = on; set max_parallel_workers_per_gather = 0'
/** The same for one transaction, through a pooler, where nothing may be left on the connection. */
const transaction = 'begin read only; set local max_parallel_workers_per_gather = 0; set local statement_timeout = 30000'

const cancellation = 'select pg_cancel_backend(pid) from pg_stat_activity where pid = $1 and application_name = $2'

/** A separate pool for long reads, so that none of them delays a request that waits for a connection. */
export class PostgresReader implements ReadingConnections {
  readonly count = connectionsMax
  readonly #pool: pg.Pool
  readonly #others: pg.Pool
  readonly #isPooled: boolean
  /** Of its connections, so that a cancellation reaches none of another host, where the same number is another process. */
  readonly #name = `sluice-reader-${randomText(12)}`

  constructor({ direct, pool }: Extract<Database, { dialect: 'postgres' }>) {
    this.#isPooled = direct.isPooled
    this.#pool = openPostgres(direct, connectionsMax, { connectionTimeoutMillis: waitMs, application_name: this.#name })
    if (!this.#isPooled) this.#pool.on('connect', (client) => void client.query(session).catch(() => {}))
    this.#others = pool
  }

  readonly read: ReadingConnections['read'] = (sql, parameters, signal) => raceAbort(this.#read(sql, parameters, signal), signal)

  async #read(sql: string, parameters: readonly unknown[], signal: AbortSignal | undefined) {
    const client = await this.#pool.connect()
    let repeated: NodeJS.Timeout | undefined
    const cancel = () => {
      // A statement that cannot be cancelled ends at the statement timeout. Through a pooler its process is not known.
      if (this.#isPooled) return
      void this.#others.query(cancellation, [processOf(client), this.#name]).catch(() => {})
      repeated = setTimeout(cancel, cancelEveryMs).unref()
    }
    if (signal?.aborted) {
      client.release()
      throw signal.reason
    }
    signal?.addEventListener('abort', cancel)
    const startedAt = performance.now()
    try {
      return this.#isPooled ? await readAlone(client, sql, parameters) : await rowsOf(client, sql, parameters)
    } finally {
      signal?.removeEventListener('abort', cancel)
      clearTimeout(repeated)
      const restMs = this.#pool.waitingCount > 0 ? Math.min(restMaxMs, performance.now() - startedAt) : 0
      // A cancellation may arrive late, and must not hit the statement of another caller.
      if (restMs < 1 || signal?.aborted) client.release(signal?.aborted)
      else setTimeout(() => client.release(), restMs)
    }
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end()
  }
}

async function rowsOf(client: pg.PoolClient, sql: string, parameters: readonly unknown[]) {
  return (await client.query<Record<string, unknown>>(sql, [...parameters])).rows
}

async function readAlone(client: pg.PoolClient, sql: string, parameters: readonly unknown[]) {
  await client.query(transaction)
  try {
    return await rowsOf(client, sql, parameters)
  } finally {
    await client.query('rollback')
  }
}

/** The process id of the server for a connection; the types of the client omit it. */
function processOf(client: pg.PoolClient): number {
  return (client as pg.PoolClient & { readonly processID: number }).processID
}
