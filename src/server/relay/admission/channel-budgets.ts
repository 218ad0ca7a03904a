import { AppError } from '../../lib/failure.ts'
import type { BudgetWindow } from '../../wallet/budget-window.ts'
import type { Hold } from '../../wallet/ledger.ts'
import type { RelayParts } from '../relay-parts.ts'

export interface ChannelRefusal {
  readonly error: AppError
  /** Until the budget may have room again; infinite for never. */
  readonly waitMs: number
}

/**
 * Counts the hold of a call in the budgets of the channel that is about to be asked. Answers the refusal of a budget that has no room for it,
 * and then the channel must not be asked; undefined where it may be. Throws `database_unavailable`.
 */
export async function enterChannelBudgets(
  { budgets, ledger }: Pick<RelayParts, 'budgets' | 'ledger'>,
  hold: Hold,
  windows: readonly BudgetWindow[],
): Promise<ChannelRefusal | undefined> {
  try {
    await ledger.extend(hold, windows)
    return undefined
  } catch (error) {
    const explained = budgets.explain(error)
    if (!(explained instanceof AppError) || explained.code !== 'budget_exceeded') throw error
    const { retryAfter } = explained.params
    return { error: explained, waitMs: typeof retryAfter === 'number' ? retryAfter * 1000 : Number.POSITIVE_INFINITY }
  }
}
