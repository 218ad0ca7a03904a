import type { Clock } from './clock.ts'

/**
 * Time during which the process was active, without suspensions (a migrated virtual machine, a closed laptop, SIGSTOP). On resuming,
 * Node runs timers before it reads the data that arrived meanwhile, so every timeout on a wall or monotonic clock would fire first. All
 * timeouts use this clock: none fires before the data that arrived during the suspension has been read.
 */

const sampleEveryMs = 250
/** A gap from which the process counts as suspended. A busy event loop is late by less. */
const suspendedFromMs = 1000

/** Monotonic milliseconds that leave out each gap of the underlying clock of more than a second. Call `now` at least every 250 ms. */
export class ActiveClock {
  readonly #monotonic: Clock
  #lastMs: number
  #suspendedMs = 0

  constructor(monotonic: Clock = () => performance.now()) {
    this.#monotonic = monotonic
    this.#lastMs = monotonic()
  }

  now(): number {
    const nowMs = this.#monotonic()
    const passedMs = nowMs - this.#lastMs
    if (passedMs > suspendedFromMs) this.#suspendedMs += passedMs - sampleEveryMs
    this.#lastMs = nowMs
    return nowMs - this.#suspendedMs
  }

  /** The time for which the process has been suspended since its start, in milliseconds. */
  get suspendedMs(): number {
    this.now()
    return this.#suspendedMs
  }
}

const clock = new ActiveClock()
setInterval(() => clock.now(), sampleEveryMs).unref()

/** Milliseconds for which this process has been active. */
export function activeMs(): number {
  return clock.now()
}

/** The time for which this process has been suspended, in milliseconds. */
export function suspendedMs(): number {
  return clock.suspendedMs
}

/** Calls `callback` once, after `ms` of active time. Returns a function that cancels it. Does not keep the process alive. */
export function setActiveTimeout(ms: number, callback: () => void): () => void {
  const dueMs = activeMs() + ms
  const check = () => {
    const leftMs = dueMs - activeMs()
    if (leftMs > 0) timer = setTimeout(check, Math.ceil(leftMs)).unref()
    else callback()
  }
  let timer = setTimeout(check, ms).unref()
  return () => clearTimeout(timer)
}

/** The result of `work`, or the result or error of `late` when `ms` of active time pass first. The work itself is not cancelled. */
export async function withActiveTimeout<Value, Late>(ms: number, work: Promise<Value>, late: () => Late): Promise<Value | Late> {
  let cancel = () => {}
  const timeout = new Promise<Late>((resolve, reject) => {
    cancel = setActiveTimeout(ms, () => {
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    })
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    cancel()
  }
}
