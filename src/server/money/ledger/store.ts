import type { NewRow, Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { type BudgetWindow, readWindows } from './budget-window.ts'
import type { BudgetsLeft, Changed, Charge, Hold } from './ledger.ts'

/**
 * The ledger's interface to a database. `sqlite-store.ts` keeps open holds in memory, and charges in a journal before they are in the
 * tables; `postgres-store.ts` keeps holds in rows that all nodes see.
 */
export interface Store {
  /** Every hold has a row in `holds`, not only those with a checkpoint. */
  readonly holdsAreRows: boolean
  /** The tables cannot be changed, although charges may still be durable. */
  readonly failing: boolean
  /** Reserves the amount, or throws and reserves nothing. Returns what is left in its budgets. */
  hold(wanted: Hold): Promise<BudgetsLeft> | BudgetsLeft
  /** Reserves the amount of an open hold in the `added` budgets, or throws and reserves nothing. */
  extend(hold: Hold, added: readonly BudgetWindow[]): Promise<void> | void
  /**
   * Takes note that a hold ended: `freed` units are no longer held, and a later `write` charges `charged` units on that channel.
   */
  end(hold: Hold, change: { freed: number; charged: number; channelId?: number }): void
  /** Takes note that a hold of this node has become durable in the tables, outside of `write`. */
  handOver(hold: Hold): void
  /** Makes the batch durable, all of it or none. A charge of a request that was charged already changes nothing. */
  write(batch: readonly Entry[]): Promise<Written>
  /** The units that are durably charged for a request; undefined before its charge is. */
  charged(requestId: string): Promise<number | undefined>
  /** Whether the database refused the rows of the batch, rather than being unavailable. */
  refused(error: unknown): boolean
  refresh(account: Changed): void
  /** Renews the leases of holds that are in use on this node. */
  keep(requestIds: readonly string[]): Promise<void>
  /**
   * Ends the holds of dead nodes, with the charge of their last checkpoint or with none. `inUse` are the requests of this node;
   * `finish` writes the end of one hold through the queue.
   */
  expire(parts: { inUse: readonly string[]; finish(hold: Hold, charge: Charge | null): Promise<void> }): Promise<Expired>
  close(): Promise<void>
}

/** One entry of a batch. */
export type Entry =
  /** `hasRow`: there may be a row in `holds` to delete. */
  /** `unlogged`: the log row that the database refused, so that the charge is written without it. */
  | { readonly kind: 'charge'; readonly hold: Hold; charge: Charge; readonly hasRow: boolean; unlogged?: NewRow<'logs'> }
  | { readonly kind: 'release'; readonly hold: Hold }
  | { readonly kind: 'checkpoint'; readonly hold: Hold; charge: Charge }

export interface Written {
  /** Charges that were new. */
  readonly charges: number
  readonly units: number
}

export interface Expired {
  readonly settled: number
  readonly released: number
}

/** Throws unless `value` is an amount of units that can be reserved or charged. */
export function requireUnits(value: number, field: string): void {
  if (!Number.isSafeInteger(value) || value < 0) fail('amount_out_of_range', { field }, { detail: { value } })
}

/** Throws unless all amounts of the charge can be written. */
export function requireCharge({ amount, rollup, siteCost }: Charge): void {
  requireUnits(amount, 'amount')
  requireUnits(rollup.tokens, 'tokens')
  if (siteCost) requireUnits(siteCost.amount, 'amount')
}

/** A row of `holds` whose node is dead. */
export type Orphan = Pick<Row<'holds'>, 'request_id' | 'user_id' | 'token_id' | 'amount' | 'checkpoint' | 'budgets'>

/** Ends orphaned holds, each with the charge of its last checkpoint, or with none. */
export async function finishOrphans(
  orphans: readonly Orphan[],
  finish: (hold: Hold, charge: Charge | null) => Promise<void>,
): Promise<Expired> {
  const ends = orphans.map((row) => {
    const { request_id: requestId, user_id: userId, token_id: tokenId, amount } = row
    const hold = { requestId, userId, tokenId, amount, budgets: readWindows(row.budgets) }
    return { hold, charge: readCheckpoint(row.checkpoint) }
  })
  await Promise.all(ends.map(({ hold, charge }) => finish(hold, charge)))
  const settled = ends.filter(({ charge }) => charge !== null).length
  return { settled, released: ends.length - settled }
}

export function checkpointText(charge: Charge): string {
  return JSON.stringify(charge)
}

/** Null for an empty text: no checkpoint was written. */
function readCheckpoint(text: string): Charge | null {
  // Only `checkpointText` makes these texts.
  return text === '' ? null : (JSON.parse(text) as Charge)
}
