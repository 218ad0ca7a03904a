import type { Text } from '../../contract/text.ts'
import type { ChannelSetting } from '../../contract/entities/channel.ts'

/**
 * A provider is a kind of upstream: its label, address, models, the wire formats that it speaks natively, how it is authorised and
 * what it does differently. One file per provider, gathered in `index.ts`. Nothing outside of this folder knows a provider's name.
 */
export interface Provider {
  /** The channel type number that is stored. */
  readonly id: number
  readonly key: string
  readonly label: Text
  readonly color: string
  readonly docs: string
  readonly baseUrl: string
  readonly models: readonly string[]
  /** Whether the console offers it for new channels. */
  readonly offered: boolean
  /** How a key looks, as the hint of the form says. */
  readonly keyFormat: Text
  /** Meaning of the channel's `other` field; null when it has none. */
  readonly otherLabel: Text | null
  /** Wire formats spoken natively and the path of each behind the base URL; `{model}` is replaced by the upstream model. */
  readonly speaks: Readonly<Partial<Record<Format, string>>>
  /** The full URL of a call; by default base URL (or the channel's own) and path joined. */
  url(channel: Upstream, format: Format, model: string): string
  /** Headers that authorise a call, and those that the provider always wants. */
  headers(channel: Upstream, format: Format, caller: CallerHeaders): Record<string, string>
  /** Whether the upstream accepts `stream_options.include_usage`. */
  readonly streamOptions: boolean
  /** Top-level members of the body to set or (undefined) to remove for this model. */
  adjustBody?(body: Readonly<Record<string, unknown>>, format: Format, model: string): Record<string, unknown>
  /** Whether the channel test can send a small request through it. */
  readonly testable: boolean
  /** Where the upstream lists its models; null when it does not. */
  readonly modelsPath: string | null
}

/** A wire format: which dialect and which call of it. */
export type Format = 'openai.chat' | 'openai.completions' | 'openai.embeddings' | 'anthropic.messages'

/** What a provider may see of a channel. The key is in clear text here: it must only go into headers or the URL of this origin. */
export interface Upstream {
  readonly id: number
  readonly type: number
  readonly key: string
  readonly baseUrl: string
  readonly organization: string
  readonly other: string
  readonly setting: ChannelSetting
}

/** Headers of the caller that some providers pass on. */
export type CallerHeaders = Readonly<Record<string, string | undefined>>
