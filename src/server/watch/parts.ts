import type { Reader } from '../base/db/reader.ts'
import type { Counters } from '../gateway/limits/counters.ts'
import type { RunningDownloads } from '../gateway/limits/running-downloads.ts'
import type { SearchQueue } from '../gateway/limits/search-queue.ts'
import type { RelayParts } from '../gateway/relay/relay-parts.ts'
import type { StripeCalls } from '../money/payments/stripe-calls.ts'
import type { IdentityParts } from '../people/accounts/external-identity/oauth-provider.ts'
import type { HumanCheck } from '../people/accounts/human-check.ts'
import type { Passwords } from '../people/accounts/passwords.ts'
import type { Mailer } from '../people/notify/mailer.ts'
import type { CallStatistics } from '../usage/calls/call-statistics.ts'
import type { StatusSnapshots } from './status-page/snapshot.ts'

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
