import type { Sessions } from '../accounts/sessions.ts'
import type { EndpointMisses } from '../channels/missing-endpoints.ts'
import type { ChannelIndex, RunningChannel } from '../channels/model-index.ts'
import type { Choice } from '../channels/select.ts'
import type { Spending } from '../channels/spending.ts'
import type { Traffic } from '../channels/traffic.ts'
import type { ByteBudget } from '../lib/byte-budget.ts'
import type { CallerLog } from '../lib/caller-log.ts'
import type { AppError } from '../lib/failure.ts'
import type { UpstreamAgents } from '../lib/http-client.ts'
import type { Snapshot } from '../lib/snapshot.ts'
import type { Deadlines } from '../lib/timer-wheel.ts'
import type { RateLimitLease } from '../limits/rate-limit-lease.ts'
import type { RequestLimits } from '../limits/request-limits.ts'
import type { Moderation } from '../moderation/moderation.ts'
import type { Core } from '../options/core.ts'
import type { Catalog } from '../pricing/catalog.ts'
import type { PriceBook } from '../pricing/price-book.ts'
import type { Price } from '../pricing/quote.ts'
import type { UsageBound } from '../pricing/usage-bound.ts'
import type { Dialogue } from '../protocols/dialogue.ts'
import type { RequestFacts, WireFormat } from '../protocols/wire-format.ts'
import type { Authenticator, RelayCaller } from '../tokens/authenticate.ts'
import type { Hold, Ledger } from '../wallet/ledger.ts'
import type { EmptyBalances } from './admission/authenticate.ts'
import type { Calibration, Estimate } from './admission/token-estimate.ts'
import type { BackgroundRuns } from './background/background-run.ts'
import type { Attempt, Translation } from './charge/billed.ts'
import type { ClientExchange } from './http/client-exchange.ts'
import type { Body } from './http/read-body.ts'
import type { IdempotentRequests, KeyedCalls } from './idempotency/idempotent-requests.ts'
import type { UndeliveredReplies } from './idempotency/undelivered-replies.ts'
import type { PartialReply } from './response/adapter.ts'
import type { SealedStates } from './response/sealed-states.ts'
import type { LocalResponses, ResponseToStore } from './stored-responses/local-responses.ts'
import type { PendingResponses } from './stored-responses/pending-responses.ts'
import type { UpstreamResponses } from './stored-responses/upstream-responses.ts'
import type { UpstreamFailure } from './upstream/failure.ts'
import type { RequestMedia } from './upstream/fetch-media.ts'
import type { AccessTokens } from './upstream/token-exchange.ts'

/** The parts of the server that the relay uses. */
export interface RelayParts extends Core {
  readonly callerLog: CallerLog
  readonly sessions: Sessions
  readonly authenticator: Authenticator
  readonly ledger: Ledger
  readonly emptyBalances: EmptyBalances
  readonly endpointMisses: EndpointMisses
  readonly catalog: Catalog
  readonly priceBook: PriceBook
  readonly limits: RequestLimits
  readonly moderation: Moderation
  readonly channels: Snapshot<ChannelIndex>
  readonly spending: Spending
  readonly traffic: Traffic
  readonly upstream: UpstreamAgents
  /** For media that are fetched by address. */
  readonly mediaMemory: ByteBudget
  readonly deadlines: Deadlines
  readonly accessTokens: AccessTokens
  readonly calibration: Calibration
  readonly sealedStates: SealedStates
  readonly upstreamResponses: UpstreamResponses
  readonly pendingResponses: PendingResponses
  readonly localResponses: LocalResponses
  readonly backgroundRuns: BackgroundRuns
  readonly idempotentRequests: IdempotentRequests
  readonly keyedCalls: KeyedCalls
  readonly undelivered: UndeliveredReplies
}

/** A request that was admitted, priced and holds its quota, as every attempt finds it. Frozen. */
export interface AdmittedRequest {
  readonly call: ClientExchange
  readonly caller: RelayCaller
  readonly body: Body
  readonly format: WireFormat
  readonly facts: RequestFacts
  readonly group: string
  readonly price: Price
  /** The prices of other models that may work for the call. */
  readonly otherPrices?: readonly Price[]
  /** Tools and models that must not be sent to a channel, because they have no price. */
  readonly unpriced?: readonly Unpriced[]
  /** Members that were taken out of the request because they have no price. */
  readonly leftOut?: readonly string[]
  /** Estimated length of the prompt in tokens. */
  readonly inputTokens: number
  readonly estimate?: Estimate
  readonly hold: Hold
  /** The most that its usage can be; a report above it is charged at the bound. */
  readonly bound?: UsageBound | undefined
  /** Output limit of each completion that goes upstream because the balance affords no more. */
  readonly outputLimit?: number | undefined
  /** Lease on the rate limits of the request; undefined when no limit applies. */
  readonly lease: RateLimitLease | undefined
  /** The channel that stores the conversation which the request continues. */
  readonly storingChannel?: StoringChannel | undefined
  /** Set when this server stores the response because the channel stores none. */
  readonly toStore?: ResponseToStore | undefined
}

/** What the attempts of one request share. */
export interface SharedByAttempts {
  /** The attempts that failed, in their order. */
  readonly failed: Attempt[]
  /** Media that the request references by URL, once an attempt needed them. */
  media?: RequestMedia
  /** The request in its neutral form, once an attempt needed it. */
  dialogue?: Dialogue
  /** An upstream has refused the reasoning of earlier turns; further attempts omit it. */
  leavesReasoning?: boolean
}

/** One attempt on one channel, and what is known of it so far. */
export interface AttemptState {
  readonly request: AdmittedRequest
  readonly shared: SharedByAttempts
  readonly channel: RunningChannel
  /** Why the channel was chosen. */
  readonly choice: Choice
  /** The name of the model at the upstream, once the request to it is made. */
  upstreamModel: string
  /** `leftOut` with what the channel does not get of a request in the caller's own format. */
  dropped?: readonly string[]
  /** Present when the channel is asked in another format than the caller's. */
  translation?: Translation
  /** The response that the upstream stores. */
  response?: NotedResponse
  /** Failure after the reply had begun: the caller keeps the partial reply, and the channel is at fault. */
  brokeOff?: UpstreamFailure
  /** Partial reply of which the caller received nothing: charged unless another channel answers. */
  lost?: PartialReply
}

/** A tool or model without a price, and the error when a channel would be sent it. */
export interface Unpriced {
  readonly tool: string
  readonly refusal: AppError
}

/** The channel and key that store the conversation which a request continues. */
export interface StoringChannel {
  readonly channelId: number
  readonly keyId: number
  readonly group: string
  /** How long the conversation is so far. */
  readonly tokens: number
}

/** A response that the upstream keeps. */
export interface NotedResponse {
  readonly id: string
  /** Ids of its items, as far as they are complete. */
  readonly items: string[]
  /** Resolves when the row of a background response is durable; absent for a response that ends with its answer. */
  readonly written?: Promise<void>
}
