import type { App } from '../parts.ts'
import type { Measured, PastMeasured } from './measures.ts'

/** How a rule is measured. */
export interface RuleSource {
  /** The current values; the rule fires for those beyond its threshold. */
  measure(app: App, asked: Asked): Promise<Measured[]>
  /** Whether the history is complete: then an hour without a value means that nothing happened. */
  readonly isWhole?: true
  /** The values within a period, for the preview. */
  past(app: App, asked: Asked & { readonly from: number; readonly to: number }): Promise<PastMeasured[]>
}

export interface Asked {
  readonly params: Readonly<Record<string, number>>
  /** Ids or names of subjects; empty for all. */
  readonly scope: readonly string[]
  readonly signal: AbortSignal
}
