/** The state of a task. It only goes forward, and an ended task keeps its state. Pure. */

/** Ended states are last; an unknown state counts as new. */
const ranks: ReadonlyMap<string, number> = new Map([
  ['', 0],
  ['UNKNOWN', 0],
  ['NOT_START', 0],
  ['SUBMITTED', 1],
  ['QUEUED', 1],
  ['MODAL', 1],
  ['IN_PROGRESS', 2],
  ['SUCCESS', 3],
  ['FAILURE', 3],
])
const endRank = 3

/** An upstream's report on a task, as far as it concerns states of either kind. */
export interface SeenState {
  readonly status: string
  readonly failReason: string
  /** Percent; undefined when it is not reported. */
  readonly progress: number | undefined
}

export interface NextState {
  readonly status: string
  readonly progress: string
  readonly failReason: string
}

export function isEnd(status: string): boolean {
  return rankOf(status) === endRank
}

/** The states from which a task may change to this one. */
export function statesBefore(status: string): string[] {
  return [...ranks.keys()].filter((each) => rankOf(each) !== endRank && rankOf(each) <= rankOf(status))
}

/** The state after this update; undefined when it is no step forward. A reason of failure means failure, regardless of other members. */
export function nextState(now: { status: string; progress: string }, seen: SeenState): NextState | undefined {
  if (isEnd(now.status)) return undefined
  const isKnown = ranks.has(seen.status)
  const reported = isKnown ? seen.status : now.status
  const status = seen.failReason !== '' && reported !== 'SUCCESS' ? 'FAILURE' : reported
  if (rankOf(status) < rankOf(now.status)) return undefined
  if (isEnd(status)) return { status, progress: '100%', failReason: status === 'FAILURE' ? seen.failReason : '' }

  const percent = Math.max(percentOf(now.progress), Math.min(99, Math.max(0, Math.trunc(seen.progress ?? 0))))
  return { status, progress: `${percent}%`, failReason: '' }
}

/** `47%`, or a number. Undefined for anything else. */
export function readPercent(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const digits = typeof value === 'string' ? /^(\d{1,3})(?:\.\d+)?\s*%?$/.exec(value.trim())?.[1] : undefined
  return digits === undefined ? undefined : Number(digits)
}

function percentOf(progress: string): number {
  return readPercent(progress) ?? 0
}

function rankOf(status: string): number {
  return ranks.get(status) ?? 0
}
