import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { AppError, fail } from '../lib/failure.ts'
import type { Hold } from './ledger.ts'

/** Available quota of a user or a token, kept while it has something held or pending. */
interface Account {
  readonly id: number
  /** As in the database; Infinity for a token without a limit, 0 for a row that does not exist. */
  quota: number
  held: number
  /** Charged by finished requests, but not written yet. */
  pending: number
}

/** A written charge. */
export interface Spent {
  readonly hold: Hold
  readonly amount: number
  /** Its ledger row existed before this batch. */
  readonly known: boolean
}

/**
 * The holds of the one process that uses a SQLite file. An account's available quota is `quota - held - pending`, decided without
 * waiting. `quota` follows the commits of the worker. After an outside change the row is read again, but only when no batch is in
 * flight that may or may not be in it: so each charge is either in the row or pending, never both and never neither.
 */
export class Balances {
  readonly #users: Accounts
  readonly #tokens: Accounts
  #inFlight = false

  /** `database` is a separate connection: another may be inside of a transaction that is never committed. */
  constructor(database: DatabaseSyncInstance) {
    this.#users = new Accounts(database.prepare('select quota from users where id = ?'))
    this.#tokens = new Accounts(
      database.prepare('select case when unlimited_quota = 0 then remain_quota end as quota from tokens where id = ?'),
    )
  }

  /** Reserves the amount on user and token when both have enough, or throws and reserves nothing. */
  hold({ userId, tokenId, amount, needs = amount, takesAll = false }: Hold): void {
    try {
      const user = this.#users.get(userId)
      const token = tokenId === 0 ? undefined : this.#tokens.get(tokenId)
      requireFree(user, needs, 'quota_insufficient')
      if (token) requireFree(token, needs, 'token_quota_insufficient')
      const have = Math.min(freeOf(user), token ? freeOf(token) : Number.POSITIVE_INFINITY)
      if (takesAll && have > amount) throw new AppError('quota_insufficient', { need: amount, have })
      user.held += amount
      if (token) token.held += amount
    } catch (cause) {
      this.#users.dropIdle(userId)
      this.#tokens.dropIdle(tokenId)
      throw cause instanceof AppError ? cause : new AppError('database_unavailable', {}, { cause })
    }
  }

  /** Ends a hold: `freed` units are available again, and `charged` units are spent, to be written later. */
  end({ userId, tokenId }: Hold, { freed, charged }: { freed: number; charged: number }): void {
    this.#users.end(userId, freed, charged)
    if (tokenId !== 0) this.#tokens.end(tokenId, freed, charged)
  }

  /** From now until `committed` or `rolledBack`, rows may or may not contain a batch. */
  sent(): void {
    this.#inFlight = true
  }

  committed(batch: readonly Spent[]): void {
    for (const { hold, amount, known } of batch) {
      this.#users.written(hold.userId, amount, known)
      if (hold.tokenId !== 0) this.#tokens.written(hold.tokenId, amount, known)
    }
    this.rolledBack()
  }

  rolledBack(): void {
    this.#inFlight = false
    this.#readStale()
  }

  /** Reads accounts again after an outside change. An id of 0 means all of them. */
  refresh({ userId, tokenId }: { userId?: number; tokenId?: number }): void {
    if (userId !== undefined) this.#users.changed(userId)
    if (tokenId !== undefined) this.#tokens.changed(tokenId)
    if (!this.#inFlight) this.#readStale()
  }

  #readStale(): void {
    this.#users.readStale()
    this.#tokens.readStale()
  }
}

/** The accounts of one table. */
class Accounts {
  readonly #read: StatementSyncInstance
  readonly #accounts = new Map<number, Account>()
  readonly #stale = new Set<Account>()

  constructor(read: StatementSyncInstance) {
    this.#read = read
  }

  get(id: number): Account {
    const known = this.#accounts.get(id)
    if (known) return known
    // Nothing is pending, so no batch can change this row.
    const account = { id, quota: this.#quota(id), held: 0, pending: 0 }
    this.#accounts.set(id, account)
    return account
  }

  end(id: number, freed: number, charged: number): void {
    const account = this.#accounts.get(id) ?? this.#opened(id)
    account.held -= freed
    account.pending += charged
    this.dropIdle(id)
  }

  written(id: number, amount: number, known: boolean): void {
    const account = this.#accounts.get(id)
    if (!account) return
    account.pending -= amount
    if (known) this.#stale.add(account)
    else account.quota -= amount
    this.dropIdle(id)
  }

  dropIdle(id: number): void {
    const account = this.#accounts.get(id)
    if (account?.held !== 0 || account.pending !== 0) return
    this.#accounts.delete(id)
    this.#stale.delete(account)
  }

  changed(id: number): void {
    const account = this.#accounts.get(id)
    if (account) this.#stale.add(account)
    if (id === 0) for (const each of this.#accounts.values()) this.#stale.add(each)
  }

  /** A failed read leaves the account stale: a charge that was just written must not fail because of it. */
  readStale(): void {
    for (const account of this.#stale) {
      try {
        account.quota = this.#quota(account.id)
        this.#stale.delete(account)
      } catch {
        return
      }
    }
  }

  /** For a charge without a hold, which must be recorded even when the row cannot be read. */
  #opened(id: number): Account {
    try {
      return this.get(id)
    } catch {
      const account = { id, quota: 0, held: 0, pending: 0 }
      this.#accounts.set(id, account)
      this.#stale.add(account)
      return account
    }
  }

  #quota(id: number): number {
    // The statement selects this one column.
    const row = this.#read.get(id) as { quota: number | null } | undefined
    return row ? (row.quota ?? Number.POSITIVE_INFINITY) : 0
  }
}

function requireFree(account: Account, need: number, refusal: 'quota_insufficient' | 'token_quota_insufficient'): void {
  const have = freeOf(account)
  if (have < need) fail(refusal, { need, have })
}

function freeOf({ quota, held, pending }: Account): number {
  return quota - held - pending
}
