import { passableHeaders } from '../../../contract/entities/channel.ts'
import type { ChannelColor } from '../../../contract/entities/channel-status.ts'
import type { Text } from '../../../contract/text.ts'
import type { Framing } from '../../base/lib/bytes/frames.ts'
import type { Quirks } from '../protocols/codec.ts'
import type { CallerFormat, Format, TaskFormat } from '../protocols/format.ts'
import type { Upstream } from './upstream.ts'
import type { VideoVendor } from './videos/video-vendor.ts'

export type { Upstream }

/**
 * A provider is a kind of upstream: its label, address, models, native wire formats, authorization and quirks. One file per provider
 * with its own code, tables for the rest, collected in `index.ts`. Nothing outside of this folder knows a provider's name. Providers
 * compute; they open no connection and read no database.
 */
export interface Provider {
  /** The channel type number that is stored. */
  readonly id: number
  readonly key: string
  readonly label: Text
  readonly color: ChannelColor
  /** The URL of the vendor's interface documentation; '' when there is none. */
  readonly docs: string
  /** The vendor's own address; '' when each channel requires its own, or the protocol has a fixed one. */
  readonly baseUrl: string
  /** The address is the whole URL of a call, or its paths are the channel's own: the end of it is never taken for a pasted path. */
  readonly addressIsWhole?: true
  /** Whether a channel requires its own address. */
  readonly needsBaseUrl: boolean
  readonly models: readonly string[]
  /** The newest model of each family, which the form puts into a new channel; all `models` if absent. */
  readonly newest?: readonly string[]
  /** The vendor in the public price data for this kind of channel; absent for kinds that cover many vendors or none. */
  readonly priceVendor?: string
  /** The vendor as OpenTelemetry names it in `gen_ai.provider.name`; `key` if absent. */
  readonly traceName?: string
  /** Whether the console offers it for new channels. */
  readonly offered: boolean
  /** Models are called by the names of deployments, which admins choose. */
  readonly namesDeployments?: true
  /** The format of a key, as the form shows it. */
  readonly keyFormat: Text
  /** Whether the whole text is one key. Otherwise each line is a key, and a new channel is made for each. */
  readonly keyHasLines: boolean
  /** Meaning of the channel's `other` field; null when it has none. */
  readonly otherLabel: Text | null
  /** The operator's table of API versions by model, the default for an empty `other`. */
  readonly versionsIn: 'gemini.version_settings' | null
  /** The stored form of an empty `other`. */
  readonly otherDefault: string
  /** Refuses an invalid `other` of a channel, when it is saved. Throws `field_invalid` or `json_text_invalid`. */
  checkOther?(other: string): void
  /** The provider as configured by one channel, for those with settings in `other` or the key. */
  forChannel?(channel: Upstream): Provider
  /** Wire formats spoken natively and the path of each behind the base URL. */
  readonly speaks: Readonly<Partial<Record<Format, string>>>
  /** Whether it supports the format for this model, if that depends on the model. */
  speaksWith?(format: Format, model: string): boolean
  /**
   * Whether the host adds to prompts: `always` for applications with documents or prompts of their own, `perhaps` for those that pass
   * requests on or have templates of their own. Absent for vendors, which add what a request names.
   */
  readonly addsToPrompts?: 'always' | 'perhaps'
  /** The upstream answers only in streams, or reliably only in streams: non-streamed replies are assembled from one. */
  readonly alwaysStreams?: boolean
  /** The full URL of a call; by default the channel's base URL and the path of the format, without repeating a version path. */
  url(channel: Upstream, format: Format, model: string, stream: boolean): string
  /** The kind of asynchronous orders that it accepts instead of other calls. */
  readonly tasks?: TaskFormat
  /** How clips are ordered, for a vendor that makes them. */
  readonly videos?: VideoVendor
  /** For a vendor whose replies may be tasks: the URL of a task's status. */
  taskUrl?(channel: Upstream, taskId: string): string
  /**
   * Headers that authorize a call, and those that the provider always requires. The relay sets all other headers of upstream requests;
   * of the caller's headers only those selected here pass. Names are lower case.
   */
  headers(channel: Upstream, format: Format, caller: CallerHeaders): Record<string, string>
  /**
   * For an upstream that requires a short-lived token instead of the key: the exchange that obtains one. The token replaces the key in
   * `headers`. Undefined for a key that is sent unchanged.
   */
  accessToken?(channel: Upstream, nowMs: number): TokenExchange | undefined
  /** For an upstream that requires signed requests: the headers of the signature, or a signed URL. */
  sign?(channel: Upstream, request: SignedRequest, nowMs: number): Promise<Signature> | Signature
  /** The framing of a reply in the format; by default server-sent events. */
  framing?(format: Format, stream: boolean): Framing
  /** Another format that the model requires for this request, although the provider speaks the caller's. */
  prefers?(format: CallerFormat, model: string, body: Readonly<Record<string, unknown>>): Format | undefined
  /** Quirks within a format. */
  readonly quirks: Quirks
  /** Statuses with which the upstream refuses a key permanently. */
  readonly keyRefusedBy: readonly number[]
  /** Whether an error means that the key is permanently refused, for errors without such a status. `code` is the error's code. */
  refusesKey?(failure: { readonly status: number; readonly code: string }): boolean
  /** The upstream stores Messages conversations between requests, so that a caller may send only new messages. */
  readonly keepsThreads?: true
  /** The header of its replies that names the account of the key, to which reasoning in the reply may be bound. */
  readonly accountHeader?: string
  /** The pairs of the caller's query that the vendor reads; the rest of a query is never passed on. */
  readonly passedQuery?: readonly string[]
  /** Whether the upstream accepts `stream_options.include_usage`. */
  readonly streamOptions: boolean
  /** Top-level members of the body to set or (undefined) to remove for this model; `model` may be among them. */
  adjustBody?(
    body: Readonly<Record<string, unknown>>,
    format: Format,
    model: string,
    caller?: CallerHeaders,
  ): Record<string, unknown>
  /** Whether the channel test can send a small request through it. */
  readonly testable: boolean
  /** Path at which the upstream lists its models; null when it does not. */
  readonly modelsPath: string | null
  modelsUrl(channel: Upstream): string | null
  /**
   * The balance of a key's account: the next request after these answers, or the amount. Undefined when the answers lack it. Absent
   * for upstreams without a balance.
   */
  balance?(channel: Upstream, replies: readonly unknown[], nowMs: number): BalanceStep | undefined
}

export type BalanceStep =
  | { readonly ask: { readonly url: string; readonly headers: Readonly<Record<string, string>> } }
  | { readonly amount: number; readonly currency: 'USD' | 'CNY' }

/** A call that returns a short-lived token, which is cached under `cacheKey` until it expires. */
export interface TokenExchange {
  readonly cacheKey: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Undefined when the reply has no token. */
  read(reply: unknown): { readonly token: string; readonly expiresInSeconds: number } | undefined
}

export interface SignedRequest {
  readonly method: 'POST' | 'GET'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface Signature {
  readonly url?: URL
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The headers of a caller's request that a request to an upstream may depend on, besides the channel's key: every one that a
 * provider reads, and the one that detects loops between sites. Requests without any of them share their headers.
 */
export const callerHeaderNames = [
  ...passableHeaders,
  'anthropic-beta',
  'anthropic-version',
  'idempotency-key',
  'openai-beta',
  'x-client-request-id',
  'x-sluice-site',
] as const

/** By their lower-case names. */
export type CallerHeaders = Readonly<Partial<Record<(typeof callerHeaderNames)[number], string | undefined>>>
