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
  /** What a channel must not be asked for, because it has no price. */
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
  /** The place of the request among its limits; undefined when it has none. */
  readonly lease: RateLimitLease | undefined
  /** For a request that goes on from what an upstream keeps. */
  readonly storingChannel?: StoringChannel | undefined
  /** For a turn that this server keeps where its channel keeps nothing. */
  readonly toStore?: ResponseToStore | undefined
}

/** What the attempts of one request share. */
export interface SharedByAttempts {
  /** The attempts that failed, in their order. */
  readonly failed: Attempt[]
  /** What the request names by address, once an attempt needed it. */
  media?: RequestMedia
  /** The request in its neutral form, once an attempt needed it. */
  dialogue?: Dialogue
  /** An upstream has refused the reasoning of earlier turns: it is left out from then on. */
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
  /** What the upstream keeps of it. */
  response?: NotedResponse
  /** Why it broke off after its reply had begun: the caller has what came, and the channel is to blame. */
  brokeOff?: UpstreamFailure
  /** What came of a reply that broke off before the caller had any of it: charged unless another channel answers. */
  lost?: PartialReply
}

/** Something of a request that has no price, and what the caller is told where it would be ordered. */
export interface Unpriced {
  readonly tool: string
  readonly refusal: AppError
}

/** The channel and key that keep what a request continues. */
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
  /** Resolves when it is written down that it runs on; absent for one that ends with its answer. */
  readonly written?: Promise<void>
}
