import { isContention } from '../../base/db/contention.ts'
import type { Within } from '../../base/db/open.ts'
import { TurnoverMap } from '../../base/lib/collections/turnover-map.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'
import type { BudgetWindow } from './budget-window.ts'
import { Committer, type Queued } from './committer.ts'
import { credit } from './credit.ts'
import type { BudgetsLeft, Changed, Charge, Credit, Hold, Ledger } from './ledger.ts'
import { type Entry, type Expired, requireCharge, requireUnits, type Store } from './store.ts'
import type { UnloggedCharges } from './unlogged-charges.ts'

/** Charges that may wait for the database before new requests are refused. */
const queueMax = 10_000
const closeMs = 10_000
const renewalMs = 15_000

interface Parts {
  readonly store: Store
  readonly unlogged: UnloggedCharges
  /** How long a caller waits at most for its charge to become durable. */
  readonly commitWaitMs: number
}

interface Open {
  hold: Hold
  checkpoint: Queued<Entry> | undefined
}

/** The ledger over any store: open holds of this node, each request charged once, group commit. */
export class GroupedLedger implements Ledger {
  readonly #core: Core
  readonly #store: Store
  readonly #committer: Committer<Entry>
  readonly #open = new TurnoverMap<string, Open>()
  /** Charges that are not durable yet, by request id. */
  readonly #charges = new TurnoverMap<string, Queued<Entry>>()
  /** Users charged since the last call. */
  readonly #spenders = new Set<number>()
  readonly #unlogged: UnloggedCharges
  readonly #unsubscribe: readonly (() => void)[]
  readonly #renewal: NodeJS.Timeout
  #closing = false

  constructor(core: Core, { store, unlogged, commitWaitMs }: Parts) {
    this.#core = core
    this.#store = store
    this.#unlogged = unlogged
    this.#committer = new Committer(
      core.logger,
      {
        write: (batch) => this.#write(batch),
        refused: (error) => store.refused(error),
        owner: (entry) => entry.hold.userId,
        lighten,
        describe: (entry) => ({ entry }),
      },
      commitWaitMs,
    )
    core.metrics.readings.ledgerWaiting = () => this.#committer.size
    this.#unsubscribe = [
      core.bus.on('user', (userId) => store.refresh({ userId })),
      core.bus.on('token', (tokenId) => store.refresh({ tokenId })),
      core.bus.on('budgets', () => store.refresh({ budgets: true })),
    ]
    this.#renewal = setInterval(() => void this.#renew(), renewalMs).unref()
  }

  get openHolds(): number {
    return this.#open.size
  }

  hold(wanted: Hold): Promise<BudgetsLeft> | BudgetsLeft {
    requireUnits(wanted.amount, 'amount')
    if (this.#closing) fail('server_stopping')
    if (this.#committer.failing || this.#store.failing) fail('database_unavailable')
    if (this.#committer.size >= queueMax) fail('server_busy')
    if (this.#open.has(wanted.requestId)) throw new Error(`Request ${wanted.requestId} holds quota already`)

    const held = this.#store.hold(wanted)
    if (held instanceof Promise) return this.#opened(wanted, held)
    this.#note(wanted)
    return held
  }

  extend({ requestId }: Hold, budgets: readonly BudgetWindow[]): Promise<void> | void {
    const open = this.#open.get(requestId)
    if (!open) throw new Error(`Request ${requestId} holds no quota`)
    const { budgets: counted = [] } = open.hold
    const added = budgets.filter(({ budgetId }) => !counted.some((window) => window.budgetId === budgetId))
    if (added.length === 0) return
    if (this.#committer.failing) fail('database_unavailable')
    const extended = { ...open.hold, budgets: [...counted, ...added] }
    const extending = this.#store.extend(extended, added)
    const note = () => {
      open.hold = extended
    }
    return extending ? extending.then(note) : note()
  }

  settle(hold: Hold, charge: Charge): Promise<void> {
    try {
      requireCharge(charge)
    } catch (error) {
      return Promise.reject(error)
    }
    return this.#charge(hold, charge, this.#open.get(hold.requestId)?.checkpoint !== undefined)
  }

  async withdraw(hold: Hold, meanwhile: Charge): Promise<boolean> {
    const queued = this.#charges.get(hold.requestId)
    if (!queued || !(await this.#committer.withdraw(queued)) || queued.work.kind !== 'charge') return false
    this.#charges.delete(hold.requestId)
    const { charge, hold: held } = queued.work
    this.#store.end(held, { freed: -held.amount, charged: -charge.amount, channelId: charge.channelId })
    this.#note(held)
    this.checkpoint(held, meanwhile)
    return true
  }

  charged(requestId: string): Promise<number | undefined> {
    return this.#store.charged(requestId)
  }

  release(hold: Hold): Promise<void> | void {
    const open = this.#open.get(hold.requestId)
    if (!open) return
    this.#open.delete(hold.requestId)
    this.#store.end(open.hold, { freed: open.hold.amount, charged: 0 })
    if (this.#store.holdsAreRows || open.checkpoint) return this.#forget(open.hold)
  }

  handOver({ requestId }: Hold): void {
    const open = this.#open.get(requestId)
    if (!open) return
    this.#open.delete(requestId)
    this.#store.handOver(open.hold)
  }

  checkpoint(hold: Hold, charge: Charge): void {
    requireCharge(charge)
    const open = this.#open.get(hold.requestId)
    if (!open) return
    const last = open.checkpoint
    if (last?.work.kind === 'checkpoint' && !last.taken) last.work.charge = charge
    else open.checkpoint = this.#committer.add({ kind: 'checkpoint', hold: open.hold, charge })
  }

  credit(within: Within, given: Credit): Promise<void> {
    return credit(within, given)
  }

  refresh(account: Changed): void {
    this.#store.refresh(account)
  }

  takeSpenders(): number[] {
    const taken = [...this.#spenders]
    this.#spenders.clear()
    return taken
  }

  expire(): Promise<Expired> {
    return this.#store.expire({
      inUse: this.#inUse(),
      finish: (hold, charge) => (charge ? this.#charge(hold, charge, true) : this.#forget(hold)),
    })
  }

  async close(): Promise<void> {
    this.#closing = true
    clearInterval(this.#renewal)
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    const lost = await this.#committer.close(closeMs)
    if (lost.length > 0) this.#core.logger.fatal({ lost }, `${lost.length} ledger entries could not be written before the stop`)
    await this.#store.close()
    await this.#unlogged.write()
    const { left } = this.#unlogged
    if (left.length > 0) this.#core.logger.fatal({ left }, `${left.length} charges stand without their log rows`)
  }

  #note(hold: Hold): void {
    this.#open.set(hold.requestId, { hold, checkpoint: undefined })
  }

  async #opened(hold: Hold, held: Promise<BudgetsLeft>): Promise<BudgetsLeft> {
    try {
      const left = await held
      this.#note(hold)
      return left
    } catch (error) {
      // The reservation may have been made although its outcome is unknown; nothing else would end it.
      const isUnknown = error instanceof AppError && error.code === 'database_unavailable'
      if (isUnknown) this.#committer.add({ kind: 'release', hold })
      throw error
    }
  }

  /** Queues the charge of a request, or joins a queued one. */
  #charge(hold: Hold, charge: Charge, hasRow: boolean): Promise<void> {
    const queued = this.#charges.get(hold.requestId)
    if (queued) return this.#committer.wait(queued)

    const open = this.#open.get(hold.requestId)
    const ended = open?.hold ?? hold
    const added = this.#committer.add({ kind: 'charge', hold: ended, charge, hasRow: hasRow || this.#store.holdsAreRows })
    this.#charges.set(hold.requestId, added)
    this.#store.end(ended, { freed: open?.hold.amount ?? 0, charged: charge.amount, channelId: charge.channelId })
    this.#open.delete(hold.requestId)
    return this.#committer.wait(added)
  }

  #forget(hold: Hold): Promise<void> {
    return this.#committer.wait(this.#committer.add({ kind: 'release', hold }))
  }

  async #write(batch: readonly Entry[]): Promise<void> {
    // A checkpoint written after the end of its hold would restore its row.
    const due = batch.filter((entry) => entry.kind !== 'checkpoint' || this.#open.has(entry.hold.requestId))
    if (due.length === 0) return
    const { metrics } = this.#core
    const startedAt = performance.now()
    const { charges, units } = await this.#store.write(due)

    metrics.commits.inc()
    metrics.commitRows.inc(charges)
    metrics.commitSeconds.observe((performance.now() - startedAt) / 1000)
    metrics.quotaCharged.inc(units)
    for (const entry of due) {
      if (entry.kind !== 'charge') continue
      this.#charges.delete(entry.hold.requestId)
      this.#spenders.add(entry.hold.userId)
      if (entry.unlogged) this.#unlogged.add(entry.unlogged)
    }
  }

  async #renew(): Promise<void> {
    await this.#unlogged.write()
    try {
      await this.#store.keep(this.#inUse())
    } catch (error) {
      this.#core.logger.error({ error }, 'the leases of open holds could not be renewed')
    }
  }

  /** Requests with a hold on this node, or whose charge waits to be written. */
  #inUse(): string[] {
    return [...this.#open.keys(), ...this.#charges.keys()]
  }
}

/** A charge is money, its log row is information: a column that the schema refuses must not delay the charge. */
function lighten(entry: Entry, error: unknown): boolean {
  if (entry.kind !== 'charge' || entry.charge.log === null || isContention(error)) return false
  entry.unlogged = entry.charge.log
  entry.charge = { ...entry.charge, log: null }
  return true
}
