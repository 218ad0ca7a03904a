import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** Bytes in use and their limit: of the process in its machine or container, and of its heap. */
type ReadMemory = () => readonly { readonly used: number; readonly most: number }[]

const lookEveryMs = 250
/** Memory above this share of the limit is reserved for running requests. */
const shareMost = 0.85

/** Whether the process is near its memory limit, beyond which the system or V8 ends it. Checked four times a second. */
export class MemoryWatch {
  readonly #read: ReadMemory
  readonly #timer: NodeJS.Timeout
  #isShort = false

  constructor(read: ReadMemory = memoryOfProcess()) {
    this.#read = read
    this.#timer = setInterval(() => this.look(), lookEveryMs).unref()
  }

  get isShort(): boolean {
    return this.#isShort
  }

  /**
   * If memory cannot be read, the last value is kept: the system reads it from a file, and there may be no file descriptor left.
   */
  look(): void {
    try {
      this.#isShort = this.#read().some(({ used, most }) => used > most * shareMost)
    } catch {
      // Thrown from a timer, the error would end the process.
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** The memory in bytes that this process may use: of its container, or of its machine. */
export function memoryLimit(): number {
  // Outside of a container there is no limit, or one above the memory of any machine.
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())
}

function memoryOfProcess(): ReadMemory {
  const most = memoryLimit()
  return () => {
    const { used_heap_size: used, heap_size_limit: heapMost } = getHeapStatistics()
    return [
      { used: process.memoryUsage.rss(), most },
      { used, most: heapMost },
    ]
  }
}
