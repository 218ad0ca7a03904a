import type { Clock } from './clock.ts'

/**
 * Deadlines of a process that may stand still (a virtual machine that is moved, a laptop that is closed, SIGSTOP). On waking, Node runs
 * timers before it reads what has arrived meanwhile, so that everything would look late. The time of this clock leaves out how long
 * the process stood still: every deadline is judged by it, and none ends before what arrived has been read.
 */

const lookEveryMs = 250
/** A busy process is late by less; when one is that late, its peers have not been heard either. */
const stillFromMs = 1000

/** Monotonic milliseconds that leave out each pause of the underlying clock of more than a second. Ask at least every 250 ms. */
export class AwakeClock {
  readonly #monotonic: Clock
  #lastMs: number
  #stillMs = 0

  constructor(monotonic: Clock = () => performance.now()) {
    this.#monotonic = monotonic
    this.#lastMs = monotonic()
  }

  now(): number {
    const nowMs = this.#monotonic()
    const passedMs = nowMs - this.#lastMs
    if (passedMs > stillFromMs) this.#stillMs += passedMs - lookEveryMs
    this.#lastMs = nowMs
    return nowMs - this.#stillMs
  }

  /** For how long the process has stood still since its start, in milliseconds. */
  get stillMs(): number {
    this.now()
    return this.#stillMs
  }
}

const clock = new AwakeClock()
setInterval(() => clock.now(), lookEveryMs).unref()

/** Milliseconds for which this process has run. */
export function awakeMs(): number {
  return clock.now()
}

/** For how long this process has stood still, in milliseconds. */
export function stillMs(): number {
  return clock.stillMs
}

/** Calls `judge` once, when the process has run for `ms`. Answers what cancels it. Does not keep the process alive. */
export function afterAwake(ms: number, judge: () => void): () => void {
  const dueMs = awakeMs() + ms
  const look = () => {
    const leftMs = dueMs - awakeMs()
    if (leftMs > 0) timer = setTimeout(look, Math.ceil(leftMs)).unref()
    else judge()
  }
  let timer = setTimeout(look, ms).unref()
  return () => clearTimeout(timer)
}

/** What `work` comes to, or what `late` answers or throws when the process has run for `ms` without it. */
export async function withinAwake<Value, Late>(ms: number, work: Promise<Value>, late: () => Late): Promise<Value | Late> {
  let cancel = () => {}
  const judged = new Promise<Late>((resolve, reject) => {
    cancel = afterAwake(ms, () => {
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    })
  })
  try {
    return await Promise.race([work, judged])
  } finally {
    cancel()
  }
}
