import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type pg from 'pg'
import { isContention, reserveTimeout, schemaLockTimeout } from './contention.ts'
import type { Database } from './open.ts'
import { openUnlimitedPostgres } from './postgres.ts'

/**
 * Changes of the schema of PostgreSQL beside requests: statements that take long and lock nothing that requests need, and
 * transactions that need a lock for a moment.
 */
export type Postgres = Extract<Database, { dialect: 'postgres' }>

/** Runs a statement, and returns its rows; or several in one round trip, with semicolons between them. */
export type Run = <Row extends pg.QueryResultRow>(text: string) => Promise<Row[]>

const retryMs = 2000
const triesMax = 15
const progressMs = 1000

/** The client returns an array for several statements, of which its types know nothing. */
function rowsOf<Row extends pg.QueryResultRow>(result: pg.QueryResult<Row> | readonly unknown[]): Row[] {
  return 'rows' in result ? result.rows : []
}

export class OnlineSchema {
  readonly #database: Postgres
  readonly #signal: AbortSignal
  readonly #tell: (detail: string) => void
  readonly #pool: pg.Pool

  /** `signal` interrupts the running statement, which leaves what is done so far; `tell` gets the progress. */
  constructor(database: Postgres, signal: AbortSignal, tell: (detail: string) => void) {
    this.#database = database
    this.#signal = signal
    this.#tell = tell
    this.#pool = openUnlimitedPostgres(database.direct)
  }

  /** A statement without a limit of time: it waits for transactions that began before it, for as long as they take. */
  async long(text: string, what: string): Promise<void> {
    this.#signal.throwIfAborted()
    const ended = new AbortController()
    const cancel = () => void this.#cancel(text)
    this.#signal.addEventListener('abort', cancel)
    const telling = this.#tellProgress(what, ended.signal)
    try {
      await this.#pool.query(text)
    } finally {
      ended.abort()
      this.#signal.removeEventListener('abort', cancel)
      await telling
    }
  }

  /**
   * A transaction that locks tables for a moment, after autovacuum has left them. It is repeated as a whole after a lock that was not free;
   * throws when it never is within a minute.
   */
  async brief<Result>(tables: readonly string[], work: (run: Run) => Promise<Result>): Promise<Result> {
    const what = tables.join(', ')
    for (let tries = 1; ; tries++) {
      this.#signal.throwIfAborted()
      const client = await this.#pool.connect()
      try {
        await client.query(`begin; set local lock_timeout = '${reserveTimeout}'`)
        if (tables.length > 0) await client.query(`lock table ${what} in share update exclusive mode`)
        await client.query(`set local lock_timeout = '${schemaLockTimeout}'`)
        const result = await work(async (text) => rowsOf(await client.query(text)))
        await client.query('commit')
        return result
      } catch (error) {
        await client.query('rollback').catch(() => {})
        if (!isContention(error)) throw error
        if (tries === triesMax) throw new Error(`A long query or transaction keeps ${what} locked`, { cause: error })
      } finally {
        client.release()
      }
      this.#tell(`${what}: waiting for a lock`)
      await pause(retryMs, undefined, { signal: this.#signal })
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  /** By its text, because a pooler does not tell which connection it runs on. */
  async #cancel(text: string): Promise<void> {
    await sql`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and query = ${text} and state = 'active' and pid <> pg_backend_pid()`
      .execute(this.#database.db)
      .catch(() => {})
  }

  async #tellProgress(what: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { rows } = await sql<{ phase: string; percent: number | null }>`
        select p.phase, floor(100.0 * p.blocks_done / nullif(p.blocks_total, 0)) as percent
        from pg_stat_progress_create_index p join pg_class c on c.oid = p.index_relid where c.relname = ${what}`
        .execute(this.#database.db)
        .catch(() => ({ rows: [] }))
      const [row] = rows
      if (row) this.#tell(row.percent === null ? `${what}: ${row.phase}` : `${what}: ${row.phase}, ${row.percent} %`)
      await pause(progressMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }
}
