import type { OptionKey, OptionValues } from '../../../contract/options/index.ts'
import type { Bus } from '../bus/bus.ts'
import type { Siblings } from '../bus/siblings.ts'
import type { Database, Queries } from '../db/open.ts'
import type { Env } from '../env.ts'
import type { Logger } from '../lib/log/logger.ts'
import type { Metrics } from '../lib/process/metrics.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import type { Clock } from '../lib/time/clock.ts'

/** The parts that every rule of the product may use; `app.ts` builds them. Everything replaceable in a test is a field here. */
export interface Core {
  readonly env: Env
  readonly now: Clock
  /** For durations and windows: never jumps (`newSteadyClock`). */
  readonly steady: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly database: Database
  readonly db: Queries
  readonly secrets: Secrets
  readonly bus: Bus
  readonly options: OptionStore
  /** Name of this process among the nodes; a new one at each start. */
  readonly node: string
  /** The other processes of this start; undefined in a process that runs alone. */
  readonly siblings: Siblings | undefined
}

/** Whether no other process uses the database: then anything that another node has left belongs to a dead node. */
export function isOnlyNode({ database, siblings }: Pick<Core, 'database' | 'siblings'>): boolean {
  return database.dialect === 'sqlite' && siblings === undefined
}

/** The user behind a console call: read from the database for each call. */
export interface Caller {
  readonly id: number
  readonly username: string
  readonly role: number
  readonly group: string
  /** Address of the client, normalised. */
  readonly address: string
}

/**
 * The settings of the site, which administrators change while it runs. Every part reads `options.current`, one frozen and typed
 * snapshot of all options. Settings needed before the database opens are in `env.ts`; those of one user or channel are in its row.
 */
export interface OptionStore {
  /** All options. Read it for each use; values that are costly to derive are cached by `derived`. */
  readonly current: OptionValues
  /** Resolves when `current` is at least as new as this call. */
  refresh(): Promise<void>
  /**
   * Saves one option from its string form; durable and in `current` when it resolves. Saving the current value is not an error and
   * changes nothing: forms save all of their fields. Throws `option_unknown`, `option_forbidden`, `option_invalid`,
   * `json_text_invalid`, `option_needs` or, if `confirmed` is false, `groups_in_use`, and then the old value stays. A secret is
   * unchanged when `value` is undefined and cleared when it is empty.
   */
  save(change: OptionChange): Promise<void>
  /** Saves several options, computed by `make` from the current values: all of them take effect, or none. Throws as `save`. */
  edit(caller: Caller, make: (values: OptionValues) => Partial<Record<OptionKey, string>>): Promise<void>
  /** Restores the default. Throws `option_forbidden`. Idempotent. */
  reset(key: OptionKey, caller: Caller): Promise<void>
  close(): void
}

export interface OptionChange {
  readonly key: string
  readonly value: string | undefined
  readonly caller: Caller
  /** False refuses to remove groups that are in use; scripts leave it out and are not asked. */
  readonly confirmed?: boolean | undefined
}
