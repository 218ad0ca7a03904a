/**
 * Heavy synchronous steps one at a time: in each iteration of the event loop at most one of them runs, so that timers and connections are
 * served between any two, whoever they belong to. For work in proportion to the bytes of a caller, as parsing a body of megabytes.
 */

/** Whether work on so many bytes is heavy: it waits for its turn. What is below takes a few milliseconds at most, and never waits. */
export function isHeavy(bytes: number): boolean {
  return bytes > heavyAbove
}

/**
 * Resolves in an iteration of the event loop in which no other turn begins; first come, first served. The turn lasts until the caller
 * awaits something else: a second heavy step takes a second turn.
 */
export function loopTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(beginNext)
  })
}

const heavyAbove = 512 * 1024
const waiting: (() => void)[] = []

function beginNext(): void {
  const begin = waiting.shift()
  // What is set here runs in the next iteration, behind its timers and connections.
  if (waiting.length > 0) setImmediate(beginNext)
  begin?.()
}
