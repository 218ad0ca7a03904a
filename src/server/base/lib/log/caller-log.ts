import { addressBlock } from '../net/addresses.ts'
import type { Clock } from '../time/clock.ts'
import { countDropped } from './log-output.ts'
import type { Logger } from './logger.ts'

const minuteMs = 60_000
/** Enough to diagnose a problem, too few to fill a volume. */
export const callerLinesMax = 120
/** Further clients in a minute share one limit. */
const clientsMax = 10_000

/** The log for lines caused by callers, with a limit per client address and minute; lines beyond it are only counted. */
export class CallerLog {
  readonly #logger: Logger
  readonly #silent: Logger
  readonly #now: Clock
  readonly #lines = new Map<string, number>()
  #minute = 0

  constructor(logger: Logger, now: Clock) {
    this.#logger = logger
    this.#silent = logger.child({}, { level: 'silent' })
    this.#now = now
  }

  /** The logger for lines caused by this client. */
  of({ address }: { readonly address: string }): Logger {
    const minute = Math.floor(this.#now() / minuteMs)
    if (minute !== this.#minute) this.#lines.clear()
    this.#minute = minute
    const block = addressBlock(address)
    const client = this.#lines.has(block) || this.#lines.size < clientsMax ? block : 'others'
    const lines = (this.#lines.get(client) ?? 0) + 1
    this.#lines.set(client, lines)
    if (lines <= callerLinesMax) return this.#logger
    countDropped()
    return this.#silent
  }
}
