import type pg from 'pg'
import { AppError, fail } from '../../../base/lib/failure.ts'
import { activeMs } from '../../../base/lib/time/active-time.ts'
import { budgetExceeded, tightestOf, windowsText } from '../budget-window.ts'
import { jittered, pause } from '../committer.ts'
import type { BudgetsLeft, Hold } from '../ledger.ts'
import { isConflict, isDatabaseDown, onConnection, withLockedBudgets } from './postgres-connection.ts'
import { arrayText, budgetHoldStatement, holdStatement } from './postgres-statements.ts'

interface Waiting {
  readonly wanted: Hold
  readonly since: number
  resolve(left: BudgetsLeft): void
  reject(error: Error): void
}

interface Decided {
  granted: boolean
  user_free: number
  token_free: number | null
  /** What each budget window of the hold leaves free. */
  frees?: readonly number[] | null
}

const batchMax = 512
const queueMax = 10_000
const limitMs = 900
const conflictsMs = 800

/**
 * Reserves on PostgreSQL, in batches of everything that queued while the last statement ran. No caller waits longer than two
 * seconds: while the database is unreachable, the whole queue is refused immediately. A reservation whose outcome stays unknown
 * ends with its lease.
 */
export class HoldQueue {
  readonly #pool: pg.Pool
  readonly #node: string
  readonly #leaseSeconds: number
  #queue: Waiting[] = []
  #running = false

  constructor(pool: pg.Pool, { node, leaseSeconds }: { node: string; leaseSeconds: number }) {
    this.#pool = pool
    this.#node = node
    this.#leaseSeconds = leaseSeconds
  }

  add(wanted: Hold): Promise<BudgetsLeft> {
    if (this.#queue.length >= queueMax) fail('server_busy')
    return new Promise((resolve, reject) => {
      this.#queue.push({ wanted, since: activeMs(), resolve, reject })
      if (this.#running) return
      this.#running = true
      setImmediate(() => void this.#run())
    })
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, batchMax)
      try {
        this.#queue.unshift(...(await this.#reserve(batch)))
      } catch (cause) {
        refuse([...batch, ...this.#queue.splice(0)], cause)
      }
    }
    this.#running = false
  }

  /** Decides the batch and returns the requests that must be tried again. */
  async #reserve(batch: readonly Waiting[]): Promise<Waiting[]> {
    try {
      const wanted = batch.map((waiting) => waiting.wanted)
      const values = [
        arrayText(wanted.map(({ requestId }) => requestId)),
        arrayText(wanted.map(({ userId }) => userId)),
        arrayText(wanted.map(({ tokenId }) => tokenId)),
        arrayText(wanted.map(({ amount }) => amount)),
        this.#node,
        this.#leaseSeconds,
        arrayText(wanted.map(neededBy)),
        arrayText(wanted.map(({ takesAll = false }) => String(takesAll))),
      ]
      const rows = wanted.some(({ budgets = [] }) => budgets.length > 0)
        ? await this.#decideWithBudgets(wanted, values)
        : await this.#decide({ name: 'ledger-hold', text: holdStatement, values })
      return decide(batch, rows)
    } catch (error) {
      if (isDatabaseDown(error)) throw error
      return isConflict(error) ? this.#afterConflict(batch, error) : this.#byUser(batch, error)
    }
  }

  async #decide(query: pg.QueryConfig): Promise<Decided[]> {
    return (await onConnection(this.#pool, limitMs, (client) => client.query<Decided>(query))).rows
  }

  #decideWithBudgets(wanted: readonly Hold[], values: readonly (string | number)[]): Promise<Decided[]> {
    const windows = wanted.flatMap(({ budgets = [] }, at) => budgets.map((window) => ({ ...window, position: at + 1 })))
    const ids = windows.map(({ budgetId }) => budgetId)
    const columns = [
      windows.map(({ position }) => position),
      ids,
      windows.map(({ start }) => start),
      windows.map(({ since }) => since),
      windows.map(({ until }) => until),
      windows.map(({ limit }) => limit),
      wanted.map(({ budgets }) => windowsText(budgets)),
    ].map(arrayText)
    const query = { name: 'ledger-hold-budgets', text: budgetHoldStatement, values: [...values, ...columns] }
    return withLockedBudgets<Decided>(this.#pool, limitMs, ids, query)
  }

  async #afterConflict(batch: readonly Waiting[], cause: unknown): Promise<Waiting[]> {
    await pause(jittered(10))
    const latest = activeMs() - conflictsMs
    refuse(
      batch.filter(({ since }) => since < latest),
      cause,
    )
    return batch.filter(({ since }) => since >= latest)
  }

  /** A locked row or a bad value of one user must not refuse the others. */
  async #byUser(batch: readonly Waiting[], cause: unknown): Promise<Waiting[]> {
    const groups = new Map<number, Waiting[]>()
    for (const waiting of batch) {
      const { userId } = waiting.wanted
      groups.set(userId, [...(groups.get(userId) ?? []), waiting])
    }
    const again: Waiting[] = []
    if (groups.size === 1) refuse(batch, cause)
    else for (const group of groups.values()) again.push(...(await this.#reserve(group)))
    return again
  }
}

/**
 * Resolves granted reservations, and those refused for lack of quota. A reservation refused only because of a larger amount before it
 * in the batch, which was then not granted either, is tried again.
 */
function decide(batch: readonly Waiting[], rows: readonly Decided[]): Waiting[] {
  const userSpent = new Map<number, number>()
  const tokenSpent = new Map<number, number>()
  const budgetSpent = new Map<number, number>()
  for (const [index, { wanted, resolve }] of batch.entries()) {
    if (!rows[index]?.granted) continue
    userSpent.set(wanted.userId, (userSpent.get(wanted.userId) ?? 0) + wanted.amount)
    tokenSpent.set(wanted.tokenId, (tokenSpent.get(wanted.tokenId) ?? 0) + wanted.amount)
    const left = wanted.budgets?.map(({ budgetId }, at) => {
      const spent = (budgetSpent.get(budgetId) ?? 0) + wanted.amount
      budgetSpent.set(budgetId, spent)
      return (rows[index]?.frees?.[at] ?? 0) - spent
    })
    resolve(left)
  }

  return batch.filter(({ wanted, reject }, index) => {
    const row = rows[index]
    if (!row || row.granted) return false
    const { userId, tokenId } = wanted
    const need = neededBy(wanted)
    const userLeft = row.user_free - (userSpent.get(userId) ?? 0)
    const tokenLeft = row.token_free === null ? Number.POSITIVE_INFINITY : row.token_free - (tokenSpent.get(tokenId) ?? 0)
    const inWindows = (wanted.budgets ?? []).map((window, at) => {
      return { window, have: (row.frees?.[at] ?? 0) - (budgetSpent.get(window.budgetId) ?? 0) }
    })
    const tightest = tightestOf(inWindows)
    const have = Math.min(userLeft, tokenLeft, ...inWindows.map((each) => each.have))
    if (userLeft < need) reject(new AppError('quota_insufficient', { need, have: userLeft }))
    else if (tokenLeft < need) reject(new AppError('token_quota_insufficient', { need, have: tokenLeft }))
    else if (tightest && tightest.have < need) reject(budgetExceeded(tightest.window, { need, have: tightest.have }))
    else if (wanted.takesAll && have > need) reject(new AppError('quota_insufficient', { need, have }))
    else return true
    return false
  })
}

function neededBy({ amount, needs = amount }: Hold): number {
  return needs
}

function refuse(waiting: readonly Waiting[], cause: unknown): void {
  for (const { reject } of waiting) reject(new AppError('database_unavailable', {}, { cause }))
}
