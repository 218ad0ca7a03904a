import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Logger } from '../log/logger.ts'

/** The file descriptors of this process: one for each connection and each open file. */

/** A server with an embedded database and without a call has 55 open. */
export const descriptorsLeast = 64

const lookEveryMs = 250
/** A load balancer must not see each moment in which one of thousands of connections has ended: five seconds. */
const freeLooksLeast = 20

let lastLimit: number | undefined

/** How many descriptors this process may have open; undefined where the system does not say. Node has raised it as far as it may. */
export function descriptorLimit(): number | undefined {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    if (limit !== undefined) lastLimit = Number(limit)
  } catch {
    // No descriptor is left to read it with, or this is not Linux.
  }
  return lastLimit
}

/** How many are open; undefined where the system does not say. */
export function openDescriptors(): number | undefined {
  try {
    // One of them reads the list.
    return readdirSync('/proc/self/fd').length - 1
  } catch (error) {
    return isShortage(error) ? descriptorLimit() : undefined
  }
}

/** Whether an operation has failed because no descriptor was left, in this process or on this machine. */
export function isShortage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE')) || isShortage(error.cause)
}

/** Whether no descriptor is left. */
export function lacksDescriptors(): boolean {
  try {
    closeSync(openSync(devNull, 'r'))
    return false
  } catch (error) {
    return isShortage(error)
  }
}

/** What an operator reads: the limit, and how to raise it. */
export function tooFewDescriptors(limit = descriptorLimit()): string {
  return `this process may have ${limit ?? 'too few'} files and connections open (ulimit -n): allow 65536, by LimitNOFILE of a systemd unit or the ulimits of a container`
}

/** Throws when a server could not start with the limit of this process. */
export function requireDescriptors(): void {
  const limit = descriptorLimit()
  if (limit !== undefined && limit < descriptorsLeast) throw new Error(tooFewDescriptors(limit))
}

/**
 * Whether this process has no descriptor left: then new connections are closed by the system's default, unanswered. Looks four times a
 * second, and logs when it begins and when it is over, which it is after five seconds without a shortage.
 */
export class DescriptorWatch {
  readonly #logger: Pick<Logger, 'error' | 'info'>
  readonly #lacks: () => boolean
  readonly #timer: NodeJS.Timeout
  /** Looks since the last shortage. */
  #freeLooks = freeLooksLeast

  constructor(logger: Pick<Logger, 'error' | 'info'>, lacks: () => boolean = lacksDescriptors) {
    this.#logger = logger
    this.#lacks = lacks
    this.#timer = setInterval(() => this.look(), lookEveryMs).unref()
  }

  get isShort(): boolean {
    return this.#freeLooks < freeLooksLeast
  }

  look(): void {
    if (this.#lacks()) {
      if (!this.isShort) this.#logger.error(`NO FILE DESCRIPTOR IS LEFT, so that connections are refused: ${tooFewDescriptors()}`)
      this.#freeLooks = 0
    } else if (this.isShort) {
      this.#freeLooks++
      if (!this.isShort) this.#logger.info('there are free file descriptors again')
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
