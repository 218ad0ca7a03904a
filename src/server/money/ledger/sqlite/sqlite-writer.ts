import type { Worker } from 'node:worker_threads'
import type { JournalFindings } from './charge-journal.ts'
import { startThread } from './sqlite-threads.ts'
import type { Answer, AppliedUpTo, Order, ThreadSettings } from './sqlite-worker.ts'

/** The disk or the file cannot be written now, or the thread ended: it may be unknown whether anything was written. */
export class WriterFailed extends Error {}

interface Waiting<Result> {
  resolve(result: Result): void
  reject(error: Error): void
}

interface Settings {
  readonly file: string
  /** How long the start waits for the lock of the file. */
  readonly startWaitMs: number
  /** Called whenever the thread has started, with what it found in the journal and applied. */
  onStarted(started: AppliedUpTo, findings: JournalFindings): void
}

/** How long a thread that replaces one that died waits for locks before it appends. */
const replacementWaitMs = 200

/** Gives orders to the writing thread: one of each kind at a time. A thread that ended is started again by the next order. */
export class SqliteWriter {
  readonly #settings: Settings
  #worker: Worker | undefined
  #hasStarted = false
  #starting: Waiting<void> | undefined
  #appending: Waiting<number> | undefined
  #applying: Waiting<AppliedUpTo> | undefined

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Resolves when the journal of an earlier process is in the tables. Call it first. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#starting = { resolve, reject }
      this.#worker = this.#startThread(false)
    })
  }

  /** Appends a batch to the journal. Resolves with its number when it is durable. */
  append(text: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#appending = { resolve, reject }
      this.#order({ append: text })
    })
  }

  /** Writes all batches whose append has resolved into the tables, and perhaps later ones. */
  apply(): Promise<AppliedUpTo> {
    return new Promise((resolve, reject) => {
      this.#applying = { resolve, reject }
      this.#order('apply')
    })
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    const exit = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage('close' satisfies Order)
    const limit = setTimeout(() => void worker.terminate(), 5000)
    await exit
    clearTimeout(limit)
  }

  #order(order: Order): void {
    this.#worker ??= this.#startThread(this.#hasStarted)
    this.#worker.postMessage(order)
  }

  #startThread(isReplacement: boolean): Worker {
    const { file, startWaitMs } = this.#settings
    const settings = {
      file,
      startWaitMs: isReplacement ? replacementWaitMs : startWaitMs,
      isReplacement,
    } satisfies ThreadSettings
    const worker = newThread(settings)
    worker.on('message', (answer: Answer) => this.#take(answer))
    let cause: unknown
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      this.#worker = undefined
      const failed =
        cause instanceof Error
          ? new WriterFailed(cause.message, { cause: cause.cause })
          : new WriterFailed('The ledger worker ended')
      for (const waiting of [this.#starting, this.#appending, this.#applying]) waiting?.reject(failed)
    })
    return worker
  }

  #take(answer: Answer): void {
    if ('started' in answer) {
      this.#hasStarted = true
      this.#settings.onStarted(answer.started, answer.findings)
      this.#starting?.resolve()
    } else if ('appended' in answer) this.#appending?.resolve(answer.appended)
    else if ('applied' in answer) this.#applying?.resolve(answer.applied)
    else (answer.failed === 'append' ? this.#appending : this.#applying)?.reject(new WriterFailed(answer.message))
  }
}

function newThread(settings: ThreadSettings): Worker {
  try {
    return startThread('sqlite-worker', settings)
  } catch (cause) {
    throw new WriterFailed('The ledger worker cannot start', { cause })
  }
}
