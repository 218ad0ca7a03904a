import type { Bus } from '../bus/bus.ts'
import type { Database, Queries } from '../db/open.ts'
import type { Env } from '../env.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { Secrets } from '../lib/secrets.ts'
import type { OptionStore } from './store.ts'

/** The parts that every rule of the product may use; `app.ts` builds them. Everything replaceable in a test is a field here. */
export interface Core {
  readonly env: Env
  readonly now: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly database: Database
  readonly db: Queries
  readonly secrets: Secrets
  readonly bus: Bus
  readonly options: OptionStore
  /** Name of this process among the nodes, new at each start. */
  readonly node: string
}

/** Who makes a console call: read anew from the database for each call. */
export interface Caller {
  readonly id: number
  readonly username: string
  readonly role: number
  readonly group: string
  /** Address of the client, normalised. */
  readonly address: string
}
