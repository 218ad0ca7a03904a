import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { endlessLease } from '../../../base/db/endless-lease.ts'
import type { Backlog, Database } from '../../../base/db/open.ts'
import { openSqlite } from '../../../base/db/sqlite-file.ts'
import { TurnoverMap } from '../../../base/lib/collections/turnover-map.ts'
import { activeMs, withActiveTimeout } from '../../../base/lib/time/active-time.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Core } from '../../../base/options/core.ts'
import { Balances, type Spent } from '../balances.ts'
import { type BudgetWindow, windowsOfCharge, windowsText } from '../budget-window.ts'
import type { BudgetsLeft, Changed, Charge, Hold } from '../ledger.ts'
import { logOfValues, logValues, mayReadCharges, siteCostValues, type Value } from '../rows.ts'
import { checkpointText, type Entry, type Expired, finishOrphans, type Orphan, type Store, type Written } from '../store.ts'
import type { UnloggedCharges } from '../unlogged-charges.ts'
import type { JournalFindings } from './charge-journal.ts'
import type { Batch, BudgetChargeRow, ChargeRow } from './sqlite-commit.ts'
import type { AppliedUpTo } from './sqlite-worker.ts'
import { SqliteWriter, WriterFailed } from './sqlite-writer.ts'

interface Parts {
  readonly database: Extract<Database, { dialect: 'sqlite' }>
  readonly unlogged: UnloggedCharges
  /** How long the start waits for the lock of the file. */
  readonly commitWaitMs: number
}

/** A charge in the journal that is not in the tables. */
interface Journalled {
  readonly number: number
  readonly hold: Hold
  readonly amount: number
  readonly channelId: number
  readonly isRefused?: boolean
}

/** The journal is applied when it has so many charges, and a batch waits at most so long for it. */
const chargesMax = 500
const applyAfterMs = 50
/** The next attempt after one that failed. */
const failedAfterMs = 200
/** Charges that the database refused are tried again after this time, or together with the next ones. */
const refusedAfterMs = 5000
/** Tables that cannot be changed for so long count as an outage; until then queries wait for them. */
const slowMs = 2000
/** During an outage a query waits so long for one attempt, so that it finds all charges as soon as the outage is over. */
const outageWaitMs = 500

/**
 * SQLite: one process, so holds live in memory, except durable ones, which the tables count. A separate thread makes charges durable in the journal (`charge-journal.ts`), and
 * applies this to the tables a little later; queries over the database that could read a charge first wait for that.
 */
export class SqliteStore implements Store, Backlog {
  readonly holdsAreRows = false
  readonly #core: Core
  readonly #database: Parts['database']
  readonly #unlogged: UnloggedCharges
  /** Sees only committed rows. */
  readonly #reader: DatabaseSync
  /** The amount of the ledger row with a reference. */
  readonly #charge: StatementSync
  readonly #balances: Balances
  readonly #writer: SqliteWriter
  readonly #journalled = new TurnoverMap<string, Journalled>()
  /** Numbers of the last batch in the journal, and in the tables. */
  #appended = 0
  #applied = 0
  #timer: NodeJS.Timeout | undefined
  #dueMs = Number.POSITIVE_INFINITY
  #applying: Promise<void> | undefined
  #applyingTo = 0
  #applyingNext: Promise<void> | undefined
  #isClosed = false
  /** The time since when the tables cannot be changed. */
  #failingSince: number | undefined

  /** Throws when the writing thread cannot start, or the journal of an earlier process cannot be applied. */
  static async open(core: Core, parts: Parts): Promise<SqliteStore> {
    const store = new SqliteStore(core, parts)
    await store.#writer.start()
    parts.database.setBacklog(store)
    return store
  }

  private constructor(core: Core, { database, unlogged, commitWaitMs }: Parts) {
    const { file } = database
    this.#core = core
    this.#database = database
    this.#unlogged = unlogged
    this.#reader = openSqlite(file)
    this.#charge = this.#reader.prepare('select amount from ledger where reference = ?')
    this.#balances = new Balances(this.#reader)
    this.#writer = new SqliteWriter({
      file,
      startWaitMs: commitWaitMs,
      onStarted: (started, findings) => {
        report(core, findings)
        this.#take(started)
        // Some of what was sent to a thread that ended may be in the tables.
        this.#balances.refresh({ userId: 0, tokenId: 0, budgets: true })
      },
    })
  }

  get failing(): boolean {
    return this.#failingSince !== undefined && activeMs() - this.#failingSince > slowMs
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

  handOver(hold: Hold): void {
    this.#balances.handOver(hold)
  }

  async write(entries: readonly Entry[]): Promise<Written> {
    const charges = entries.filter((entry) => entry.kind === 'charge')
    const known = charges.filter(({ hold }) => this.#journalled.has(hold.requestId))
    const fresh = known.length === 0 ? charges : charges.filter((entry) => !known.includes(entry))
    const batch = batchOf(entries, new Set(known), { node: this.#core.node, at: seconds(this.#core.now()) })
    const number = await this.#writer.append(JSON.stringify(batch))
    this.#appended = Math.max(this.#appended, number)
    const again = charges.filter((entry) => known.includes(entry) || this.#journalled.has(entry.hold.requestId))
    for (const entry of fresh) {
      if (again.includes(entry)) continue
      const { amount, channelId } = entry.charge
      this.#journalled.set(entry.hold.requestId, { number, hold: entry.hold, amount, channelId })
    }
    this.#balances.written(again.map(({ hold, charge }) => ({ hold, ...charge, known: true })))
    if (this.#journalled.size >= chargesMax) void this.#apply()
    else this.#applySoon(applyAfterMs)
    return { charges: fresh.length, units: fresh.reduce((sum, { charge }) => sum + charge.amount, 0) }
  }

  refused(error: unknown): boolean {
    return !(error instanceof WriterFailed)
  }

  async charged(requestId: string): Promise<number | undefined> {
    // The table first: it may have a charge that was written before, by an attempt of unknown outcome.
    const row = this.#charge.get(`charge:${requestId}`) as { amount: number } | undefined
    return row ? 0 - row.amount : this.#journalled.get(requestId)?.amount
  }

  refresh(account: Changed): void {
    this.#balances.refresh(account)
  }

  flush(sql: string): Promise<void> | undefined {
    if (this.#appended === this.#applied || !mayReadCharges.test(sql)) return undefined
    return withActiveTimeout(this.failing ? outageWaitMs : slowMs, this.#apply(), () => {})
  }

  async keep(): Promise<void> {
    // A hold in memory needs no lease.
  }

  async expire({ finish }: Parameters<Store['expire']>[0]): Promise<Expired> {
    const query =
      'select request_id, user_id, token_id, amount, checkpoint, budgets from holds where node <> ? and lease_until < ?'
    // The columns are those of the query.
    return finishOrphans(this.#reader.prepare(query).all(this.#core.node, endlessLease) as unknown as Orphan[], finish)
  }

  /** What cannot be applied now is applied by the next start. */
  async close(): Promise<void> {
    this.#isClosed = true
    await (this.#appended > this.#applied ? this.#apply() : this.#applying)
    clearTimeout(this.#timer)
    this.#database.setBacklog(undefined)
    await this.#writer.close()
    this.#reader.close()
  }

  /** Applies the journal after this time, or earlier if that is planned. */
  #applySoon(ms: number): void {
    const dueMs = performance.now() + ms
    if (this.#isClosed || dueMs >= this.#dueMs) return
    clearTimeout(this.#timer)
    this.#dueMs = dueMs
    this.#timer = setTimeout(() => {
      this.#dueMs = Number.POSITIVE_INFINITY
      void this.#apply()
    }, ms).unref()
  }

  /** Writes everything that is in the journal now into the tables. Never rejects: what fails is tried again later. */
  #apply(): Promise<void> {
    if (!this.#applying) {
      this.#applying = this.#applyOnce().finally(() => {
        this.#applying = undefined
      })
      return this.#applying
    }
    if (this.#applyingTo === this.#appended) return this.#applying
    this.#applyingNext ??= this.#applying.then(() => {
      this.#applyingNext = undefined
      return this.#apply()
    })
    return this.#applyingNext
  }

  async #applyOnce(): Promise<void> {
    clearTimeout(this.#timer)
    this.#dueMs = Number.POSITIVE_INFINITY
    this.#applyingTo = this.#appended
    this.#failingSince ??= activeMs()
    this.#balances.sent()
    try {
      this.#take(await this.#writer.apply())
      this.#failingSince = undefined
    } catch (error) {
      this.#core.logger.warn({ error }, 'charges are durable in the journal, but could not be written into the tables yet')
      this.#applySoon(failedAfterMs)
    }
    this.#balances.answered()
  }

  #take({ number, keptIn, known, exhausted, unlogged, refused }: AppliedUpTo): void {
    for (const row of refused) this.#keep(row, keptIn)
    this.#appended = Math.max(this.#appended, number, refused.length > 0 ? keptIn : 0)
    // A batch of refused charges alone is no reason to wait; one that others may precede is applied with them.
    this.#applied = Math.max(this.#applied, refused.length > 0 && keptIn === number + 1 ? keptIn : number)
    if (this.#appended > this.#applied) this.#applySoon(applyAfterMs)
    if (refused.length > 0) this.#applySoon(refusedAfterMs)
    const knownIds = new Set(known)
    const spent: (Spent & Journalled)[] = []
    for (const charge of this.#journalled.values()) {
      if (charge.number > number) continue
      const { requestId } = charge.hold
      this.#journalled.delete(requestId)
      spent.push({ ...charge, known: knownIds.has(requestId) })
    }
    this.#balances.written(spent)
    // The budgets of a charge that an earlier process journalled are not known here.
    if (spent.some(({ isRefused }) => isRefused)) this.#balances.refresh({ budgets: true })
    for (const values of unlogged) this.#unlogged.add(logOfValues(values))
    for (const tokenId of exhausted) this.#core.bus.publish('token', tokenId)
  }

  /** A charge that the database does not accept stays in the journal, and is pending until it does. */
  #keep([requestId, userId, tokenId, amount, , channelId]: ChargeRow, number: number): void {
    const before = this.#journalled.get(requestId)
    if (!before?.isRefused)
      this.#core.logger.error({ requestId, userId, amount }, 'the database does not accept a charge, which stays in the journal')
    const hold = before?.hold ?? { requestId, userId, tokenId, amount: 0 }
    if (!before) this.#balances.end(hold, { freed: 0, charged: amount, channelId })
    this.#journalled.set(requestId, { number, hold, amount, channelId, isRefused: true })
  }
}

function report({ logger }: Core, { foreign, damaged, missing, isTorn }: JournalFindings): void {
  if (foreign.length > 0)
    logger.error({ foreign }, 'files of another database or another state of it were set aside, and not applied')
  if (damaged.length > 0)
    logger.error(
      { damaged, missing },
      'THE JOURNAL IS DAMAGED, AND CHARGES MAY BE MISSING: what is valid was applied, the files were set aside',
    )
  if (isTorn) logger.warn('the journal ends with an incomplete record, as after a power failure, which was ignored')
}

export function batchOf(entries: readonly Entry[], known: ReadonlySet<Entry>, checkpoint: { node: string; at: number }): Batch {
  const charges: ChargeRow[] = []
  const siteCosts: Value[][] = []
  const checkpoints: Value[][] = []
  const ended: string[] = []
  const budgetCharges: BudgetChargeRow[] = []

  for (const entry of entries) {
    const { requestId, userId, tokenId, amount, budgets } = entry.hold
    if (entry.kind === 'checkpoint') {
      const { node, at } = checkpoint
      checkpoints.push([requestId, userId, tokenId, amount, node, at, checkpointText(entry.charge), windowsText(budgets)])
      continue
    }
    if (entry.kind === 'release' || entry.hasRow) ended.push(requestId)
    if (entry.kind === 'release' || known.has(entry)) continue
    const { hold, charge } = entry
    charges.push(chargeRow(hold, charge))
    if (budgets && charge.amount > 0)
      for (const { budgetId, start } of windowsOfCharge(budgets, charge.channelId))
        budgetCharges.push([requestId, budgetId, start, charge.amount])
    if (charge.siteCost) siteCosts.push(siteCostValues(hold, charge, charge.siteCost))
  }
  return { charges, siteCosts, checkpoints, ended, budgetCharges }
}

function chargeRow({ requestId, userId, tokenId }: Hold, { amount, at, channelId, rollup, log }: Charge): ChargeRow {
  const { tokens, username, model, group } = rollup
  return [requestId, userId, tokenId, amount, at, channelId, tokens, username, model, group, log && logValues(log)]
}
