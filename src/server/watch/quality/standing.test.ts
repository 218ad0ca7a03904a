import { expect, it } from 'vitest'
import { standingOf } from './standing.ts'

const rule = { window_runs: 3, threshold: 70, drop: 30 }
/** Runs, newest first, of two answers each; `passed` is the number of passed ones. */
const runs = (...passed: number[]) => passed.map((count, index) => ({ run_at: 100 - index, passed: count, total: 2 }))

it.each([
  ['has no standing without a run', [], { state: 'waiting', share: -1, baseline: -1 }],
  ['waits for a whole window', [0, 0], { state: 'waiting', share: 0, baseline: -1 }],
  ['is well at the threshold', [2, 2, 1], { state: 'ok', share: (5 / 6) * 100, baseline: -1 }],
  ['departs below the threshold', [1, 1, 2], { state: 'below', share: (4 / 6) * 100, baseline: -1 }],
  ['is compared with as many runs as count', [2, 2, 2, 2, 2], { state: 'ok', share: 100, baseline: -1 }],
  ['recovers without an alert', [2, 2, 2, 0, 0, 0], { state: 'ok', share: 100, baseline: 0 }],
] as const)('a channel %s', (_name, passed, expected) => {
  expect(standingOf(runs(...passed), rule)).toEqual(expected)
})

it('a channel departs when it falls below its own baseline, above the threshold', () => {
  const fallen = runs(1, 1, 1, 2, 2, 2)
  expect(standingOf(fallen, { ...rule, threshold: 40 })).toEqual({ state: 'dropped', share: 50, baseline: 100 })
  expect(standingOf(fallen, { ...rule, threshold: 40, drop: 51 }).state).toBe('ok')
  expect(standingOf(fallen, { ...rule, threshold: 40, drop: 0 }).state).toBe('ok')
})
