import type { Logger } from '../lib/logger.ts'

/**
 * Notifications of changes, between the parts of one process and between nodes. A message carries only a topic and the key of the
 * change; listeners read the state from the database. This file is local to the process: `connect.ts` adds the outlet to other
 * nodes.
 */
export const topics = ['options', 'channels', 'token', 'user', 'prices', 'recordings', 'budgets'] as const
export type Topic = (typeof topics)[number]

/** `id` is the row that changed, or 0 for "anything of this topic". */
export type Listener = (id: number) => void

/** The destination of published notifications outside of this process. */
export interface Outlet {
  /** Never throws. */
  send(topic: Topic, id: number): void
}

export class Bus {
  readonly #listeners = new Map<Topic, Set<Listener>>()
  readonly #logger: Logger
  #outlet: Outlet | undefined

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

  /** Delivers to this process at once, and to the other nodes within a second. Call it after the commit. */
  publish(topic: Topic, id = 0): void {
    this.deliver(topic, id)
    this.#outlet?.send(topic, id)
  }

  /** Delivers only to this process: for messages of other nodes. */
  deliver(topic: Topic, id: number): void {
    for (const listener of this.#listeners.get(topic) ?? []) {
      try {
        listener(id)
      } catch (error) {
        this.#logger.error({ error, topic }, 'bus listener failed')
      }
    }
  }

  close(): void {
    this.#outlet = undefined
    this.#listeners.clear()
  }
}
