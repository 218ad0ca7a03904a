import type { Redirect } from '../../../../contract/model-ends.ts'
import type { AppError } from '../../../base/lib/failure.ts'
import type { Hold } from '../../../money/ledger/ledger.ts'
import type { Price } from '../../../money/pricing/quote.ts'
import type { UsageBound } from '../../../money/pricing/usage-bound.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { RateLimitLease } from '../../limits/rate-limit-lease.ts'
import type { RequestFacts, WireFormat } from '../../protocols/wire-format.ts'
import type { StoringChannel } from '../conversations/history.ts'
import type { ResponseToStore } from '../conversations/local-response.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { Body } from '../http/read-body.ts'
import type { CallKind } from './hold-shares.ts'
import type { Estimate } from './token-estimate.ts'

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
