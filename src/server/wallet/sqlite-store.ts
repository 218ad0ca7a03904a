import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { openSqlite } from '../db/sqlite-file.ts'
import { seconds } from '../lib/clock.ts'
import type { Core } from '../options/core.ts'
import { Balances } from './balances.ts'
import { type BudgetWindow, windowsOfCharge, windowsText } from './budget-window.ts'
import type { BudgetsLeft, Changed, Charge, Hold } from './ledger.ts'
import { logValues, siteCostValues, type Value } from './rows.ts'
import type { Batch, BudgetChargeRow, ChargeRow } from './sqlite-commit.ts'
import { SqliteWriter, WriterFailed } from './sqlite-writer.ts'
import { checkpointText, type Entry, type Expired, finishOrphans, type Orphan, type Store, type Written } from './store.ts'

interface LedgerFile {
  readonly file: string
  /** How long an attempt to commit waits for the lock of the file. */
  readonly commitWaitMs: number
}

/** SQLite: one process, so holds live in memory; a separate thread commits. */
export class SqliteStore implements Store {
  readonly holdsAreRows = false
  readonly #core: Core
  /** Sees only committed rows. */
  readonly #reader: DatabaseSyncInstance
  readonly #balances: Balances
  readonly #writer: SqliteWriter

  /** Throws when the writing thread cannot start. */
  static async open(core: Core, file: LedgerFile): Promise<SqliteStore> {
    const store = new SqliteStore(core, file)
    await store.write([])
    return store
  }

  private constructor(core: Core, { file, commitWaitMs }: LedgerFile) {
    this.#core = core
    this.#reader = openSqlite(file)
    this.#balances = new Balances(this.#reader)
    this.#writer = new SqliteWriter(file, commitWaitMs)
  }

  hold(wanted: Hold): BudgetsLeft {
    return this.#balances.hold(wanted)
  }

  extend(hold: Hold, added: readonly BudgetWindow[]): void {
    this.#balances.extend(hold, added)
  }

  end(hold: Hold, change: { freed: number; charged: number; channelId?: number }): void {
    this.#balances.end(hold, change)
  }

  async write(entries: readonly Entry[]): Promise<Written> {
    this.#balances.sent()
    try {
      const { known, exhausted } = await this.#commit(entries)
      const charges = entries.filter((entry) => entry.kind === 'charge')
      const fresh = charges.filter(({ hold }) => !known.has(hold.requestId))
      this.#balances.committed(
        charges.map(({ hold, charge: { amount, channelId } }) => ({ hold, amount, channelId, known: known.has(hold.requestId) })),
      )
      return { charges: fresh.length, units: fresh.reduce((sum, { charge }) => sum + charge.amount, 0), exhausted }
    } catch (error) {
      // Otherwise the outcome is unknown until the same batch has been written or refused.
      if (this.refused(error)) this.#balances.rolledBack()
      throw error
    }
  }

  refused(error: unknown): boolean {
    return !(error instanceof WriterFailed)
  }

  refresh(account: Changed): void {
    this.#balances.refresh(account)
  }

  async keep(): Promise<void> {
    // A hold in memory needs no lease.
  }

  async expire({ finish }: Parameters<Store['expire']>[0]): Promise<Expired> {
    const query = 'select request_id, user_id, token_id, amount, checkpoint, budgets from holds where node <> ?'
    // The columns are those of the query.
    return finishOrphans(this.#reader.prepare(query).all(this.#core.node) as unknown as Orphan[], finish)
  }

  async close(): Promise<void> {
    await this.#writer.close()
    this.#reader.close()
  }

  /** Commits, skipping requests that were charged before. */
  async #commit(entries: readonly Entry[]) {
    const known = new Set<string>()
    for (;;) {
      const outcome = await this.#writer.commit(this.#batchOf(entries, known))
      if ('exhausted' in outcome) return { known, exhausted: outcome.exhausted }
      for (const requestId of outcome.known) known.add(requestId)
    }
  }

  #batchOf(entries: readonly Entry[], known: ReadonlySet<string>): Batch {
    const charges: ChargeRow[] = []
    const logs: Value[][] = []
    const siteCosts: Value[][] = []
    const checkpoints: Value[][] = []
    const ended: string[] = []
    const budgetCharges: BudgetChargeRow[] = []

    for (const entry of entries) {
      const { requestId, userId, tokenId, amount } = entry.hold
      if (entry.kind === 'checkpoint') {
        const at = seconds(this.#core.now())
        const { budgets } = entry.hold
        const text = checkpointText(entry.charge)
        checkpoints.push([requestId, userId, tokenId, amount, this.#core.node, at, text, windowsText(budgets)])
        continue
      }
      if (entry.kind === 'release' || entry.hasRow) ended.push(requestId)
      if (entry.kind === 'release' || known.has(requestId)) continue
      const { hold, charge } = entry
      charges.push(chargeRow(hold, charge))
      if (hold.budgets && charge.amount > 0)
        for (const { budgetId, start } of windowsOfCharge(hold.budgets, charge.channelId))
          budgetCharges.push([requestId, budgetId, start, charge.amount])
      if (charge.log) logs.push(logValues(charge.log))
      if (charge.siteCost) siteCosts.push(siteCostValues(hold, charge, charge.siteCost))
    }
    return { charges, logs, siteCosts, checkpoints, ended, budgetCharges }
  }
}

function chargeRow({ requestId, userId, tokenId }: Hold, { amount, at, channelId, rollup }: Charge): ChargeRow {
  return [requestId, userId, tokenId, amount, at, channelId, rollup.tokens, rollup.username, rollup.model, rollup.group]
}
