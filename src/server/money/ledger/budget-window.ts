import { AppError } from '../../base/lib/failure.ts'

/** A window of a budget that counts a call: the one in which the call began. */
export interface BudgetWindow {
  readonly budgetId: number
  /** Unix seconds: the row of `budget_sums` that counts the call. */
  readonly start: number
  /** The first row that counts in the window; `start` itself unless the window slides. */
  readonly since: number
  /**
   * The last row that counts in the window; `start` itself unless the window slides. A clock that was set back, or is behind that of
   * another node, finds later rows: a sliding window counts as far ahead as it counts back.
   */
  readonly until: number
  /** Seconds from row to row of a sliding window; 0 for other windows, which have one row. */
  readonly step: number
  /** Units; the largest safe integer for a budget that refuses nothing. */
  readonly limit: number
  /** If set, only charges of this channel count. */
  readonly channelId?: number
}

/** The refusal of a hold. `have` may be below zero. */
export function budgetExceeded({ budgetId }: BudgetWindow, { need, have }: { need: number; have: number }): AppError {
  return new AppError('budget_exceeded', { budgetId, need, have })
}

interface FreeWindow {
  readonly window: BudgetWindow
  readonly have: number
}

/** The window with the least left, the first of equal ones; undefined of none. */
export function tightestOf(windows: readonly FreeWindow[]): FreeWindow | undefined {
  return windows.reduce<FreeWindow | undefined>((least, each) => (least && least.have <= each.have ? least : each), undefined)
}

/** The windows that count a charge of this channel. */
export function windowsOfCharge(windows: readonly BudgetWindow[] | undefined, channelId: number): readonly BudgetWindow[] {
  if (!windows) return []
  return windows.filter((window) => window.channelId === undefined || window.channelId === channelId)
}

/** The windows of a hold as its row names them: budget, start and channel (0 for any). '' for none. */
export function windowsText(windows: readonly BudgetWindow[] | undefined): string {
  if (!windows || windows.length === 0) return ''
  return JSON.stringify(windows.map(({ budgetId, start, channelId = 0 }) => [budgetId, start, channelId]))
}

/** Reads the text of `windowsText` when a hold ends; the limits are not stored, because they are not needed then. */
export function readWindows(text: string): readonly BudgetWindow[] | undefined {
  if (text === '') return undefined
  // Only `windowsText` makes these texts.
  const rows = JSON.parse(text) as readonly (readonly [budgetId: number, start: number, channelId: number])[]
  return rows.map(([budgetId, start, channelId]) => ({
    ...{ budgetId, start, since: start, until: start, step: 0, limit: Number.MAX_SAFE_INTEGER },
    ...(channelId === 0 ? {} : { channelId }),
  }))
}
