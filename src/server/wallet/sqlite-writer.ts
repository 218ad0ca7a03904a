import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import type { Batch, Outcome } from './sqlite-commit.ts'
import { startThread } from './sqlite-threads.ts'
import type { Answer } from './sqlite-worker.ts'

/** The file cannot be written now, or the thread died: it may be unknown whether the batch was written. */
export class WriterFailed extends Error {}

/** Hands batches to the writing thread, one at a time. A thread that died is started again by the next batch. */
export class SqliteWriter {
  readonly #file: string
  readonly #lockWaitMs: number
  #worker: Worker | undefined
  #waiting: { resolve(outcome: Outcome): void; reject(error: Error): void } | undefined

  /** `lockWaitMs`: how long an attempt waits for the lock of the file. */
  constructor(file: string, lockWaitMs: number) {
    this.#file = file
    this.#lockWaitMs = lockWaitMs
    this.#worker = this.#start()
  }

  commit(batch: Batch): Promise<Outcome> {
    const worker = this.#worker ?? this.#start()
    this.#worker = worker
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      worker.postMessage(batch)
    })
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    const exit = once(worker, 'exit')
    worker.postMessage(null)
    const limit = setTimeout(() => void worker.terminate(), 5000)
    await exit
    clearTimeout(limit)
  }

  #start(): Worker {
    const worker = startThread('sqlite-worker', { file: this.#file, lockWaitMs: this.#lockWaitMs })
    worker.on('message', (answer: Answer) => {
      const waiting = this.#waiting
      this.#waiting = undefined
      if (!('failed' in answer)) return waiting?.resolve(answer)
      const { message, refused } = answer.failed
      waiting?.reject(refused ? new Error(message) : new WriterFailed(message))
    })
    let cause: unknown
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      this.#worker = undefined
      this.#waiting?.reject(new WriterFailed('The ledger worker ended', { cause }))
      this.#waiting = undefined
    })
    return worker
  }
}
