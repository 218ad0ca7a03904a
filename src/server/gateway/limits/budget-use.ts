import type { Queries } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import type { BudgetWindow } from '../../money/ledger/budget-window.ts'
import { amountNow, type Budgets } from './budgets.ts'

/** What the current window of a budget counts. */
export interface BudgetUse {
  readonly window: BudgetWindow
  /** The current amount, with an override taken into account. */
  readonly amount: number
  readonly spent: number
  readonly held: number
  /** Rows of the window whose share was announced, oldest first. */
  readonly noticed: readonly { readonly start: number; readonly share: number }[]
  /** The newest row of the window; undefined when nothing was counted. */
  readonly lastStart: number | undefined
}

const readAtOnce = 500

/** What the current windows of budgets count, by id. */
export async function readBudgetUse(
  { budgets, now }: Pick<Core, 'now'> & { readonly budgets: Budgets },
  db: Queries,
  rows: readonly Row<'budgets'>[],
): Promise<ReadonlyMap<number, BudgetUse>> {
  const uses = new Map<number, BudgetUse>()
  for (let at = 0; at < rows.length; at += readAtOnce) {
    const part = rows.slice(at, at + readAtOnce).map((row) => ({ row, window: budgets.windowOf(row) }))
    const dated = part.filter(({ window }) => window.since > 0).map(({ window }) => window.since)
    const sums = await db
      .selectFrom('budget_sums')
      .selectAll()
      .where(
        'budget_id',
        'in',
        part.map(({ row }) => row.id),
      )
      .where((row) => row.or([row('start', '=', 0), row('start', '>=', Math.min(...dated, Number.MAX_SAFE_INTEGER))]))
      .orderBy('start')
      .execute()
    for (const { row, window } of part) {
      const counted = sums.filter(
        ({ budget_id, start }) => budget_id === row.id && start >= window.since && start <= window.until,
      )
      uses.set(row.id, {
        window,
        amount: amountNow(row, seconds(now())),
        spent: counted.reduce((sum, { charged, forgiven }) => sum + charged - forgiven, 0),
        held: counted.reduce((sum, { held }) => sum + held, 0),
        noticed: counted.filter(({ noticed }) => noticed > 0).map(({ start, noticed }) => ({ start, share: noticed })),
        lastStart: counted.at(-1)?.start,
      })
    }
  }
  return uses
}

/** In percent, rounded down; undefined when the amount is 0. */
export function shareOf({ spent, amount }: Pick<BudgetUse, 'spent' | 'amount'>): number | undefined {
  return amount > 0 ? Math.floor((spent / amount) * 1000) / 10 : undefined
}

const keptSeconds = 70 * 86_400

/**
 * Deletes windows that ended long ago, with their charges: no refund comes that late. Windows over all time never end. The clock of
 * the machine is not asked: while it is set wrong, windows that are current would be deleted.
 */
export async function purgeBudgetSums({ db, steady }: Pick<Core, 'db' | 'steady'>): Promise<number> {
  const before = seconds(steady()) - keptSeconds
  const ids = await db.selectFrom('budget_sums').select('budget_id').distinct().execute()
  let removed = 0
  for (const { budget_id: id } of ids)
    for (const table of ['budget_charges', 'budget_sums'] as const) {
      const old = db.deleteFrom(table).where('budget_id', '=', id).where('start', '>', 0).where('start', '<', before)
      removed += Number((await old.executeTakeFirstOrThrow()).numDeletedRows)
    }
  await db.deleteFrom('user_notices').where('kind', 'like', 'budget:%').where('sent_at', '<', before).execute()
  return removed
}
