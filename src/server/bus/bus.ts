import type { Logger } from '../lib/logger.ts'

/**
 * News of changes, between the parts of one process and between nodes. A message carries only a topic and what changed; the truth is
 * read from the database by whoever is interested. A transport may lose messages: `revision.ts` finds what was missed.
 */
export type Topic = 'options' | 'channels' | 'token' | 'user'

/** `id` is the row that changed, or 0 for "anything of this topic". */
export type Listener = (id: number) => void

export interface Transport {
  /** Sends to the other nodes. Never throws; a lost message is healed by the revision poll. */
  send(topic: Topic, id: number): void
  close(): Promise<void>
}

export class Bus {
  readonly #listeners = new Map<Topic, Set<Listener>>()
  readonly #logger: Logger
  #transport: Transport | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  connect(transport: Transport): void {
    this.#transport = transport
  }

  on(topic: Topic, listener: Listener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  /** Tells this process at once and the other nodes over the transport. Call it after the commit. */
  publish(topic: Topic, id = 0): void {
    this.deliver(topic, id)
    this.#transport?.send(topic, id)
  }

  /** Tells only this process: called by the transport for messages of other nodes. */
  deliver(topic: Topic, id: number): void {
    for (const listener of this.#listeners.get(topic) ?? []) {
      try {
        listener(id)
      } catch (error) {
        this.#logger.error({ error, topic }, 'bus listener failed')
      }
    }
  }

  async close(): Promise<void> {
    await this.#transport?.close()
    this.#listeners.clear()
  }
}
