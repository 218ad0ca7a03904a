import type { Sessions } from '../accounts/sessions.ts'
import type { AnsweredModels } from '../channels/answered-models.ts'
import type { EndpointMisses } from '../channels/missing-endpoints.ts'
import type { ChannelIndex } from '../channels/model-index.ts'
import type { PromptAdditions } from '../channels/prompt-additions.ts'
import type { Spending } from '../channels/spending.ts'
import type { Traffic } from '../channels/traffic.ts'
import type { ByteBudget } from '../lib/byte-budget.ts'
import type { CallerLog } from '../lib/caller-log.ts'
import type { UpstreamAgents } from '../lib/http-client.ts'
import type { Snapshot } from '../lib/snapshot.ts'
import type { Deadlines } from '../lib/timer-wheel.ts'
import type { Budgets } from '../limits/budgets.ts'
import type { RequestLimits } from '../limits/request-limits.ts'
import type { Moderation } from '../moderation/moderation.ts'
import type { Core } from '../options/core.ts'
import type { Catalog } from '../pricing/catalog.ts'
import type { PriceBook } from '../pricing/price-book.ts'
import type { Authenticator } from '../tokens/authenticate.ts'
import type { CallTracer } from '../usage/call-traces.ts'
import type { CallObservers } from '../usage/ended-calls.ts'
import type { FailedCalls } from '../usage/failed-calls.ts'
import type { Recordings } from '../usage/recordings.ts'
import type { CallLedger } from '../wallet/ledger.ts'

/** The parts of the server that the relay uses and does not own. */
export interface GatewayParts extends Core {
  readonly callerLog: CallerLog
  readonly sessions: Sessions
  readonly authenticator: Authenticator
  readonly ledger: CallLedger
  readonly endpointMisses: EndpointMisses
  readonly catalog: Catalog
  readonly priceBook: PriceBook
  readonly limits: RequestLimits
  readonly budgets: Budgets
  readonly moderation: Moderation
  readonly channels: Snapshot<ChannelIndex>
  readonly spending: Spending
  readonly traffic: Traffic
  readonly upstream: UpstreamAgents
  /** Memory for media that are fetched by URL. */
  readonly mediaMemory: ByteBudget
  readonly deadlines: Deadlines
  readonly promptAdditions: PromptAdditions
  readonly answeredModels: AnsweredModels
  readonly failedCalls: FailedCalls
  /** Notified of the end of calls and attempts. */
  readonly callObservers: CallObservers
  /** Undefined on a server that sends no traces. */
  readonly callTracer: CallTracer | undefined
  readonly recordings: Recordings
}
