import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { AppError, fail } from '../../base/lib/failure.ts'
import { type BudgetWindow, budgetExceeded, tightestOf, windowsOfCharge } from './budget-window.ts'
import type { BudgetsLeft, Changed, Hold } from './ledger.ts'

/** Available quota of a user or a token, or what a row of `budget_sums` counts, as a negative number. */
interface Account<Key> {
  readonly key: Key
  /**
   * As in the database, less what durable holds take there; Infinity for a token without a limit, 0 for a row that does not exist, forgiven minus charged and held for a budget.
   */
  quota: number
  held: number
  /** Charged by finished requests, but not in the table yet. */
  pending: number
}

/** Bounds the memory, and how long a change that no `refresh` announces stays unseen. */
const idleMs = 1000

/** A charge that is in the tables. */
export interface Spent {
  readonly hold: Hold
  readonly amount: number
  readonly channelId: number
  /** Whether another charge of the request was in the tables before it. */
  readonly known: boolean
}

/**
 * The holds of the one process that uses a SQLite file. An account's available quota is `quota - held - pending`, decided without
 * waiting. `quota` follows what the worker has written into the tables. After an outside change the row is read again, but only when no batch is in
 * flight that may or may not be in it: so each charge is either in the row or pending, never both and never neither. An idle
 * account, with nothing held or pending, is cached for at most `idleMs`.
 */
export class Balances {
  readonly #users: Accounts<number>
  readonly #tokens: Accounts<number>
  /** The key is budget and start. */
  readonly #budgets: Accounts<string>
  #inFlight = false
  #sweepAtMs = 0

  /** `database` must be a connection of its own: on a shared one a read could see a transaction that is never committed. */
  constructor(database: DatabaseSync) {
    const quotaBy = (statement: StatementSync) => (id: number) => quotaOf(statement.get(id))
    this.#users = new Accounts(quotaBy(database.prepare('select quota - held as quota from users where id = ?')))
    this.#tokens = new Accounts(
      quotaBy(
        database.prepare('select case when unlimited_quota = 0 then remain_quota - held end as quota from tokens where id = ?'),
      ),
    )
    const counted = database.prepare(
      'select forgiven - charged - held as quota from budget_sums where budget_id = ? and start = ?',
    )
    this.#budgets = new Accounts((key) => quotaOf(counted.get(...key.split(':').map(Number))))
  }

  /**
   * Reserves the amount on user, token and budgets when all have enough, or throws and reserves nothing. Returns what is left in
   * the budgets.
   */
  hold({ userId, tokenId, amount, needs = amount, takesAll = false, budgets }: Hold): BudgetsLeft {
    this.#sweep()
    try {
      const user = this.#users.get(userId)
      const token = tokenId === 0 ? undefined : this.#tokens.get(tokenId)
      requireFree(user, needs, 'quota_insufficient')
      if (token) requireFree(token, needs, 'token_quota_insufficient')
      const inBudgets = budgets && this.#requireBudgets(budgets, needs)
      const have = Math.min(freeOf(user), token ? freeOf(token) : Number.POSITIVE_INFINITY, ...(inBudgets ?? []))
      if (takesAll && have > amount) throw new AppError('quota_insufficient', { need: amount, have })
      const counted = budgets?.map((window) => this.#budgets.get(keyOf(window)))
      user.held += amount
      if (token) token.held += amount
      if (counted) for (const account of counted) account.held += amount
      return inBudgets?.map((free) => free - amount)
    } catch (cause) {
      throw cause instanceof AppError ? cause : new AppError('database_unavailable', {}, { cause })
    }
  }

  /** Reserves the amount of a hold in further budgets when all have enough, or throws and reserves nothing. */
  extend({ amount }: Hold, budgets: readonly BudgetWindow[]): void {
    try {
      this.#requireBudgets(budgets, amount)
      const counted = budgets.map((window) => this.#budgets.get(keyOf(window)))
      for (const account of counted) account.held += amount
    } catch (cause) {
      throw cause instanceof AppError ? cause : new AppError('database_unavailable', {}, { cause })
    }
  }

  /** Ends a hold: `freed` units are available again, and `charged` units are spent, to be written later. */
  end({ userId, tokenId, budgets }: Hold, { freed, charged, channelId = 0 }: Ended): void {
    this.#users.end(userId, freed, charged)
    if (tokenId !== 0) this.#tokens.end(tokenId, freed, charged)
    if (!budgets) return
    const counted = windowsOfCharge(budgets, channelId)
    for (const window of budgets) this.#budgets.end(keyOf(window), freed, counted.includes(window) ? charged : 0)
  }

  /**
   * Ends a hold that the tables may count by now. Until its accounts are read again, they count it as spent: never less than what is held.
   */
  handOver({ userId, tokenId, amount, budgets = [] }: Hold): void {
    this.#users.handOver(userId, amount)
    if (tokenId !== 0) this.#tokens.handOver(tokenId, amount)
    for (const window of budgets) this.#budgets.handOver(keyOf(window), amount)
    if (!this.#inFlight) this.#readStale()
  }

  /** From now until `answered`, rows may or may not contain charges that are pending here. */
  sent(): void {
    this.#inFlight = true
  }

  /** These charges are in the tables, and no longer pending. */
  written(charges: readonly Spent[]): void {
    for (const { hold, amount, channelId, known } of charges) {
      this.#users.written(hold.userId, amount, known)
      if (hold.tokenId !== 0) this.#tokens.written(hold.tokenId, amount, known)
      for (const window of windowsOfCharge(hold.budgets, channelId)) this.#budgets.written(keyOf(window), amount, known)
    }
  }

  /** What was sent is in the rows if `written` was told of it, and otherwise not. */
  answered(): void {
    this.#inFlight = false
    this.#readStale()
  }

  /** Reads accounts again after an outside change: all of them for an id of 0, and all windows of budgets with `budgets`. */
  refresh({ userId, tokenId, budgets = false }: Changed): void {
    if (userId !== undefined) this.#users.changed(userId === 0 ? undefined : userId)
    if (tokenId !== undefined) this.#tokens.changed(tokenId === 0 ? undefined : tokenId)
    if (budgets) this.#budgets.changed(undefined)
    if (!this.#inFlight) this.#readStale()
  }

  /** Throws `budget_exceeded` with the budget that has least unless every one has `need` free. Returns what each has free. */
  #requireBudgets(budgets: readonly BudgetWindow[], need: number): number[] {
    const frees = budgets.map((window) => window.limit + this.#sumOf(window))
    const tightest = tightestOf(budgets.map((window, at) => ({ window, have: frees[at] ?? 0 })))
    if (tightest && tightest.have < need) throw budgetExceeded(tightest.window, { need, have: tightest.have })
    return frees
  }

  /** What all rows of the window count, charged and held, as a negative number. */
  #sumOf({ budgetId, since, until, step }: BudgetWindow): number {
    let sum = 0
    for (let at = since; at <= until; at += step || 1) sum += freeOf(this.#budgets.get(keyOf({ budgetId, start: at })))
    return sum
  }

  /** Must not run between getting an account and reserving on it. */
  #sweep(): void {
    const nowMs = performance.now()
    if (nowMs < this.#sweepAtMs) return
    this.#sweepAtMs = nowMs + idleMs
    this.#users.sweep()
    this.#tokens.sweep()
    this.#budgets.sweep()
  }

  #readStale(): void {
    this.#users.readStale()
    this.#tokens.readStale()
    this.#budgets.readStale()
  }
}

interface Ended {
  readonly freed: number
  readonly charged: number
  /** The channel of the charge. */
  readonly channelId?: number
}

function keyOf({ budgetId, start }: Pick<BudgetWindow, 'budgetId' | 'start'>): string {
  return `${budgetId}:${start}`
}

function quotaOf(row: unknown): number {
  // The statements select this one column.
  const found = row as { quota: number | null } | undefined
  return found ? (found.quota ?? Number.POSITIVE_INFINITY) : 0
}

/** The accounts of one table. */
class Accounts<Key> {
  readonly #read: (key: Key) => number
  #accounts = new Map<Key, Account<Key>>()
  readonly #stale = new Set<Account<Key>>()

  constructor(read: (key: Key) => number) {
    this.#read = read
  }

  get(key: Key): Account<Key> {
    // Nothing of a new account is pending, so no batch can change its row.
    return this.#accounts.get(key) ?? this.#open(key, this.#read(key))
  }

  end(key: Key, freed: number, charged: number): void {
    const account = this.#accounts.get(key) ?? this.#openUnread(key)
    account.held -= freed
    account.pending += charged
    this.#dropStaleIdle(account)
  }

  handOver(key: Key, amount: number): void {
    const account = this.#accounts.get(key)
    if (!account) return
    account.held -= amount
    account.quota -= amount
    this.changed(key)
  }

  written(key: Key, amount: number, known: boolean): void {
    const account = this.#accounts.get(key)
    if (!account) return
    account.pending -= amount
    if (known) this.#stale.add(account)
    else account.quota -= amount
    this.#dropStaleIdle(account)
  }

  /** An undefined key: all accounts. */
  changed(key: Key | undefined): void {
    if (key === undefined) for (const each of this.#accounts.keys()) this.changed(each)
    const account = key === undefined ? undefined : this.#accounts.get(key)
    if (!account) return
    this.#stale.add(account)
    this.#dropStaleIdle(account)
  }

  /** A failed read leaves the account stale: a charge that was just written must not fail because of it. */
  readStale(): void {
    for (const account of this.#stale) {
      try {
        account.quota = this.#read(account.key)
        this.#stale.delete(account)
      } catch {
        return
      }
    }
  }

  /** Drops idle accounts. A new Map releases the memory of the grown table, as in `TurnoverMap`. */
  sweep(): void {
    this.#accounts = new Map([...this.#accounts].filter(([, account]) => !isIdle(account)))
  }

  /** Drops the account if it is stale and idle: the next hold reads the row. */
  #dropStaleIdle(account: Account<Key>): void {
    if (isIdle(account) && this.#stale.delete(account)) this.#accounts.delete(account.key)
  }

  #open(key: Key, quota: number): Account<Key> {
    const account = { key, quota, held: 0, pending: 0 }
    this.#accounts.set(key, account)
    return account
  }

  /** For a charge without a hold, which must be recorded even when the row cannot be read. */
  #openUnread(key: Key): Account<Key> {
    try {
      return this.get(key)
    } catch {
      const account = this.#open(key, 0)
      this.#stale.add(account)
      return account
    }
  }
}

function isIdle({ held, pending }: Account<unknown>): boolean {
  return held === 0 && pending === 0
}

function requireFree(account: Account<number>, need: number, refusal: 'quota_insufficient' | 'token_quota_insufficient'): void {
  const have = freeOf(account)
  if (have < need) fail(refusal, { need, have })
}

function freeOf({ quota, held, pending }: Account<unknown>): number {
  return quota - held - pending
}
