import { AppError } from '../../lib/failure.ts'
import type { BudgetWindow } from '../../wallet/budget-window.ts'
import type { BudgetsLeft } from '../../wallet/ledger.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { RelayParts } from '../relay-parts.ts'
import { budgetHeaders } from './limit-headers.ts'

type Parts = Pick<RelayParts, 'budgets' | 'now' | 'options'>

/** Tells the caller what the tightest budget of the caller's own money has left, in the headers of the reply. */
export function tellBudgets(
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
    tellBudgets(app, call, { windows: [{ budgetId: Number(budgetId) }], left: [Number(have)] })
  }
  return app.budgets.explain(error)
}
