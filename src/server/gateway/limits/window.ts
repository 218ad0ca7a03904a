/**
 * A sliding window as a flat list of pieces, oldest first: the start of the piece, the time of its last entry, and its requests,
 * successes and tokens. A piece collects the entries of a sixteenth of the window, and expires completely, one window length after
 * its last entry: so no window of that length ever contains more than the limit, bursts expire exactly to the millisecond, and a
 * steady stream waits at most a sixteenth longer. `redis-scripts.ts` does the same in Redis.
 */
export type Window = number[]

const pieceFields = 5
export const piecesPerWindow = 16
/** Offsets of the counts in a piece. */
const fieldOf = { requests: 2, successes: 3, tokens: 4 } as const
type Counted = keyof typeof fieldOf

/** The length of a window, and the present. */
interface WindowTime {
  readonly windowMs: number
  readonly nowMs: number
}

/** Removes expired pieces. A clock that was set back by more than a window empties the window. */
export function dropOld(window: Window, windowMs: number, nowMs: number): void {
  let gone = 0
  while (gone < window.length && Math.abs(nowMs - numberAt(window, gone + 1)) >= windowMs) gone += pieceFields
  if (gone > 0) window.splice(0, gone)
}

export function sumOf(window: Window, counted: Counted): number {
  let sum = 0
  for (let at = fieldOf[counted]; at < window.length; at += pieceFields) sum += numberAt(window, at)
  return sum
}

/** Counts a request with this many tokens, and returns the name of its piece. */
export function addRequest(window: Window, windowMs: number, nowMs: number, tokens: number): number {
  const at = currentPiece(window, windowMs, nowMs)
  add(window, at, { requests: 1, successes: 1, tokens })
  return numberAt(window, at)
}

/** Changes the counts of a piece. When the piece has left the window, additional tokens are counted in the current piece. */
export function adjust(
  window: Window,
  piece: number,
  change: Readonly<Record<Counted, number>>,
  { windowMs, nowMs }: WindowTime,
): void {
  let at = 0
  while (at < window.length && numberAt(window, at) !== piece) at += pieceFields
  if (at < window.length) add(window, at, change)
  else if (change.tokens > 0)
    add(window, currentPiece(window, windowMs, nowMs), { requests: 0, successes: 0, tokens: change.tokens })
}

/** The offset of the current piece, which is added if there is none. */
function currentPiece(window: Window, windowMs: number, nowMs: number): number {
  const at = window.length - pieceFields
  if (at < 0 || Math.abs(nowMs - numberAt(window, at)) >= windowMs / piecesPerWindow) {
    window.push(nowMs, nowMs, 0, 0, 0)
    return at + pieceFields
  }
  window[at + 1] = Math.max(nowMs, numberAt(window, at + 1))
  return at
}

/** The time until `over` of the counted amount has left the window. */
export function msUntilFreed(window: Window, counted: Counted, over: number, { windowMs, nowMs }: WindowTime): number {
  let left = over
  for (let at = 0; at < window.length; at += pieceFields) {
    left -= numberAt(window, at + fieldOf[counted])
    if (left <= 0) return Math.max(1, numberAt(window, at + 1) + windowMs - nowMs)
  }
  return windowMs
}

/** The time until the window is empty. */
export function resetOf(window: Window, windowMs: number, nowMs: number): number {
  return window.length === 0 ? 0 : Math.max(0, numberAt(window, window.length - pieceFields + 1) + windowMs - nowMs)
}

function add(window: Window, at: number, change: Readonly<Record<Counted, number>>): void {
  for (const counted of ['requests', 'successes', 'tokens'] as const) {
    const field = at + fieldOf[counted]
    window[field] = Math.max(0, numberAt(window, field) + change[counted])
  }
}

function numberAt(window: Window, at: number): number {
  return window[at] ?? 0
}
