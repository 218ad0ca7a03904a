import type pg from 'pg'
import { AppError } from '../../../base/lib/failure.ts'
import { activeMs } from '../../../base/lib/time/active-time.ts'
import { type BudgetWindow, budgetExceeded, windowsText } from '../budget-window.ts'
import { jittered, pause } from '../committer.ts'
import type { Hold } from '../ledger.ts'
import { isConflict, withLockedBudgets } from './postgres-connection.ts'
import { arrayText, extendStatement } from './postgres-statements.ts'

interface Waiting {
  /** Its `budgets` include the added ones. */
  readonly hold: Hold
  readonly added: readonly BudgetWindow[]
  readonly since: number
  resolve(): void
  reject(error: Error): void
}

interface Decided {
  granted: boolean
  /** The row of the hold exists. */
  is_open: boolean
  /** What each added window leaves free. */
  frees: readonly number[]
}

const batchMax = 512
const limitMs = 900
const conflictsMs = 800

/**
 * Counts open holds in further budgets on PostgreSQL, in batches of everything that queued while the last statement ran. The
 * budgets are locked as they are for holds, so that of two concurrent statements, on any nodes, the second sees the effect of the
 * first.
 */
export class ExtensionQueue {
  readonly #pool: pg.Pool
  #queue: Waiting[] = []
  #running = false

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  add(hold: Hold, added: readonly BudgetWindow[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ hold, added, since: activeMs(), resolve, reject })
      if (this.#running) return
      this.#running = true
      setImmediate(() => void this.#run())
    })
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, batchMax)
      try {
        this.#queue.unshift(...decide(batch, await this.#extend(batch)))
      } catch (cause) {
        const latest = activeMs() - conflictsMs
        const again = isConflict(cause) ? batch.filter(({ since }) => since >= latest) : []
        for (const { reject } of batch.filter((waiting) => !again.includes(waiting)))
          reject(new AppError('database_unavailable', {}, { cause }))
        this.#queue.unshift(...again)
        await pause(jittered(10))
      }
    }
    this.#running = false
  }

  #extend(batch: readonly Waiting[]): Promise<Decided[]> {
    const windows = batch.flatMap(({ hold, added }, at) => added.map((window) => ({ ...window, hold, position: at + 1 })))
    const ids = windows.map(({ budgetId }) => budgetId)
    const values = [
      windows.map(({ position }) => position),
      batch.map(({ hold }) => hold.requestId),
      batch.map(({ hold }) => windowsText(hold.budgets)),
      windows.map(({ hold }) => hold.amount),
      ids,
      windows.map(({ start }) => start),
      windows.map(({ since }) => since),
      windows.map(({ until }) => until),
      windows.map(({ limit }) => limit),
    ].map(arrayText)
    return withLockedBudgets<Decided>(this.#pool, limitMs, ids, { name: 'ledger-extend', text: extendStatement, values })
  }
}

/**
 * Resolves or rejects the holds of the batch, and returns those to try again: they were refused only because of holds before them,
 * which were not granted either.
 */
function decide(batch: readonly Waiting[], rows: readonly Decided[]): Waiting[] {
  const spent = new Map<number, number>()
  for (const [at, { hold, added, resolve, reject }] of batch.entries()) {
    const row = rows[at]
    if (!row?.granted) continue
    if (!row.is_open) {
      reject(new AppError('database_unavailable', {}, { cause: new Error(`The hold of ${hold.requestId} is gone`) }))
      continue
    }
    for (const { budgetId } of added) spent.set(budgetId, (spent.get(budgetId) ?? 0) + hold.amount)
    resolve()
  }
  return batch.filter(({ hold, added, reject }, at) => {
    const row = rows[at]
    if (row?.granted) return false
    const need = hold.amount
    const left = added.map((window, line) => {
      return { window, have: (row?.frees[line] ?? 0) - (spent.get(window.budgetId) ?? 0) }
    })
    const refusing = left.find(({ have }) => have < need)
    if (refusing) reject(budgetExceeded(refusing.window, { need, have: refusing.have }))
    return refusing === undefined
  })
}
