import type pg from 'pg'
import { openPostgres, type PostgresAddress } from '../../../base/db/postgres.ts'
import type { Core } from '../../../base/options/core.ts'
import { type BudgetWindow, windowsOfCharge } from '../budget-window.ts'
import type { BudgetsLeft, Hold } from '../ledger.ts'
import { logColumns, logValues, siteCostColumns, siteCostValues, type Value } from '../rows.ts'
import { checkpointText, type Entry, type Expired, finishOrphans, type Orphan, type Store, type Written } from '../store.ts'
import { isConflict, isDatabaseDown, onConnection } from './postgres-connection.ts'
import { ExtensionQueue } from './postgres-extensions.ts'
import { HoldQueue } from './postgres-holds.ts'
import {
  arrayText,
  budgetChargeStatement,
  chargeStatement,
  checkpointStatement,
  keepStatement,
  siteCostStatement,
  takeOverStatement,
} from './postgres-statements.ts'

const leaseSeconds = 45
const limitMs = 5000
/** Waiting for one row can take this long twice: first in the queue, then for the row lock. */
const lockMs = 300

/** One connection for holds, one for extensions of holds by further budgets, one for charges, one for leases. */
const connectionsMax = 4

/**
 * Plans are made once and must suit large tables from the start: rows are found by their index, even if the table was empty when the
 * plan was made.
 */
const planning = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off'

/** PostgreSQL: any number of nodes, so holds are rows with a lease, and the database decides. */
export class PostgresStore implements Store {
  readonly holdsAreRows = true
  readonly failing = false
  readonly #core: Core
  readonly #node: string
  readonly #pool: pg.Pool
  readonly #holds: HoldQueue
  readonly #extensions: ExtensionQueue

  constructor(core: Core, address: PostgresAddress) {
    this.#core = core
    this.#node = core.node
    this.#pool = openPostgres(address, connectionsMax, {
      connectionTimeoutMillis: 1000,
      idleTimeoutMillis: 0,
      statement_timeout: limitMs,
      lock_timeout: lockMs,
      options: planning,
    })
    this.#pool.on('error', (error) => core.logger.warn({ error }, 'an idle ledger connection ended'))
    this.#holds = new HoldQueue(this.#pool, { node: core.node, leaseSeconds })
    this.#extensions = new ExtensionQueue(this.#pool)
  }

  hold(wanted: Hold): Promise<BudgetsLeft> {
    return this.#holds.add(wanted)
  }

  extend(hold: Hold, added: readonly BudgetWindow[]): Promise<void> {
    return this.#extensions.add(hold, added)
  }

  end(): void {
    // `write` ends the hold in the database.
  }

  handOver(): void {
    // Its row has another owner.
  }

  async write(entries: readonly Entry[]): Promise<Written> {
    const checkpoints = entries.filter((entry) => entry.kind === 'checkpoint')
    if (checkpoints.length > 0) {
      await this.#query('checkpoint', checkpointStatement, [
        arrayText(checkpoints.map(({ hold }) => hold.requestId)),
        arrayText(checkpoints.map(({ charge }) => checkpointText(charge))),
      ])
    }
    if (checkpoints.length === entries.length) return { charges: 0, units: 0 }

    const [written] = await this.#writeEnds(entries)
    if (!written) throw new Error('PostgreSQL did not answer the ledger statement')
    for (const tokenId of written.exhausted) this.#core.bus.publish('token', tokenId)
    return written
  }

  async charged(requestId: string): Promise<number | undefined> {
    const charges = this.#core.db.selectFrom('ledger').select('amount').where('reference', '=', `charge:${requestId}`)
    const row = await charges.executeTakeFirst()
    return row && 0 - row.amount
  }

  refused(error: unknown): boolean {
    return !isDatabaseDown(error) && !isConflict(error)
  }

  refresh(): void {
    // Nothing is cached.
  }

  async keep(requestIds: readonly string[]): Promise<void> {
    if (requestIds.length > 0) await this.#query('keep', keepStatement, [arrayText(requestIds), leaseSeconds])
  }

  async expire({ inUse, finish }: Parameters<Store['expire']>[0]): Promise<Expired> {
    const orphans = await this.#query<Orphan>('take-over', takeOverStatement, [this.#node, leaseSeconds, arrayText(inUse)])
    return finishOrphans(orphans, finish)
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  #writeEnds(entries: readonly Entry[]): Promise<WrittenEnds[]> {
    const values = chargeValues(entries)
    const costs = siteCostsIn(entries)
    const hasBudgets = entries.some(({ hold }) => hold.budgets)
    if (!hasBudgets && costs.length === 0) return this.#query<WrittenEnds>('charge', chargeStatement, values)
    const withCosts = [...values, ...transposed(costs, siteCostColumns.length).map(arrayText)]
    if (!hasBudgets) return this.#query<WrittenEnds>('site-cost', siteCostStatement, withCosts)
    const windows = transposed(windowsIn(entries), 4).map(arrayText)
    return this.#query<WrittenEnds>('budgets', budgetChargeStatement, [...withCosts, ...windows])
  }

  async #query<R extends object>(name: string, text: string, values: readonly Value[]): Promise<R[]> {
    const query = { name: `ledger-${name}`, text, values: [...values] }
    // The statement's columns are those of R.
    return (await onConnection(this.#pool, limitMs, (client) => client.query(query))).rows as R[]
  }
}

interface WrittenEnds extends Written {
  /** Tokens with a limit that have no quota left. */
  readonly exhausted: readonly number[]
}

/** The parameters of `chargeStatement`, one array for each column. */
function chargeValues(entries: readonly Entry[]): string[] {
  const charges = entries.filter((entry) => entry.kind === 'charge')
  const logs = charges.flatMap(({ hold, charge }) => (charge.log ? [[hold.requestId, ...logValues(charge.log)]] : []))
  const ended = entries.flatMap((entry) => (entry.kind === 'checkpoint' ? [] : [entry.hold.requestId]))
  const columns: readonly (readonly Value[])[] = [
    charges.map(({ hold }) => hold.requestId),
    charges.map(({ hold }) => hold.userId),
    charges.map(({ hold }) => hold.tokenId),
    charges.map(({ charge }) => charge.amount),
    charges.map(({ charge }) => charge.at),
    charges.map(({ charge }) => charge.channelId),
    charges.map(({ charge }) => charge.rollup.tokens),
    charges.map(({ charge }) => charge.rollup.username),
    charges.map(({ charge }) => charge.rollup.model),
    charges.map(({ charge }) => charge.rollup.group),
    ...transposed(logs, 1 + logColumns.length),
    ended,
  ]
  return columns.map(arrayText)
}

/** The windows that count the charges: request, budget, start, and the channel whose charges count (0: any). */
function windowsIn(entries: readonly Entry[]): Value[][] {
  return entries.flatMap((entry) => {
    if (entry.kind !== 'charge') return []
    const { requestId, budgets } = entry.hold
    const counted = windowsOfCharge(budgets, entry.charge.channelId)
    return counted.map(({ budgetId, start, channelId = 0 }) => [requestId, budgetId, start, channelId])
  })
}

function siteCostsIn(entries: readonly Entry[]): Value[][] {
  return entries.flatMap((entry) => {
    const cost = entry.kind === 'charge' ? entry.charge.siteCost : undefined
    return entry.kind === 'charge' && cost ? [siteCostValues(entry.hold, entry.charge, cost)] : []
  })
}

function transposed(rows: readonly (readonly Value[])[], width: number): Value[][] {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? ''))
}
