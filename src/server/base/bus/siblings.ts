import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { Link, type LinkHandler } from '../lib/process/link.ts'
import { withActiveTimeout } from '../lib/time/active-time.ts'

/**
 * The processes of one start that share one port (`WORKERS`): the owner, and workers that are linked to it. What several processes
 * must agree on at once is decided by the owner: holds on an embedded database, rate limits, notifications.
 */
export type Siblings = OwnerSiblings | WorkerSiblings

/** Names the role of a process, and the socket of the owner, in the environment that the supervisor sets. */
export const roleVariable = 'SLUICE_PROCESS'
export const socketVariable = 'SLUICE_OWNER_SOCKET'
/** The message by which a process asks the supervisor for the port to accept on. */
/** The signals that end a process. A supervisor passes them on as messages to the processes that it has started. */
export const stopSignals = ['SIGTERM', 'SIGINT'] as const
export type StopSignal = (typeof stopSignals)[number]

export const portWanted = 'port'

/** Undefined in a process that runs alone. Rejects when the owner cannot be reached. */
export async function openSiblings(environment: Readonly<Record<string, string | undefined>>): Promise<Siblings | undefined> {
  const path = environment[socketVariable]
  const role = environment[roleVariable]
  if (path === undefined || role === undefined) return undefined
  return role === 'owner' ? OwnerSiblings.open(path) : WorkerSiblings.open(path)
}

/** Time limit for answers; a worker that is busy or suspended misses it. */
const answersWithinMs = 2000

export class OwnerSiblings {
  readonly isOwner = true
  readonly #server: Server
  readonly #handlers = new Map<string, LinkHandler>()
  readonly #links = new Set<Link>()
  readonly #gone: ((link: Link) => void)[] = []

  static async open(path: string): Promise<OwnerSiblings> {
    const owner = new OwnerSiblings()
    owner.#server.listen(path)
    await once(owner.#server, 'listening')
    return owner
  }

  private constructor() {
    this.#server = createServer((socket) => {
      const link = new Link(socket, this.#handlers)
      this.#links.add(link)
      link.onClose(() => {
        this.#links.delete(link)
        for (const listener of this.#gone) listener(link)
      })
    })
  }

  /** Sets the handler of the workers' calls of that name. */
  serve(name: string, handler: LinkHandler): void {
    this.#handlers.set(name, handler)
  }

  /** Calls `listener` for each worker that has ended. */
  onGone(listener: (link: Link) => void): void {
    this.#gone.push(listener)
  }

  /** Calls `listener` for each message of a worker, and passes it to all other workers. */
  onAnnounced<Message>(name: string, listener: (message: Message) => void): void {
    this.#handlers.set(name, (message: Message, from) => {
      listener(message)
      for (const link of this.#links) if (link !== from) link.notify(name, message)
    })
  }

  /** Announces to all other processes of this start. */
  announce(name: string, message: unknown): void {
    for (const link of this.#links) link.notify(name, message)
  }

  /** Calls all workers, but for the one of the link `except`; returns the answers that arrive in time. */
  async callAll<Result>(name: string, value: unknown, except?: Link): Promise<Result[]> {
    const called = [...this.#links].filter((link) => link !== except)
    const answers = await Promise.allSettled(
      called.map((link) => withActiveTimeout(answersWithinMs, link.call<Result>(name, value), tooLate)),
    )
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }

  /** Resolves when no worker is linked: each has ended all of its requests, or died. */
  async workersGone(): Promise<void> {
    await Promise.all([...this.#links].map((link) => new Promise<void>((resolve) => link.onClose(resolve))))
  }

  async close(): Promise<void> {
    this.#server.close()
    for (const link of this.#links) link.close()
  }
}

export class WorkerSiblings {
  readonly isOwner = false
  readonly owner: Link
  readonly #handlers: Map<string, LinkHandler>

  static async open(path: string): Promise<WorkerSiblings> {
    const socket = connect(path)
    await once(socket, 'connect')
    const handlers = new Map<string, LinkHandler>()
    return new WorkerSiblings(new Link(socket, handlers), handlers)
  }

  private constructor(owner: Link, handlers: Map<string, LinkHandler>) {
    this.owner = owner
    this.#handlers = handlers
  }

  /** Calls `listener` for each message of another process of this start. */
  onAnnounced<Message>(name: string, listener: (message: Message) => void): void {
    this.#handlers.set(name, listener)
  }

  /** Announces to all other processes of this start, by way of the owner. */
  announce(name: string, message: unknown): void {
    this.owner.notify(name, message)
  }

  /** Sets the handler of the owner's calls of that name. */
  serve(name: string, handler: LinkHandler): void {
    this.#handlers.set(name, handler)
  }

  async close(): Promise<void> {
    this.owner.close()
  }
}

function tooLate(): never {
  throw new Error('A worker did not answer in time')
}
