import { AppError } from '../../../base/lib/failure.ts'
import type { BudgetWindow } from '../../../money/ledger/budget-window.ts'
import type { BudgetsLeft, Hold } from '../../../money/ledger/ledger.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { budgetHeaders } from './limit-headers.ts'

type Parts = Pick<GatewayParts, 'budgets' | 'now' | 'options'>

/** Sets the reply headers that report the remainder of the tightest hard budget of the caller's own money. */
export function setBudgetHeaders(
  app: Parts,
  call: ClientExchange,
  { windows, left }: { readonly windows: readonly Pick<BudgetWindow, 'budgetId'>[] | undefined; readonly left: BudgetsLeft },
): void {
  if (!windows || !left) return
  const status = app.budgets.tightestOf(windows, left)
  if (!status) return
  const units = { nowMs: app.now(), perUsd: app.options.current.QuotaPerUnit }
  for (const [name, value] of budgetHeaders(call.dialect, status, units)) call.setHeader(name, value)
}

/** The error for the caller when a hold is refused, with the headers of a budget that refuses it. Returns any other error unchanged. */
export function explainRefusedHold(app: Parts, call: ClientExchange, error: unknown): unknown {
  if (error instanceof AppError && error.code === 'budget_exceeded') {
    const { budgetId, have } = error.params
    setBudgetHeaders(app, call, { windows: [{ budgetId: Number(budgetId) }], left: [Number(have)] })
  }
  return app.budgets.explain(error)
}

export interface ChannelRefusal {
  readonly error: AppError
  /** Time until the budget may have room again; infinite when it never will. */
  readonly waitMs: number
}

/**
 * Counts the hold of a call in the budgets of the channel that is about to be called. Resolves with the refusal of a budget without
 * room for it: the channel must not be called then. Undefined for a channel without budgets. Rejects with `database_unavailable`.
 */
export function enterChannelBudgets(
  app: Pick<GatewayParts, 'budgets' | 'ledger'>,
  hold: Hold,
  channelId: number,
): Promise<ChannelRefusal | undefined> | undefined {
  const windows = app.budgets.windowsOfChannel(channelId)
  return windows && extendHold(app, hold, windows)
}

async function extendHold(
  { budgets, ledger }: Pick<GatewayParts, 'budgets' | 'ledger'>,
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
