import { Worker } from 'node:worker_threads'
import { builtModule } from '../../base/lib/process/root.ts'
import type { Vocabulary } from './count-tokens.ts'
import type { CountAnswer, CountTask } from './count-worker.ts'

type Waiting = (tokens: number | Error) => void

/** Counts tokens in another thread, which starts with the first text. */
export class CountThread {
  #worker: Worker | undefined
  #ids = 0
  readonly #waiting = new Map<number, Waiting>()

  /** The exact number of tokens. Rejects when the thread has died; the next text starts another. */
  count(text: string, vocabulary: Vocabulary): Promise<number> {
    const worker = this.#worker ?? this.#start()
    const id = this.#ids++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, (tokens) => (tokens instanceof Error ? reject(tokens) : resolve(tokens)))
      worker.postMessage({ id, text, vocabulary } satisfies CountTask)
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(builtModule('count-worker.js'))
    worker.unref()
    worker.on('message', ({ id, tokens }: CountAnswer) => {
      this.#waiting.get(id)?.(tokens)
      this.#waiting.delete(id)
    })
    worker.once('error', (error) => this.#failed(worker, error))
    worker.once('exit', () => this.#failed(worker, new Error('The thread that counts tokens has ended')))
    this.#worker = worker
    return worker
  }

  #failed(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const tell of this.#waiting.values()) tell(error)
    this.#waiting.clear()
  }
}
