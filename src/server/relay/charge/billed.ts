import type { Tier } from '../../../contract/usage.ts'
import type { Choice } from '../../channels/select.ts'
import type { Price } from '../../pricing/quote.ts'
import type { Format } from '../../protocols/format.ts'
import type { RequestFacts, WireFormat } from '../../protocols/wire-format.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'

/** What a charge and its log row are made of, beside the usage. It can be kept as JSON for a charge that comes later. */
export interface Billed {
  readonly call: {
    readonly id: string
    readonly startedMs: number
    readonly firstByteMs: number
    readonly client: { readonly address: string }
  }
  readonly caller: Pick<RelayCaller, 'userId' | 'tokenId' | 'username' | 'tokenName'>
  readonly facts: Pick<RequestFacts, 'stream' | 'reasoningEffort' | 'requestedTier' | 'hostedTools'>
  /** The caller's format; absent for what only one format has. */
  readonly format?: Pick<WireFormat, 'format'> | undefined
  readonly group: string
  readonly price: Price
  /** The prices of the models that may help, fixed like `price`. */
  readonly otherPrices?: readonly Price[] | undefined
  /** Members that were taken out of the request because they have no price. */
  readonly leftOut?: readonly string[] | undefined
  /** The same with what the channel's own format could not carry. */
  readonly dropped?: readonly string[] | undefined
  readonly attempts: readonly Attempt[]
  /** Why the channel was chosen. */
  readonly choice?: Choice | undefined
  readonly translation?: Translation | undefined
  readonly hold?: { readonly amount: number }
  /** Output limit of each completion that the balance put on the request. */
  readonly outputLimit?: number | undefined
  /** Nothing has reached the caller: the channel is among the attempts that failed. */
  readonly isLost?: true
}

/** Fields of the request that the channel was not sent, by name. */
export function droppedOf({
  translation,
  dropped,
  leftOut,
}: Pick<Billed, 'translation' | 'dropped' | 'leftOut'>): readonly string[] {
  return translation?.dropped ?? dropped ?? leftOut ?? []
}

/** The tier that the channel was asked for: without what it was not sent. */
export function tierSent(bill: Pick<Billed, 'facts' | 'translation' | 'dropped' | 'leftOut'>): Tier | undefined {
  const { requestedTier } = bill.facts
  const dropped = requestedTier && droppedOf(bill)
  if (!requestedTier || !dropped || dropped.length === 0) return requestedTier
  const kept = Object.entries(requestedTier).filter(([member]) => !dropped.some((name) => inSnakeCase(name) === member))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

function inSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** One try on one channel, for the log row. `status` is 0 when there was no answer. */
export interface Attempt {
  readonly channel: number
  readonly key: number
  readonly status: number
  readonly reason: string
  readonly ms: number
  readonly choice: Choice
}

/** What the translation of an attempt did, for the log row. */
export interface Translation {
  /** The format of the upstream. */
  readonly format: Format
  /** Fields of the request that it cannot carry. */
  readonly dropped: readonly string[]
  /** What the reply holds and the caller's format cannot, gathered while it comes; absent in bills of older versions. */
  readonly replyDropped?: string[]
  /** Billed tools of the request that it does carry. */
  readonly hostedTools: readonly string[]
}
