import type { Dialogue, MediaPart } from './dialogue.ts'
import type { Format } from './format.ts'
import type { ReplyEvent } from './reply-events.ts'
import type { JsonObject, PathFacts, StreamEvent } from './wire-format.ts'

/**
 * Reading and writing conversations of a format to and from the neutral form. Every format of an upstream writes requests and reads
 * replies; those of callers also read requests and write replies. N readers and M writers make all pairs; no code is specific to a
 * pair. All functions are pure: no clock, no randomness, no network.
 */
export interface Codec {
  readonly format: Format
  /** Kinds of media that the format only takes as bytes: their URLs are fetched before `writeRequest`. */
  readonly inlines: readonly MediaPart['media'][]
  writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest
  /** A whole reply as events. Never throws: an invalid reply yields an `error`. */
  readReply(reply: JsonObject, context: ReadContext): ReplyEvent[]
  readEvents(context: ReadContext): EventReader
  /** For the formats that callers speak. */
  readonly inbound?: Inbound
}

export interface Inbound {
  /** Throws `field_invalid` for invalid members and `untranslatable` for members that no other format has. */
  readRequest(body: JsonObject, path: PathFacts): Dialogue
  /** Takes a complete list of events, without `error`. */
  writeReply(events: readonly ReplyEvent[], context: WriteContext): JsonObject
  writeEvents(context: WriteContext): EventWriter
}

export type { PathFacts } from './wire-format.ts'

export interface RequestContext {
  /** The model as the upstream names it. */
  readonly model: string
  readonly quirks: Quirks
  readonly settings: TranslationSettings
  /** Reports a lost member, by the caller's name for it: `logit_bias`. Once for each; the order does not matter. */
  lose(field: string): void
}

export interface WrittenRequest {
  readonly body: JsonObject
  /** Tool names that the upstream could not take, by the name that it was given; restored in the reply. */
  readonly toolNames?: ReadonlyMap<string, string>
  /** The tool that represents a JSON answer: its input is the text of the reply. */
  readonly answerTool?: string
  /** Names of tools that are functions upstream and free text for the caller: their input is the member `input`. */
  readonly customTools?: ReadonlySet<string>
  /** The upstream answers this request only whole, although the caller wants a stream. */
  readonly isWhole?: boolean
}

export interface ReadContext {
  /** A new id for a tool call without one: `call_` and 24 characters. */
  newCallId(): string
  readonly quirks: Quirks
  /** Reports content of the reply without a neutral form, by the upstream's name. Absent where it is not reported. */
  lose?(name: string): void
}

/** Reads the events of one stream. It keeps the grammar of `ReplyEvent` for any input. */
export interface EventReader {
  /** The events that this one makes. Behind `end` or `error` it gives nothing. */
  push(event: StreamEvent): ReplyEvent[]
  /** The upstream ended: closes open blocks. Yields `end` only when the reply was complete, by a finish reason or a terminal event. */
  finish(): ReplyEvent[]
}

export interface WriteContext {
  /** Of the request; ids of the reply are made from it. */
  readonly id: string
  /** Unix seconds. */
  readonly createdAt: number
  /** Unix seconds of the end of the reply, asked for when it has come; without it, it ended when it was created. */
  completedAt?(): number
  /** The model that the caller asked for. */
  readonly model: string
  readonly dialogue: Dialogue
  /** A new id for an item of the reply. */
  newId(prefix: string): string
  /** About how many tokens the prompt has, for a format that reports it before the upstream does. */
  readonly inputTokensEstimate?: number
  /** The reply is kept for later calls. */
  readonly kept?: StoredAs
}

export interface StoredAs {
  /** The id of the reply that it continues; empty for none. */
  readonly previousId: string
  /** It is made in the background, and was announced already. */
  readonly isBackground: boolean
}

/** Writes one stream. Its trailer (finish reason, usage, terminal event) is written at `end` and not before. */
export interface EventWriter {
  /** The text to send for this event; '' when it waits for more. */
  push(event: ReplyEvent): string
}

/** The operator's settings for translated requests. */
export interface TranslationSettings {
  /** Output limit for Claude models when the request has none: by model, with `default`. */
  readonly claudeDefaultMaxTokens: Readonly<Record<string, number>>
  /** Share of the output limit that thinking may use for `…-thinking` names; undefined when that suffix means nothing. */
  readonly claudeThinkingShare: number | undefined
  /** Threshold by safety category, with `default`. */
  readonly geminiSafety: Readonly<Record<string, string>>
  /** Tools that the model does not have are left out as long as others remain, instead of refusing the request. */
  readonly dropsHostedTools?: boolean
}

/**
 * An upstream's deviations within its format. Declared by its provider; absent means as the format's own vendor. Source: protocols
 * notes 2.2.
 */
export interface Quirks {
  /** The reasoning text of earlier turns that the upstream requires in the history. */
  readonly replayReasoning?: 'never' | 'tool-turns' | 'always'
  /** The placeholder for unknown reasoning, if the upstream requires it: '' or ' '. */
  readonly emptyReasoning?: string
  /** The member that limits the output. */
  readonly outputLimit?: 'max_tokens' | 'max_completion_tokens'
  /** Top-level members that the upstream refuses. */
  readonly refuses?: readonly string[]
  readonly temperatureMax?: number
  /** The only ids of tool calls that it takes. */
  readonly callIds?: 'nine-alphanumerics'
  /** The word for "must call some tool". */
  readonly requiredChoice?: 'any' | 'required'
  readonly jsonSchema?: 'native' | 'object' | 'none'
  /** The role for instructions at the head. */
  readonly systemRole?: 'system' | 'developer' | 'user'
  /** Keeps `cache_control` inside of content parts. */
  readonly takesCacheControl?: boolean
  /** Keeps `strict` of tools. */
  readonly takesStrictTools?: boolean
  /** Reasoning is in the text between `<think>` tags. */
  readonly thinkTags?: boolean
  /** The shape of the switch for reasoning. */
  readonly thinkingSwitch?: 'reasoning_effort' | 'thinking-type' | 'enable_thinking' | 'reasoning-object' | 'none'
  /** User and assistant have to take turns, and no user may speak right behind the result of a tool. */
  readonly strictTurns?: boolean
  /** The member of a last message of the assistant that makes it the beginning of the answer. */
  readonly prefill?: 'prefix' | 'partial'
  /** Gemini: tool schemas in the older OpenAPI form instead of JSON schema. */
  readonly openApiSchemas?: boolean
}
