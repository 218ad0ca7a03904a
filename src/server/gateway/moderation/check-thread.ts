import { Worker } from 'node:worker_threads'
import { builtModule } from '../../base/lib/process/root.ts'
import type { CheckAnswer, CheckTask } from './check-worker.ts'

type Waiting = (found: string | undefined | Error) => void

/** Searches for listed words in another thread, which starts with the first text. */
export class CheckThread {
  #worker: Worker | undefined
  #list: readonly string[] | undefined
  #ids = 0
  readonly #waiting = new Map<number, Waiting>()

  /** The first word of the list in the texts. Rejects when the thread has died; the next text starts another. */
  find(list: readonly string[], texts: readonly string[]): Promise<string | undefined> {
    const worker = this.#worker ?? this.#start()
    const id = this.#ids++
    const isNew = this.#list !== list
    this.#list = list
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, (found) => (found instanceof Error ? reject(found) : resolve(found)))
      worker.postMessage({ id, list: isNew ? list : undefined, texts } satisfies CheckTask)
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(builtModule('gateway/moderation/check-worker.js'))
    worker.unref()
    worker.on('message', ({ id, found }: CheckAnswer) => {
      this.#waiting.get(id)?.(found)
      this.#waiting.delete(id)
    })
    worker.once('error', (error) => this.#failed(worker, error))
    worker.once('exit', () => this.#failed(worker, new Error('The thread that checks prompts has ended')))
    this.#worker = worker
    return worker
  }

  #failed(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#list = undefined
    for (const tell of this.#waiting.values()) tell(error)
    this.#waiting.clear()
  }
}
