import type { Redirect } from '../../contract/model-ends.ts'
import type { AppError } from '../lib/failure.ts'
import type { RateLimitLease } from '../limits/rate-limit-lease.ts'
import type { Price } from '../pricing/quote.ts'
import type { UsageBound } from '../pricing/usage-bound.ts'
import type { AnsweredModel } from '../protocols/answered-model.ts'
import type { Dialogue } from '../protocols/dialogue.ts'
import type { RequestFacts, WireFormat } from '../protocols/wire-format.ts'
import type { RelayCaller } from '../tokens/authenticate.ts'
import type { Hold } from '../wallet/ledger.ts'
import type { CallKind } from './admission/hold-shares.ts'
import type { Estimate } from './admission/token-estimate.ts'
import type { ClientExchange } from './http/client-exchange.ts'
import type { Body } from './http/read-body.ts'
import type { PartialReply, WrittenFacts } from './response/adapter.ts'
import type { ResponseToStore } from './stored-responses/local-responses.ts'
import type { ChannelAttempt } from './try-channels/attempt-recorder.ts'
import type { UpstreamFailure } from './upstream/failure.ts'
import type { RequestMedia } from './upstream/fetch-media.ts'

/** A request that was admitted, priced and holds its quota, as every attempt finds it. Frozen. */
export interface AdmittedRequest {
  readonly call: ClientExchange
  readonly caller: RelayCaller
  readonly body: Body
  readonly format: WireFormat
  readonly facts: RequestFacts
  readonly group: string
  readonly price: Price
  /** The ended model that the caller has named, where the operator has set another in its place. */
  readonly replaces?: string | undefined
  /** The prices of other models that may work for the call. */
  readonly otherPrices?: readonly Price[]
  /** The model by which a vendor answers the requested one, and its price. */
  readonly redirected?: Redirected
  /** Tools and models that must not be sent to a channel, because they have no price. */
  readonly unpriced?: readonly Unpriced[]
  /** Members that were taken out of the request because they have no price. */
  readonly leftOut?: readonly string[]
  /** Estimated number of prompt tokens. */
  readonly inputTokens: number
  readonly estimate?: Estimate
  readonly hold: Hold
  /** The most that its usage can be; a report above it is charged at the bound. */
  readonly bound?: UsageBound | undefined
  /** What the call is learnt from; undefined where its cost is known before. */
  readonly kind?: CallKind | undefined
  /** Output limit of each completion that goes upstream because the balance affords no more. */
  readonly outputLimit?: number | undefined
  /** Lease on the rate limits of the request; undefined when no limit applies. */
  readonly lease: RateLimitLease | undefined
  /** The channel that stores the conversation which the request continues. */
  readonly storingChannel?: StoringChannel | undefined
  /** Set when this server stores the response because the channel stores none. */
  readonly toStore?: ResponseToStore | undefined
}

/** State that the attempts of one request share. */
export interface SharedByAttempts {
  /** Media that the request references by URL, once an attempt needed them. */
  media?: RequestMedia
  /** The request in its neutral form, once an attempt needed it. */
  dialogue?: Dialogue
  /** An upstream has refused the reasoning of earlier turns; further attempts omit it. */
  leavesReasoning?: boolean
}

/** One attempt on one channel, before the request to the channel is written. */
export interface BegunAttempt extends ChannelAttempt {
  readonly request: AdmittedRequest
  readonly shared: SharedByAttempts
}

/** One attempt on one channel, and its state so far. */
export interface AttemptState extends BegunAttempt, WrittenFacts {
  /** Which model the reply says has answered. */
  readonly answered: AnsweredModel
  /** The response that the upstream stores. */
  response?: NotedResponse
  /** Failure after the reply had begun: the caller keeps the partial reply, and the channel is at fault. */
  brokeOff?: UpstreamFailure
  /** Partial reply of which the caller received nothing: charged unless another channel answers. */
  lost?: PartialReply
}

/** `price` is that of the model that answers, under the name of the requested one. */
export interface Redirected {
  readonly redirect: Redirect
  readonly price: Price
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

/** A response that the upstream stores. */
export interface NotedResponse {
  readonly id: string
  /** Ids of its completed items. */
  readonly items: string[]
  /** Resolves when the row of a background response is durable; absent for a response that ends with its answer. */
  readonly written?: Promise<void>
}
