import type { ByteBudget } from '../../base/lib/bytes/byte-budget.ts'
import type { Snapshot } from '../../base/lib/collections/snapshot.ts'
import type { CallerLog } from '../../base/lib/log/caller-log.ts'
import type { UpstreamAgents } from '../../base/lib/net/http-client.ts'
import type { Deadlines } from '../../base/lib/time/timer-wheel.ts'
import type { Core } from '../../base/options/core.ts'
import type { CallLedger } from '../../money/ledger/ledger.ts'
import type { Catalog } from '../../money/pricing/catalog.ts'
import type { PriceBook } from '../../money/pricing/price-book.ts'
import type { Sessions } from '../../people/accounts/sessions.ts'
import type { Authenticator } from '../../people/tokens/authenticate.ts'
import type { CallTracer } from '../../usage/calls/call-traces.ts'
import type { CallObservers } from '../../usage/calls/ended-calls.ts'
import type { FailedCalls } from '../../usage/calls/failed-calls.ts'
import type { Recordings } from '../../usage/recordings/recordings.ts'
import type { AnsweredModels } from '../channels/health/answered-models.ts'
import type { ChannelIndex } from '../channels/index/model-index.ts'
import type { EndpointMisses } from '../channels/row/missing-endpoints.ts'
import type { PromptAdditions } from '../channels/row/prompt-additions.ts'
import type { Spending } from '../channels/select/spending.ts'
import type { Traffic } from '../channels/select/traffic.ts'
import type { Budgets } from '../limits/budgets.ts'
import type { RequestLimits } from '../limits/request-limits.ts'
import type { Moderation } from '../moderation/moderation.ts'

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
