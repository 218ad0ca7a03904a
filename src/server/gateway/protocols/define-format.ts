import type { OptionalEndpoint } from '../../../contract/entities/channel.ts'
import type { Codec, Inbound, TranslationSettings, WriteContext } from './codec.ts'
import type { DirectConversion } from './direct/conversion.ts'
import type { CallerFormat, CountFormat, Format } from './format.ts'
import type { VendorTools } from './hosted-tools.ts'
import type { OutputLimit } from './output-limit.ts'
import type { PastThoughts } from './past-thoughts.ts'
import type { OpenEvent } from './reply-events.ts'
import type { StoredForm } from './stored-form.ts'
import type { SystemPromptMember } from './system-prompt.ts'
import type { ReplyTexts } from './text-slots.ts'
import type { CallerCount, UpstreamCount } from './token-counts.ts'
import type { JsonObject, UpstreamErrorFacts, WireFormat } from './wire-format.ts'

/**
 * Everything that this server knows about one wire format. Its folder declares it (`format.ts`), and `index.ts` registers it; other
 * folders ask for a member and compare no names. Without a member the format has no such thing. Pure, like all of `protocols`.
 */
export interface FormatDeclaration {
  readonly name: Format
  /** Orders of tasks, which a kind of channel accepts instead of calls. */
  readonly isTask?: true

  /** How its callers are read and answered where the upstream speaks it too: all bytes pass unchanged. */
  readonly wire?: WireFormat
  /** How its callers' conversations are read and answered where the upstream speaks another format. */
  readonly inbound?: Inbound
  /** How an upstream that speaks it gets the conversations of callers of other formats. */
  readonly codec?: Codec
  /** How an upstream that speaks it gets calls of other formats that are not conversations. */
  readonly conversions?: readonly DirectConversion[]

  /** The members of a request that limit the output of one answer. */
  readonly outputLimit?: OutputLimit
  /** The limit that translation writes for a request without one: by the caller's and the upstream's name of the model. */
  limitUnasked?(asked: string, model: string, settings: LimitSettings): number
  /** Reasoning has a budget, which the output limit includes. */
  readonly hasThinkingBudgets?: true
  /** Where the instructions of a channel go. */
  readonly systemPrompt?: SystemPromptMember
  /** The tools of a request that the vendor runs. */
  hostedTools?(body: JsonObject): VendorTools
  /** Reasoning of earlier turns that requests repeat, which the model of another vendor may not be able to read. */
  readonly pastThoughts?: PastThoughts
  /** What requests have that bounds their usage. */
  readonly bound?: BoundMembers
  /** How its answers are stored and read again. */
  readonly stored?: StoredForm
  /** Whether the vendor stores the answer to a request, so that a later one may continue from it. */
  storesAnswer?(body: JsonObject): boolean
  /** A request may ask to be answered in the background; where no upstream does that, this server does. */
  readonly runsInBackground?: true
  /** A small request to a model, which tests a channel. */
  smallRequest?(model: string, outputTokensMax: number): JsonObject
  /** A request is a form with a recording in its field `file`. */
  readonly takesRecording?: true
  /**
   * The endpoint of the vendor that many compatible hosts lack. `isPart`: the format is another call of that endpoint, which a host
   * with the endpoint may lack too.
   */
  readonly optionalEndpoint?: { readonly name: OptionalEndpoint; readonly isPart?: true }
  /** The versions of the vendor's interface, one of which each request names. */
  readonly versions?: InterfaceVersions
  /** The option that sets headers of upstream requests by model. */
  readonly headersIn?: 'claude.model_headers_settings'

  /** Where replies have text for people, which is checked for listed words. */
  readonly texts?: ReplyTexts
  /** Media of replies from other formats that callers get only as text. */
  readonly mediaAsText?: readonly OpenEvent['block'][]
  /** Reasoning is shown as the request asks. */
  readonly showsReasoningAsAsked?: true
  /** A request may leave calls to the model and require that they follow the schemas of their tools. */
  readonly validatesCalls?: true
  /** Replies count the calls of tools that the vendor runs; in other formats each tool of a request is charged once. */
  readonly countsToolCalls?: true
  /** The settings of a channel may have answers rewritten where they would pass unchanged. */
  readonly isRewritable?: true
  /** Replies may have the header of the turn state, which clients send back with the next request. */
  readonly hasTurnState?: true
  /**
   * The whole stream of an answer that failed before its first output, for clients that recognize some errors only in a stream. `body`
   * is the request.
   */
  failedStream?(body: JsonObject, error: UpstreamErrorFacts, context: Omit<WriteContext, 'dialogue'>): string

  /** For a format in which callers count the tokens of a prompt. */
  readonly count?: CallerCount
  /** For a format in which upstreams count them. */
  readonly upstreamCounts?: readonly UpstreamCount[]
}

/** The dated versions of a vendor's interface. */
export interface InterfaceVersions {
  /** The header that names the version. */
  readonly header: 'anthropic-version'
  /** The top-level members that the version refuses for a model. A request to a cloud has its version in the body instead. */
  refused(body: JsonObject, asked: { readonly model: string; readonly version: string }): readonly string[]
}

/** The operator's limits for requests without one. */
export type LimitSettings = Pick<TranslationSettings, 'claudeDefaultMaxTokens'>

/**
 * Members of a request that decide the bound of its usage (`request-bound.ts`). Every body is asked for those of all formats, because
 * hosts accept members of other vendors. Sources: the vendors' interface references, read 2026-11.
 */
interface BoundMembers {
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

/** A declaration with the members that it has. */
type Declared<Name extends Format, Member extends keyof FormatDeclaration> = Pick<Required<FormatDeclaration>, Member> & {
  readonly name: Name
}

/** Declares a format. The type knows which members it has. */
export function defineFormat<Name extends Format, Member extends keyof FormatDeclaration>(
  declared: Declared<Name, Member>,
): Declared<Name, Member> {
  return declared
}

/** One declaration for each name, with the members that formats of its kind must have. */
export type Declarations = {
  readonly [Name in Format]: FormatDeclaration & { readonly name: Name } & (Name extends CallerFormat
      ? { readonly wire: WireFormat }
      : unknown) &
    (Name extends CountFormat ? { readonly count: CallerCount } : unknown)
}
