import type { Dialogue, MediaPart } from './dialogue.ts'
import type { ReplyEvent } from './reply-events.ts'
import type { JsonObject, PathFacts, StreamEvent } from './wire-format.ts'

/**
 * Translates conversations from the neutral form to a format of upstreams: writes requests and reads replies. `Inbound` is the other
 * side, which reads requests of callers and writes their replies. N readers and M writers cover all pairs; no code is specific to a
 * pair. All functions are pure: no clock, no randomness, no network.
 */
export interface Codec {
  /** Kinds of media that the format accepts only as bytes: their URLs are fetched before `writeRequest`. */
  readonly inlines: readonly MediaPart['media'][]
  writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest
  /** The events of a complete (non-streamed) reply. Never throws: an invalid reply yields an `error`. */
  readReply(reply: JsonObject, context: ReadContext): ReplyEvent[]
  readEvents(context: ReadContext): EventReader
}

/** Translates conversations of callers to the neutral form, and their replies from it. */
export interface Inbound {
  /** Throws `field_invalid` for invalid members and `untranslatable` for members that no other format has. */
  readRequest(body: JsonObject, path: PathFacts): Dialogue
  /** `events` is the complete list, without an `error`. */
  writeReply(events: readonly ReplyEvent[], context: WriteContext): JsonObject
  writeEvents(context: WriteContext): EventWriter
}

export interface RequestContext {
  /** The model as the upstream names it. */
  readonly model: string
  readonly quirks: Quirks
  readonly settings: TranslationSettings
  /** The version of the vendor's interface that the operator sets for the request; the one of the format if absent. */
  readonly version?: string
  /** Reports a lost member by the caller's name for it, such as `logit_bias`. Called once per member, in any order. */
  lose(field: string): void
}

export interface WrittenRequest {
  readonly body: JsonObject
  /** The caller's tool names that the upstream does not accept, by the name sent instead; restored in the reply. */
  readonly toolNames?: ReadonlyMap<string, string>
  /** The tool that represents a JSON answer: its input is the text of the reply. */
  readonly answerTool?: string
  /** Upstream names of the caller's free-text tools, which are sent as functions: their input is the member `input`. */
  readonly customTools?: ReadonlySet<string>
  /** The upstream does not stream the answer to this request, although the caller wants a stream. */
  readonly isWhole?: boolean
}

export interface ReadContext {
  /** A new id for a tool call without one: `call_` and 24 characters. */
  newCallId(): string
  readonly quirks: Quirks
  /** Reports reply content that has no neutral form, by the upstream's name for it. Absent where such content is not reported. */
  lose?(name: string): void
}

/** Reads the events of one stream. It keeps the grammar of `ReplyEvent` for any input. */
export interface EventReader {
  /** The events that result from this one. Returns none after `end` or `error`. */
  push(event: StreamEvent): ReplyEvent[]
  /** The upstream ended: closes open blocks. Yields `end` only when the reply was complete, by a finish reason or a terminal event. */
  finish(): ReplyEvent[]
}

export interface WriteContext {
  /** The request's id; ids in the reply are derived from it. */
  readonly id: string
  /** Unix seconds. */
  readonly createdAt: number
  /** Unix seconds at which the reply ended, read when it has ended; if absent, `createdAt` counts as its end. */
  completedAt?(): number
  /** The model that the caller asked for. */
  readonly model: string
  readonly dialogue: Dialogue
  /** A new id for an item of the reply. */
  newId(prefix: string): string
  /** The estimated tokens of the prompt, for a format that reports them before the upstream does. */
  readonly inputTokensEstimate?: number
  /** Reports content of the reply that the format cannot have. Absent where such content is not reported. */
  lose?(name: string): void
  /** Set when the reply is stored for later calls. */
  readonly kept?: StoredAs
}

interface StoredAs {
  /** The id of the response that this one continues; '' when it continues none. */
  readonly previousId: string
  /** The response is generated in the background, and its creation was already reported. */
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
  /** Leaves out hosted tools that the model does not have, as long as other tools remain, instead of refusing the request. */
  readonly dropsHostedTools?: boolean
}

/** A family of models with rules of its own: `model-families.ts`. */
export type FamilyName = 'deepseek-r1' | 'deepseek' | 'kimi' | 'qwen3' | 'mistral' | 'gemini-3' | 'other'

/**
 * An upstream's deviations within its format. Declared by its provider; an absent member means the behavior of the format's own
 * vendor. Source: protocols notes 2.2.
 */
export interface Quirks {
  /** The family of all models of the host, whatever their names. */
  readonly family?: FamilyName
  /** The earlier turns whose reasoning text the upstream requires in the history. */
  readonly replayReasoning?: 'never' | 'tool-turns' | 'always'
  /** The placeholder for unknown reasoning, if the upstream requires it: '' or ' '. */
  readonly emptyReasoning?: string
  /** The member that limits the output. */
  readonly outputLimit?: 'max_tokens' | 'max_completion_tokens'
  /** Top-level members that the upstream refuses. */
  readonly refuses?: readonly string[]
  readonly temperatureMax?: number
  /** The only form of tool call ids that the upstream accepts. */
  readonly callIds?: 'nine-alphanumerics'
  /** The value of `tool_choice` for "must call some tool". */
  readonly requiredChoice?: 'any' | 'required'
  readonly jsonSchema?: 'native' | 'object' | 'none'
  /** The role for instructions at the head. */
  readonly systemRole?: 'system' | 'developer' | 'user'
  /** Keeps `cache_control` inside of content parts. */
  readonly takesCacheControl?: boolean
  /** Has `prompt_cache_key`, by which requests with the same beginning find its cache. */
  readonly takesCacheKey?: boolean
  /** Keeps `strict` of tools. */
  readonly takesStrictTools?: boolean
  /** Reasoning is in the text between `<think>` tags. */
  readonly thinkTags?: boolean
  /** The member that switches reasoning on and off. */
  readonly thinkingSwitch?: 'reasoning_effort' | 'thinking-type' | 'enable_thinking' | 'reasoning-object' | 'none'
  /** User and assistant messages have to alternate, and no user message may directly follow a tool result. */
  readonly strictTurns?: boolean
  /** The member that marks a final assistant message as the beginning of the answer. */
  readonly prefill?: 'prefix' | 'partial'
  /** Refuses to think, which is its default, when the reply is not streamed. */
  readonly thinksOnlyInStreams?: true
  /** The placeholder for the signature of a call, without which the upstream refuses the history. */
  readonly lostSignature?: string
  /** Gemini: tool schemas in the older OpenAPI form instead of JSON schema. */
  readonly openApiSchemas?: boolean
}
