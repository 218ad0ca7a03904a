import type { IdentityParts } from './accounts/external-identity/oauth-provider.ts'
import type { HumanCheck } from './accounts/human-check.ts'
import type { Passwords } from './accounts/passwords.ts'
import type { Reader } from './db/reader.ts'
import type { Counters } from './limits/counters.ts'
import type { RunningDownloads } from './limits/running-downloads.ts'
import type { SearchQueue } from './limits/search-queue.ts'
import type { Mailer } from './notify/mailer.ts'
import type { RelayParts } from './relay/relay-parts.ts'
import type { StatusSnapshots } from './status-page/snapshot.ts'
import type { CallStatistics } from './usage/call-statistics.ts'
import type { StripeCalls } from './wallet/stripe-calls.ts'

/** All parts of a running server, built by hand in `app.ts` in the order of the import list. */
export interface App extends RelayParts {
  readonly mailer: Mailer
  readonly human: HumanCheck
  readonly identity: IdentityParts
  readonly stripe: StripeCalls
  readonly passwords: Passwords
  readonly counters: Counters
  readonly version: string
  /** Long reads, on connections separate from those of requests. */
  readonly reader: Reader
  readonly searches: SearchQueue
  readonly downloads: RunningDownloads
  readonly callStatistics: CallStatistics
  readonly statusSnapshots: StatusSnapshots
  /** Unix seconds of the start of this process. */
  readonly startedAt: number
  /** Starts a job immediately. Resolves with false when it is already running on this node or another. */
  startJob(name: string): Promise<boolean>
}
