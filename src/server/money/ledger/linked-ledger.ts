import type { OwnerSiblings, WorkerSiblings } from '../../base/bus/siblings.ts'
import type { Backlog, Database, Within } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Logger } from '../../base/lib/log/logger.ts'
import type { Link } from '../../base/lib/process/link.ts'
import { withActiveTimeout } from '../../base/lib/time/active-time.ts'
import type { BudgetWindow } from './budget-window.ts'
import { credit } from './credit.ts'
import type { BudgetsLeft, Changed, Charge, Credit, Hold, Ledger } from './ledger.ts'
import { mayReadCharges } from './rows.ts'
import { type Expired, requireCharge, requireUnits } from './store.ts'

/** The longest time that a query waits for the owner. */
const flushMs = 3000

interface ChargedHold {
  readonly hold: Hold
  readonly charge: Charge
}

interface ExtendedHold {
  readonly hold: Hold
  readonly budgets: readonly BudgetWindow[]
}

/**
 * The ledger of a worker on the embedded database: the owner executes every move, since it alone holds and charges, so that
 * parallel processes cannot overdraw a balance. The moves of one iteration of the event loop are sent together.
 */
export class LinkedLedger implements Ledger {
  readonly #owner: Link
  readonly #open = new Set<string>()
  readonly #moves = new Set<Promise<unknown>>()
  #closing = false

  /** Queries of this process wait until the owner has written the charges that they could read. */
  constructor({ owner }: WorkerSiblings, database: Extract<Database, { dialect: 'sqlite' }>) {
    this.#owner = owner
    const flush = () => withActiveTimeout(flushMs, owner.call('ledger.flush', null), () => {}).catch(() => {})
    database.setBacklog({ flush: (sql) => (mayReadCharges.test(sql) ? flush() : undefined) })
  }

  get openHolds(): number {
    return this.#open.size
  }

  async hold(wanted: Hold): Promise<BudgetsLeft> {
    requireUnits(wanted.amount, 'amount')
    if (this.#closing) fail('server_stopping')
    const left = await this.#move<BudgetsLeft>('ledger.hold', wanted)
    this.#open.add(wanted.requestId)
    return left
  }

  extend(hold: Hold, budgets: readonly BudgetWindow[]): Promise<void> {
    return this.#move('ledger.extend', { hold, budgets } satisfies ExtendedHold)
  }

  async settle(hold: Hold, charge: Charge): Promise<void> {
    requireCharge(charge)
    this.#open.delete(hold.requestId)
    return this.#move('ledger.settle', { hold, charge } satisfies ChargedHold)
  }

  async withdraw(hold: Hold, meanwhile: Charge): Promise<boolean> {
    const isWithdrawn = await this.#move<boolean>('ledger.withdraw', { hold, charge: meanwhile } satisfies ChargedHold)
    if (isWithdrawn) this.#open.add(hold.requestId)
    return isWithdrawn
  }

  async charged(requestId: string): Promise<number | undefined> {
    return (await this.#owner.call<number | null>('ledger.charged', requestId)) ?? undefined
  }

  release(hold: Hold): Promise<void> {
    this.#open.delete(hold.requestId)
    return this.#move('ledger.release', hold)
  }

  handOver(hold: Hold): Promise<void> {
    this.#open.delete(hold.requestId)
    return this.#move('ledger.handOver', hold)
  }

  checkpoint(hold: Hold, charge: Charge): void {
    requireCharge(charge)
    this.#owner.notify('ledger.checkpoint', { hold, charge } satisfies ChargedHold)
  }

  credit(within: Within, given: Credit): Promise<void> {
    return credit(within, given)
  }

  refresh(account: Changed): void {
    this.#owner.notify('ledger.refresh', account)
  }

  /** The owner writes all charges, and returns their users itself. */
  takeSpenders(): number[] {
    return []
  }

  expire(): Promise<Expired> {
    return this.#move<Expired>('ledger.expire', null)
  }

  async close(): Promise<void> {
    this.#closing = true
    await Promise.allSettled(this.#moves)
  }

  async #move<Result = void>(name: string, value: unknown): Promise<Result> {
    const made = this.#owner.call<Result>(name, value)
    this.#moves.add(made)
    try {
      return await made
    } finally {
      this.#moves.delete(made)
    }
  }
}

interface Served {
  readonly ledger: Ledger
  readonly backlog: Backlog
  readonly logger: Logger
}

/**
 * Executes the moves of workers in the owner's ledger. The holds of a worker that died end as those of a dead node do: each is
 * charged by its last checkpoint, or released; unless a transaction of the worker has made it durable.
 */
export function serveLedger(siblings: OwnerSiblings, { ledger, backlog, logger }: Served): void {
  const holds = new OpenHolds()

  siblings.serve('ledger.hold', (wanted: Hold, link) => {
    const opened = (left: BudgetsLeft) => {
      if (link.isClosed) return ledger.release(wanted)
      holds.add(link, wanted)
      return left
    }
    const held = ledger.hold(wanted)
    return held instanceof Promise ? held.then(opened) : opened(held)
  })
  siblings.serve('ledger.extend', ({ hold, budgets }: ExtendedHold) => ledger.extend(hold, budgets))
  siblings.serve('ledger.settle', ({ hold, charge }: ChargedHold, link) => {
    holds.end(link, hold)
    return ledger.settle(hold, charge)
  })
  siblings.serve('ledger.withdraw', async ({ hold, charge }: ChargedHold, link) => {
    const isWithdrawn = await ledger.withdraw(hold, charge)
    if (isWithdrawn && link.isClosed) await ledger.settle(hold, charge)
    else if (isWithdrawn) holds.add(link, hold, charge)
    return isWithdrawn
  })
  siblings.serve('ledger.charged', (requestId: string) => ledger.charged(requestId))
  siblings.serve('ledger.flush', () => backlog.flush('begin'))
  siblings.serve('ledger.release', (hold: Hold, link) => {
    holds.end(link, hold)
    return ledger.release(hold)
  })
  siblings.serve('ledger.handOver', (hold: Hold, link) => {
    holds.end(link, hold)
    return ledger.handOver(hold)
  })
  siblings.serve('ledger.checkpoint', ({ hold, charge }: ChargedHold, link) => {
    holds.note(link, hold, charge)
    ledger.checkpoint(hold, charge)
  })
  siblings.serve('ledger.refresh', (account: Changed) => ledger.refresh(account))
  siblings.serve('ledger.expire', () => ledger.expire())

  siblings.onGone((link) => {
    for (const { hold, charge } of holds.takeAll(link)) {
      Promise.resolve(charge ? ledger.settle(hold, charge) : ledger.handOver(hold)).catch((error: unknown) =>
        logger.error({ error, requestId: hold.requestId }, 'the hold of a worker that died ends later'),
      )
    }
  })
}

interface OpenHold {
  readonly hold: Hold
  /** The charge of its last checkpoint. */
  readonly charge: Charge | undefined
}

class OpenHolds {
  readonly #byLink = new Map<Link, Map<string, OpenHold>>()

  add(link: Link, hold: Hold, charge?: Charge): void {
    const holds = this.#byLink.get(link) ?? new Map<string, OpenHold>()
    this.#byLink.set(link, holds.set(hold.requestId, { hold, charge }))
  }

  /** Stores the checkpoint of an open hold. */
  note(link: Link, hold: Hold, charge: Charge): void {
    if (this.#byLink.get(link)?.has(hold.requestId)) this.add(link, hold, charge)
  }

  end(link: Link, hold: Hold): void {
    this.#byLink.get(link)?.delete(hold.requestId)
  }

  takeAll(link: Link): OpenHold[] {
    const holds = [...(this.#byLink.get(link)?.values() ?? [])]
    this.#byLink.delete(link)
    return holds
  }
}
