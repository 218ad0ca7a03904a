/**
 * Heavy synchronous steps one at a time: in each iteration of the event loop at most one of them runs, so that timers and connections
 * are served between any two, over all requests. For work in proportion to the bytes of a caller, as parsing a body of megabytes.
 */

/** Whether work on so many bytes is heavy and has to yield first. Work below takes a few milliseconds at most, and never waits. */
export function isHeavy(bytes: number): boolean {
  return bytes > heavyAbove
}

/**
 * Resolves in an iteration of the event loop in which no other heavy step begins; first come, first served. The step lasts until
 * the caller awaits something else: a second heavy step has to yield again.
 */
export function yieldToEventLoop(): Promise<void> {
  return turnIn(waiting)
}

/**
 * Like `yieldToEventLoop`, but before its waiters: for a further step of started work, so that it frees its memory before the next
 * work begins. Only for work of a few steps, which delays others only briefly.
 */
export function yieldWithPriority(): Promise<void> {
  return turnIn(waitingFurther)
}

const heavyAbove = 512 * 1024

type Waiting = (() => void)[]
const waiting: Waiting = []
const waitingFurther: Waiting = []

function turnIn(queue: Waiting): Promise<void> {
  return new Promise((resolve) => {
    if (!isAnyoneWaiting()) setImmediate(beginNext)
    queue.push(resolve)
  })
}

function beginNext(): void {
  const begin = waitingFurther.shift() ?? waiting.shift()
  // A callback set here runs in the next iteration, after its timers and connections.
  if (isAnyoneWaiting()) setImmediate(beginNext)
  begin?.()
}

function isAnyoneWaiting(): boolean {
  return waiting.length + waitingFurther.length > 0
}
