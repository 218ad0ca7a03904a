import { type Archive, conversationsMax, type Head, openArchive } from './archive.ts'
import { Conversation, newId } from './conversation.ts'
import { settledTurns, type Turn, titleOf } from './turns.ts'

export interface Shelf {
  /** False for the moment in which the browser is asked what it keeps. */
  readonly ready: boolean
  /** Kept conversations, newest first. */
  readonly heads: readonly Head[]
  /** The one that is open. */
  readonly conversation: Conversation
}

/** One person's conversations in this browser: the open one, and the list of all that are kept. */
export class Library {
  readonly #userId: number
  readonly #archive: Promise<Archive>
  readonly #listeners = new Set<() => void>()
  #shelf: Shelf

  constructor(userId: number) {
    this.#userId = userId
    this.#archive = openArchive(userId)
    this.#shelf = { ready: false, heads: [], conversation: this.#blank() }
    void this.#load()
  }

  readonly read = (): Shelf => this.#shelf

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Leaves the open conversation as it is kept and begins an empty one. */
  startNew(): void {
    this.stop()
    this.#change({ conversation: this.#blank() })
  }

  async open(id: string): Promise<void> {
    this.stop()
    const turns = settledTurns(await (await this.#archive).read(id))
    this.#change({ conversation: this.#make(id, turns) })
  }

  async rename(head: Head, title: string): Promise<void> {
    const archive = await this.#archive
    const named = { ...head, title }
    await archive.write(named, await archive.read(head.id))
    this.#change({ heads: this.#shelf.heads.map((one) => (one.id === head.id ? named : one)) })
  }

  async remove(ids: readonly string[]): Promise<void> {
    const isOpen = ids.includes(this.#shelf.conversation.id)
    if (isOpen) this.startNew()
    await (await this.#archive).remove(ids)
    this.#change({ heads: this.#shelf.heads.filter(({ id }) => !ids.includes(id)) })
  }

  /** An answer that nobody reads any more is not paid for. */
  stop(): void {
    this.#shelf.conversation.stop()
  }

  /** Goes on where the last visit ended. */
  async #load(): Promise<void> {
    const archive = await this.#archive
    const heads = await archive.list()
    const [latest] = heads
    const conversation = latest ? this.#make(latest.id, settledTurns(await archive.read(latest.id))) : this.#blank()
    this.#change({ ready: true, heads, conversation })
  }

  #blank(): Conversation {
    return this.#make(newId(), [])
  }

  #make(id: string, turns: readonly Turn[]): Conversation {
    return new Conversation({ id, turns, save: (kept) => void this.#keep(id, kept) })
  }

  async #keep(id: string, turns: readonly Turn[]): Promise<void> {
    const archive = await this.#archive
    const before = this.#shelf.heads.find((head) => head.id === id)
    // What was removed while it was still being settled stays removed.
    if (!before && this.#shelf.conversation.id !== id) return
    const title = before?.title || titleOf(turns)
    const head: Head = { id, userId: this.#userId, title, updatedAtMs: Date.now() }
    const heads = [head, ...this.#shelf.heads.filter((one) => one.id !== id)]
    this.#change({ heads: heads.slice(0, conversationsMax) })
    try {
      await archive.write(head, turns)
      const tooMany = heads.slice(conversationsMax)
      if (tooMany.length > 0) await archive.remove(tooMany.map((one) => one.id))
    } catch {
      // A browser without room keeps what it has; the conversation on the page goes on.
    }
  }

  #change(patch: Partial<Shelf>): void {
    this.#shelf = { ...this.#shelf, ...patch }
    for (const listener of this.#listeners) listener()
  }
}
