import type { Logger } from '../lib/log/logger.ts'
import { withActiveTimeout } from '../lib/time/active-time.ts'

/**
 * Notifications of changes, between the parts of one process and between nodes. A message carries only a topic and the key of the
 * change; listeners read the state from the database. This file is local to the process: `connect.ts` adds the outlet to other
 * nodes.
 */
export const topics = ['options', 'channels', 'token', 'user', 'prices', 'recordings', 'budgets'] as const
export type Topic = (typeof topics)[number]

/**
 * `id` is the row that changed, or 0 for "anything of this topic". The change is in force when the listener has returned, or when its
 * promise is resolved.
 */
type Listener = (id: number) => unknown

/** The destination of published notifications outside of this process. */
export interface Outlet {
  /** Resolves when the other processes of this start have the change in force. Never rejects. */
  send(topic: Topic, id: number): Promise<void>
}

/** A suspended process, or a database that refuses the number of a change, delays no answer by more. */
const inForceWithinMs = 2000

export class Bus {
  readonly #listeners = new Map<Topic, Set<Listener>>()
  readonly #logger: Logger
  /** Listeners of this process that still apply a change. */
  readonly #applying = new Set<Promise<unknown>>()
  /** Changes that other processes of this start may not have in force yet. */
  readonly #sending = new Set<Promise<unknown>>()
  #outlet: Outlet | undefined
  #publications = 0

  constructor(logger: Logger) {
    this.#logger = logger
  }

  connect(outlet: Outlet): void {
    this.#outlet = outlet
  }

  on(topic: Topic, listener: Listener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  /** The number of changes that this process has published. */
  get publications(): number {
    return this.#publications
  }

  /**
   * Delivers to this process at once, to the other processes of this start before `inForce` resolves, and to the other nodes within a
   * second. Call it after the commit.
   */
  publish(topic: Topic, id = 0): void {
    this.#publications++
    this.deliver(topic, id)
    if (this.#outlet) track(this.#sending, this.#outlet.send(topic, id))
  }

  /**
   * Resolves when every change published before is in force in all processes of this start; after two seconds at the latest, because one of
   * them may be suspended. Never rejects.
   */
  async inForce(): Promise<void> {
    const all = Promise.all([this.applied(), ...this.#sending])
    await withActiveTimeout(inForceWithinMs, all, () => {})
  }

  /** Resolves when every change delivered before is in force in this process. Never rejects. */
  async applied(): Promise<void> {
    await Promise.all(this.#applying)
  }

  /** Delivers only to this process: for messages of other nodes. */
  deliver(topic: Topic, id: number): void {
    for (const listener of this.#listeners.get(topic) ?? []) {
      const failed = (error: unknown) => this.#logger.error({ error, topic }, 'bus listener failed')
      try {
        const applied = listener(id)
        if (applied instanceof Promise) track(this.#applying, applied.catch(failed))
      } catch (error) {
        failed(error)
      }
    }
  }

  close(): void {
    this.#outlet = undefined
    this.#listeners.clear()
  }
}

function track(running: Set<Promise<unknown>>, work: Promise<unknown>): void {
  running.add(work)
  void work.finally(() => running.delete(work))
}
