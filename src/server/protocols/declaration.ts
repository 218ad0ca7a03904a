import type { Codec, Inbound } from './codec.ts'
import type { DirectConversion } from './direct/conversion.ts'
import type { CallerFormat, CountFormat, Format } from './format.ts'
import type { VendorTools } from './hosted-tools.ts'
import type { OutputLimit } from './output-limit.ts'
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
  /** The members of a request that limit the output of one answer. */
  readonly outputLimit?: OutputLimit
  /** Where a channel's own instructions go. */
  readonly systemPrompt?: SystemPromptMember
  /** The tools of a request that the vendor runs. */
  readonly hostedTools?: (body: JsonObject) => VendorTools
  /** For a format in which callers count the tokens of a prompt. */
  readonly count?: CallerCount
  /** For a format in which upstreams count them. */
  readonly upstreamCounts?: readonly UpstreamCount[]
}

/** One declaration for each name, with the members that formats of its kind must have. */
export type Declarations = {
  readonly [Name in Format]: FormatDeclaration & { readonly name: Name } & (Name extends CallerFormat
      ? { readonly wire: WireFormat }
      : unknown) &
    (Name extends CountFormat ? { readonly count: CallerCount } : unknown)
}
