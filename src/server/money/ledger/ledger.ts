import type { SiteCostReason } from '../../../contract/entities/site-cost.ts'
import type { Within } from '../../base/db/open.ts'
import type { LedgerKind, NewRow } from '../../base/db/schema.ts'
import { AppError } from '../../base/lib/failure.ts'
import type { BudgetWindow } from './budget-window.ts'

/**
 * Money: the four moves of a request (hold, settle, release, expire) and credits. One interface for SQLite and PostgreSQL, opened by
 * `open-ledger.ts`. Not here: the cost of a request (pricing), and the reasons of credits (redemptions, payments). Quota is integer
 * units (500,000 = 1 USD by default). Holds of hours, which outlive their process, are in `durable-holds.ts`. No other code changes
 * `users.quota`, `users.held`, `users.used_quota`, `users.request_count`,
 * `tokens.remain_quota` by use, `tokens.held`, `tokens.used_quota`, `channels.used_quota`, `ledger`, `holds`, `site_costs`,
 * `budget_charges`, `budget_sums.charged`, `budget_sums.held`.
 */
export interface Ledger extends CallLedger {
  /**
   * Adds a signed amount to a user's balance inside the caller's transaction, with its own ledger row. `reference` is unique: a
   * second credit with the same reference throws the database's unique violation. Call `refresh` after the commit.
   */
  credit(within: Within, credit: Credit): Promise<void>
  /**
   * Reads a user's or token's balance, or the sums of all budgets, again after an outside change was committed. Messages on the bus
   * about a changed user, token or budget do the same.
   */
  refresh(account: Changed): void
  /**
   * Settles or releases the holds of dead nodes, and returns the counts. Run at the start, and by a job more often than every
   * minute. At most 1,000 at a time.
   */
  expire(): Promise<{ settled: number; released: number }>
  /**
   * Ends a hold of this node without its release, after the commit that has made it durable (`durable-holds.ts`): its accounts are read
   * again. Idempotent.
   */
  handOver(hold: Hold): Promise<void> | void
  /** The users whose charges this node has written since the last call: their balances have decreased. */
  takeSpenders(): number[]
  /** Number of requests that hold quota on this node now. */
  readonly openHolds: number
  /** Waits until everything queued is durable, then closes. */
  close(): Promise<void>
}

/** What one call does with money. */
export interface CallLedger {
  /**
   * Reserves `amount` on the user and, when `tokenId` is not 0 and the token is not unlimited, on the token, in one step: granted
   * when both have `needs` free, which is the amount itself when absent, and all of its budgets too. Throws `quota_insufficient`,
   * `token_quota_insufficient` (params need, have), `budget_exceeded` (params budgetId, need, have) or `database_unavailable`; then
   * nothing is held. Returns what is left in each of its budgets after all holds, including this one.
   */
  hold(wanted: Hold): Promise<BudgetsLeft> | BudgetsLeft
  /**
   * Counts an open hold in further budgets, for example when its channel has been chosen: in all of them, or throws
   * `budget_exceeded` or `database_unavailable` and counts it in none. Budgets that count the hold already do not change.
   */
  extend(hold: Hold, budgets: readonly BudgetWindow[]): Promise<void> | void
  /**
   * Charges and ends the hold. Resolves when the charge is durable: ledger row (unique by request id), user quota, used quota and
   * count, token remain and used, channel used, log row, site cost and hour bucket, all of them or none. Idempotent. Rejects with
   * `database_unavailable` when it could not be committed; the charge stays queued and is retried until it is. Never wait for it
   * inside a transaction, which may lock the same rows.
   */
  settle(hold: Hold, charge: Charge): Promise<void>
  /**
   * Withdraws the charge of a request while it is not durable: the hold is open again, to be settled or released, and `meanwhile`
   * is charged by the next start if this process dies. False when the charge is durable. A commit of unknown outcome may have
   * written it nevertheless; to settle again changes nothing then.
   */
  withdraw(hold: Hold, meanwhile: Charge): Promise<boolean>
  /** The units that are durably charged for a request; undefined before its charge is. */
  charged(requestId: string): Promise<number | undefined>
  /** Ends the hold without a charge; balances are as before. Idempotent. */
  release(hold: Hold): Promise<void> | void
  /** Records a checkpoint of a running stream, so that another start can settle it by the rule for interrupted calls. */
  checkpoint(hold: Hold, charge: Charge): void
}

/** A change of balances that was committed by another part. An id of 0 means all of them. */
export interface Changed {
  readonly userId?: number
  readonly tokenId?: number
  readonly budgets?: boolean
}

export interface Hold {
  readonly requestId: string
  readonly userId: number
  /** 0 for calls without a token, as from the playground. */
  readonly tokenId: number
  readonly amount: number
  /** Quota that must be free before the amount is taken; at least the amount. */
  readonly needs?: number
  /** The amount was the whole available quota: the hold is refused if more is available by then, so that nothing remains. */
  readonly takesAll?: boolean
  /** The budget windows that count the call; absent when there are none. */
  readonly budgets?: readonly BudgetWindow[] | undefined
}

/** Units, in the order of the hold's budgets; undefined where it has none. */
export type BudgetsLeft = readonly number[] | undefined

/** A refused hold, with the units that it needed and those that were available; more than needed only if it was to reserve everything. */
export type QuotaRefusal = AppError & { readonly params: { readonly need: number; readonly have: number } }

export function isQuotaRefusal(error: unknown): error is QuotaRefusal {
  return error instanceof AppError && refusals.has(error.code)
}

const refusals: ReadonlySet<string> = new Set(['quota_insufficient', 'token_quota_insufficient', 'budget_exceeded'])

export interface Charge {
  /** Units, at least 0. */
  readonly amount: number
  /** Unix seconds. */
  readonly at: number
  readonly channelId: number
  /** The usage-log row of this charge; null when logs of consumption are disabled. */
  readonly log: NewRow<'logs'> | null
  /** The upstream's cost beyond `amount`, borne by the site. Written to `site_costs` with the charge, unique by request id. */
  readonly siteCost?: SiteCost | undefined
  /** What the charge adds to its hour bucket. */
  readonly rollup: { username: string; model: string; group: string; tokens: number }
}

export interface SiteCost {
  /** Units, at least 0. */
  readonly amount: number
  readonly reason: SiteCostReason
}

export interface Credit {
  readonly userId: number
  readonly kind: Exclude<LedgerKind, 'charge'>
  readonly amount: number
  readonly reference: string
  readonly at: number
  readonly detail?: string
}
