import { activeMs } from './active-time.ts'
import type { Clock } from './clock.ts'

const resolutionMs = 50
const slotCount = 1024

/** A moment at which something is called, unless it is postponed or cancelled. Made by `Deadlines.after`. */
export interface Deadline {
  readonly callback: () => void
  /** The tick at which it is due; 0 when it is not armed. */
  due: number
  /** Its neighbours in the ring of its slot; the deadline itself while it is in no slot. */
  next: Deadline
  previous: Deadline
}

/**
 * Deadlines of requests and streams: thousands at a time, most of which are never reached. Never early, at most two ticks of 50 ms late.
 * Postponing is one assignment, so that each chunk of a stream can do it; the deadline is moved when the wheel reaches it. One timer
 * serves all; it runs only while a deadline is armed and does not keep the process alive.
 *
 * A slot is a ring of deadlines and not a Set: the discarded tables of a Set with many insertions and deletions refer to one another and
 * to their old entries, so that ended requests would survive the young generation.
 */
export class Deadlines {
  readonly #now: Clock
  readonly #startMs: number
  readonly #slots = Array.from({ length: slotCount }, () => alone(() => {}))
  /** The last tick whose slot was processed. */
  #tick = 0
  #armed = 0
  #timer: NodeJS.Timeout | undefined

  /** `now` must not go back. By default the active time, so that no deadline expires just because the process was suspended. */
  constructor(now: Clock = activeMs) {
    this.#now = now
    this.#startMs = now()
  }

  /** Number of armed deadlines. */
  get size(): number {
    return this.#armed
  }

  /** Whether the timer runs. */
  get isRunning(): boolean {
    return this.#timer !== undefined
  }

  /** Calls `callback` once, `ms` from now. */
  after(ms: number, callback: () => void): Deadline {
    const deadline = alone(callback)
    this.refresh(deadline, ms)
    return deadline
  }

  /** Sets a deadline to `ms` from now; a deadline that was reached or cancelled is armed again. */
  refresh(deadline: Deadline, ms: number): void {
    if (this.#timer === undefined) this.#start()
    const due = Math.max(Math.ceil((this.#now() - this.#startMs + ms) / resolutionMs), this.#tick + 1)
    if (deadline.due !== 0 && due >= deadline.due) {
      deadline.due = due
      return
    }
    this.cancel(deadline)
    this.#armed++
    deadline.due = due
    this.#place(deadline)
  }

  /** Does nothing when it was already reached or cancelled. */
  cancel(deadline: Deadline): void {
    if (deadline.due === 0) return
    leave(deadline)
    deadline.due = 0
    this.#armed--
  }

  /** Calls expired deadlines. The timer does this; a test with its own clock does it by hand. */
  advance(): void {
    const target = this.#currentTick()
    // After a pause of more than a turn of the wheel, one turn visits every slot.
    const first = Math.max(this.#tick + 1, target - slotCount + 1)
    this.#tick = Math.max(this.#tick, target)
    for (let tick = first; tick <= target && this.#armed > 0; tick++) this.#visit(tick % slotCount)
    if (this.#armed === 0) this.stop()
  }

  /** Stops the timer. Armed deadlines expire only after the next `after` or `refresh` starts it again. */
  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #start(): void {
    if (this.#armed === 0) this.#tick = this.#currentTick()
    this.#timer = setInterval(() => this.advance(), resolutionMs).unref()
  }

  #visit(index: number): void {
    const slot = this.#slots[index]
    if (slot === undefined || slot.next === slot) return
    // Moves the current entries to a separate ring: callbacks may cancel any of them, and arm more.
    const here = alone(slot.callback)
    enter(here, slot)
    leave(slot)
    for (let deadline = here.next; deadline !== here; deadline = here.next) {
      if (deadline.due <= this.#tick) this.#reach(deadline)
      else this.#place(deadline)
    }
  }

  #reach(deadline: Deadline): void {
    this.cancel(deadline)
    try {
      deadline.callback()
    } catch (error) {
      // Throws as a separate timer would: the other callbacks are still called.
      process.nextTick(() => {
        throw error
      })
    }
  }

  #place(deadline: Deadline): void {
    const slot = this.#slots[deadline.due % slotCount]
    if (slot === undefined) return
    leave(deadline)
    enter(deadline, slot)
  }

  #currentTick(): number {
    return Math.floor((this.#now() - this.#startMs) / resolutionMs)
  }
}

function alone(callback: () => void): Deadline {
  const deadline = { callback, due: 0 } as Deadline
  deadline.next = deadline
  deadline.previous = deadline
  return deadline
}

/** Appends a single entry to a ring. */
function enter(deadline: Deadline, ring: Deadline): void {
  const last = ring.previous
  deadline.previous = last
  deadline.next = ring
  last.next = deadline
  ring.previous = deadline
}

/** Removes an entry from its ring. It keeps no reference to its former neighbours, so that it retains no memory. */
function leave(deadline: Deadline): void {
  deadline.previous.next = deadline.next
  deadline.next.previous = deadline.previous
  deadline.next = deadline
  deadline.previous = deadline
}
