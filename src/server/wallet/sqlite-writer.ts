import type { Worker } from 'node:worker_threads'
import type { Batch, Outcome } from './sqlite-commit.ts'
import { startThread } from './sqlite-threads.ts'
import type { Answer, Message } from './sqlite-worker.ts'

/** The file cannot be written now, or the thread died: whether the batch was written may be unknown. */
export class WriterFailed extends Error {}

/** Threads that have closed their file. A process that opens one database after another, as tests do, starts few: each costs 30 ms. */
const idle = new Set<Worker>()

/** Hands batches to the writing thread, one at a time. A thread that died is started again by the next batch. */
export class SqliteWriter {
  readonly #file: string
  #worker: Worker | undefined
  #closed: (() => void) | undefined
  #waiting: { resolve(outcome: Outcome): void; reject(error: Error): void } | undefined

  constructor(file: string) {
    this.#file = file
    this.#worker = this.#start()
  }

  commit(batch: Batch): Promise<Outcome> {
    const worker = this.#worker ?? this.#start()
    this.#worker = worker
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      send(worker, batch)
    })
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    const closed = new Promise<void>((resolve) => {
      this.#closed = resolve
    })
    send(worker, null)
    const limit = setTimeout(() => void worker.terminate(), 5000)
    await closed
    clearTimeout(limit)
  }

  #start(): Worker {
    const [worker = startThread('sqlite-worker')] = idle
    idle.delete(worker)
    worker.removeAllListeners()
    worker.ref()
    worker.on('message', (answer: Answer) => {
      if (!answer) return this.#release(worker)
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
      this.#ended()
      this.#waiting?.reject(new WriterFailed('The ledger worker ended', { cause }))
      this.#waiting = undefined
    })
    send(worker, this.#file)
    return worker
  }

  /** Leaves the thread, whose file is closed, to the next writer. It does not keep the process alive. */
  #release(worker: Worker): void {
    worker.removeAllListeners()
    worker.once('exit', () => idle.delete(worker))
    worker.unref()
    idle.add(worker)
    this.#ended()
  }

  #ended(): void {
    this.#worker = undefined
    this.#closed?.()
    this.#closed = undefined
  }
}

const send = (worker: Worker, message: Message) => worker.postMessage(message)
