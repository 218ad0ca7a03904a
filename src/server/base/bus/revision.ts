import { sql } from 'kysely'
import type { Queries } from '../db/open.ts'
import type { Logger } from '../lib/log/logger.ts'
import { type Bus, type Outlet, type Topic, topics } from './bus.ts'
import { type Receiver, readChange, type Transport, writeChange } from './transport.ts'

interface RevisionParts {
  readonly db: Queries
  readonly bus: Bus
  readonly logger: Logger
  readonly node: string
}

const pollMs = 15_000
const fastPollMs = 1000

/**
 * Numbers the changes of each topic in the database, so that none is missed: every message contains its number, and a poll finds
 * the numbers for which no message arrived. Those are delivered as id 0. Transports make notifications fast, this makes them
 * reliable.
 */
export class Revisions implements Outlet, Receiver {
  readonly #parts: RevisionParts
  readonly #topics = new Map<Topic, Seen>(topics.map((topic) => [topic, new Seen()]))
  readonly #waiting = new Map<Topic, Batch>()
  #transports: readonly Transport[] = []
  #isSending = false
  #sending = Promise.resolve()
  #isPolling = false
  #polling = Promise.resolve()
  #pollAgain = false
  #timer: NodeJS.Timeout | undefined
  #failing = false
  #closed = false

  constructor(parts: RevisionParts) {
    this.#parts = parts
  }

  /** Reads the current revisions. Everything loaded afterwards includes them. */
  async start(transports: readonly Transport[]): Promise<void> {
    for (const { topic, revision } of await this.#read()) this.#topics.get(topic)?.jumpTo(revision)
    this.#transports = transports
    this.#schedule()
  }

  send(topic: Topic, id: number): Promise<void> {
    const batch = this.#waiting.get(topic) ?? newBatch()
    batch.ids.add(id)
    this.#waiting.set(topic, batch)
    if (!this.#isSending) this.#sending = this.#sendWaiting()
    return batch.sent
  }

  async receive(message: string): Promise<void> {
    const change = readChange(message)
    if (!change || change.node === this.#parts.node) return
    // Two transports bring the same message: the second delivers nothing, but what the first has delivered may not be in force yet.
    const isNew = this.#topics.get(change.topic)?.receive(change.revision)
    if (isNew) for (const id of change.ids) this.#parts.bus.deliver(change.topic, id)
    await this.#parts.bus.applied()
  }

  changed(): void {
    // A poll that already runs may have read too early.
    if (this.#isPolling) this.#pollAgain = true
    else void this.poll()
  }

  /** Sends messages that could not be sent before, and delivers missed ones. Never throws. */
  poll(): Promise<void> {
    if (!this.#isPolling) this.#polling = this.#pollNow()
    return this.#polling
  }

  /** Waits until published notifications are numbered and sent. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#sending
    await this.#polling
  }

  async #pollNow(): Promise<void> {
    this.#isPolling = true
    do {
      this.#pollAgain = false
      if (!this.#isSending) this.#sending = this.#sendWaiting()
      await this.#sending
      await this.#catchUp()
    } while (this.#pollAgain && !this.#closed)
    this.#isPolling = false
    this.#schedule()
  }

  async #catchUp(): Promise<void> {
    const before = new Map([...this.#topics].map(([topic, seen]) => [topic, seen.all]))
    try {
      for (const { topic, revision } of await this.#read()) {
        const seen = this.#topics.get(topic)
        // A lower number than was seen before the read: the database was restored to an older state.
        const isOlder = revision < (before.get(topic) ?? 0)
        if (isOlder) seen?.forget()
        if (seen?.jumpTo(revision) || isOlder) this.#parts.bus.deliver(topic, 0)
      }
      this.#worked()
    } catch (error) {
      this.#failed(error)
    }
  }

  async #sendWaiting(): Promise<void> {
    this.#isSending = true
    for (const [topic, batch] of this.#waiting) {
      this.#waiting.delete(topic)
      try {
        const revision = await this.#next(topic)
        this.#topics.get(topic)?.receive(revision)
        const message = writeChange({ node: this.#parts.node, topic, ids: [...batch.ids], revision })
        await Promise.all(this.#transports.map((transport) => transport.send(message)))
        batch.done()
      } catch (error) {
        this.#waiting.set(topic, joined(batch, this.#waiting.get(topic)))
        this.#failed(error)
        break
      }
    }
    this.#isSending = false
  }

  async #next(topic: Topic): Promise<number> {
    const row = await this.#parts.db
      .insertInto('revisions')
      .values({ topic, revision: 1 })
      .onConflict((conflict) => conflict.column('topic').doUpdateSet({ revision: sql<number>`revisions.revision + 1` }))
      .returning('revision')
      .executeTakeFirstOrThrow()
    return row.revision
  }

  async #read(): Promise<{ topic: Topic; revision: number }[]> {
    const rows = await this.#parts.db.selectFrom('revisions').selectAll().execute()
    return rows.flatMap(({ topic: name, revision }) =>
      topics.filter((topic) => topic === name).map((topic) => ({ topic, revision })),
    )
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#closed) return
    const isFast = this.#failing || this.#transports.some((transport) => !transport.isUp)
    this.#timer = setTimeout(() => void this.poll(), isFast ? fastPollMs : pollMs).unref()
  }

  #worked(): void {
    if (this.#waiting.size > 0) return
    if (this.#failing) this.#parts.logger.info('news reaches the other nodes again')
    this.#failing = false
  }

  #failed(error: unknown): void {
    if (!this.#failing) this.#parts.logger.warn({ error }, 'news does not reach the other nodes; it is sent again every second')
    this.#failing = true
    if (!this.#isPolling) this.#schedule()
  }
}

/** Changes of one topic that are sent together. */
interface Batch {
  readonly ids: Set<number>
  /** Resolves when they are sent. */
  readonly sent: Promise<void>
  done(): void
}

function newBatch(): Batch {
  const { promise: sent, resolve: done } = Promise.withResolvers<void>()
  return { ids: new Set(), sent, done }
}

/** A batch that could not be sent, with the changes that have come meanwhile. */
function joined(failed: Batch, newer: Batch | undefined): Batch {
  if (!newer) return failed
  for (const id of failed.ids) newer.ids.add(id)
  void newer.sent.then(failed.done)
  return newer
}

/** The revisions of a topic that this node has seen: all up to a number, and some beyond. */
class Seen {
  all = 0
  readonly #beyond = new Set<number>()

  forget(): void {
    this.all = 0
    this.#beyond.clear()
  }

  /** Marks one revision as seen. Returns whether it was new. */
  receive(revision: number): boolean {
    if (revision <= this.all || this.#beyond.has(revision)) return false
    this.#beyond.add(revision)
    while (this.#beyond.delete(this.all + 1)) this.all++
    return true
  }

  /** Marks all revisions up to a number as seen. Returns whether one of them was new. */
  jumpTo(revision: number): boolean {
    if (revision <= this.all) return false
    this.all = revision
    for (const heard of this.#beyond) if (heard <= revision) this.#beyond.delete(heard)
    while (this.#beyond.delete(this.all + 1)) this.all++
    return true
  }
}
