import type { OptionalEndpoint } from '../../contract/entities/channel.ts'
import type { Codec, Inbound, TranslationSettings } from './codec.ts'
import type { DirectConversion } from './direct/conversion.ts'
import type { CallerFormat, CountFormat, Format } from './format.ts'
import type { VendorTools } from './hosted-tools.ts'
import type { OutputLimit } from './output-limit.ts'
import type { OpenEvent } from './reply-events.ts'
import type { SystemPromptMember } from './system-prompt.ts'
import type { ReplyTexts } from './text-slots.ts'
import type { CallerCount, UpstreamCount } from './token-counts.ts'
import type { JsonObject, WireFormat } from './wire-format.ts'

/**
 * Everything that this server knows about one wire format. Its folder declares it (`format.ts`), and `index.ts` registers it; all
 * other code asks for a member and never compares names. Without a member the format has no such thing. Pure, like all of `protocols`.
 */
export interface FormatDeclaration {
  readonly name: Format
  /** How it passes unchanged from callers to upstreams. */
  readonly wire?: WireFormat
  /** Conversations at upstreams that speak it, for callers of other formats. */
  readonly codec?: Codec
  /** Conversations of its callers, for upstreams that speak other formats. */
  readonly inbound?: Inbound
  /** Conversions of calls that are not conversations from formats of callers to this one. */
  readonly conversions?: readonly DirectConversion[]
  /** Where its replies have text for people, which is checked for listed words. */
  readonly texts?: ReplyTexts
  /** Media of replies from other formats that its callers get only as text. */
  readonly mediaAsText?: readonly OpenEvent['block'][]
  /** A request says whether and how reasoning is shown. */
  readonly showsReasoningAsAsked?: true
  /** The members of a request that limit the output of one answer. */
  readonly outputLimit?: OutputLimit
  /** The limit that translation writes for a request without one: by the caller's and the upstream's name of the model. */
  readonly limitUnasked?: (asked: string, model: string, settings: LimitSettings) => number
  /** Reasoning has a budget, which the output limit includes. */
  readonly hasThinkingBudgets?: true
  /**
   * The endpoint of the vendor that many compatible hosts lack. `isPart`: the format is another call of that endpoint, which a host
   * with the endpoint may lack too.
   */
  readonly optionalEndpoint?: { readonly name: OptionalEndpoint; readonly isPart?: true }
  /** Settings of a channel may have answers rewritten, even for callers of the same format. */
  readonly isRewritable?: true
  /** Where a channel's own instructions go. */
  readonly systemPrompt?: SystemPromptMember
  /** The tools of a request that the vendor runs. */
  readonly hostedTools?: (body: JsonObject) => VendorTools
  /** Replies count the calls of those tools; in other formats each tool of a request is charged once. */
  readonly countsToolCalls?: true
  /** What its requests have that bounds their usage. */
  readonly bound?: BoundMembers
  /** For a format in which callers count the tokens of a prompt. */
  readonly count?: CallerCount
  /** For a format in which upstreams count them. */
  readonly upstreamCounts?: readonly UpstreamCount[]
}

/** The operator's limits for requests without one. */
export type LimitSettings = Pick<TranslationSettings, 'claudeDefaultMaxTokens'>

/**
 * Members of a request that decide the bound of its usage (`request-bound.ts`). Every body is asked for those of all formats, because
 * hosts accept members of other vendors. Sources: the vendors' interface references, read 2026-11.
 */
export interface BoundMembers {
  /** Top-level members with which a vendor adds its own texts to the prompt. */
  readonly adding?: readonly string[]
  /** What else has a length that only the upstream knows, by name; empty values have none. */
  readonly unbounded?: Readonly<Record<string, (body: JsonObject) => unknown>>
  /** Whether the request offers tools, to which the vendor adds instructions. */
  hasTools?(body: JsonObject): boolean
  /** The bytes by which the request grows in the form of another format. */
  addedBytes?(body: JsonObject): number
  /** The requested kinds of output, in any case. */
  modalities?(body: JsonObject): readonly unknown[]
  /** Whether speech is requested without naming that kind. */
  wantsSpeech?(body: JsonObject): boolean
  /** The tokens that are reserved for reasoning; undefined members are ignored. */
  thinkingBudgets?(body: JsonObject): readonly unknown[]
}

/** One declaration for each name, with the members that formats of its kind must have. */
export type Declarations = {
  readonly [Name in Format]: FormatDeclaration & { readonly name: Name } & (Name extends CallerFormat
      ? { readonly wire: WireFormat }
      : unknown) &
    (Name extends CountFormat ? { readonly count: CallerCount } : unknown)
}
