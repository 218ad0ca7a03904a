import type { QualityCheckInput, StandingState } from '../../../contract/entities/quality-check.ts'

/** A run of one channel and model. */
export interface RunScore {
  readonly run_at: number
  readonly passed: number
  readonly total: number
}

interface Standing {
  readonly state: StandingState
  /** Percent; -1 means none. */
  readonly share: number
  readonly baseline: number
}

/** Number of runs before the current window that form the baseline. */
export const baselineRunsMax = 50

/**
 * The state of a channel by its runs, newest first. It can only depart with a full window of runs; a drop also needs a baseline of
 * at least as many runs before it. A rise is not a departure: otherwise the recovery of a channel would be one. Pure.
 */
export function standingOf(
  runs: readonly RunScore[],
  { window_runs: window, threshold, drop }: Pick<QualityCheckInput, 'window_runs' | 'threshold' | 'drop'>,
): Standing {
  const share = shareOf(runs.slice(0, window))
  const before = runs.slice(window, window + baselineRunsMax)
  const baseline = before.length < window ? -1 : shareOf(before)
  if (runs.length < window) return { state: 'waiting', share, baseline: -1 }
  if (share < threshold) return { state: 'below', share, baseline }
  const hasDropped = drop > 0 && baseline >= 0 && baseline - share >= drop
  return { state: hasDropped ? 'dropped' : 'ok', share, baseline }
}

function shareOf(runs: readonly RunScore[]): number {
  const total = runs.reduce((sum, run) => sum + run.total, 0)
  return total === 0 ? -1 : (runs.reduce((sum, { passed }) => sum + passed, 0) / total) * 100
}
