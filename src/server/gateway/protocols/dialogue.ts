import type { Text } from '../../../contract/text.ts'
import type { Format } from './format.ts'
import type { JsonObject } from './wire-format.ts'

/**
 * The neutral form of a conversation request, between the format that is read and the one that is written. It is not the wire
 * format of any vendor, but turns of typed parts, so that content without an equivalent is reported instead of silently lost. Tool
 * results are parts of user turns; instructions at the head are in `system`, later ones are separate turns.
 */
export interface Dialogue {
  /** The format that it was read from. */
  readonly from: Format
  readonly model: string
  readonly system: readonly TextPart[]
  readonly turns: readonly Turn[]
  /** The caller wrote the beginning of the answer as the last turn; absent when that is a turn like all others. */
  readonly beginsAnswer?: true
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice | undefined
  /** Whether several calls may be made in one turn; undefined when the request leaves it to the model. */
  readonly parallelTools: boolean | undefined
  readonly sampling: Sampling
  /** The maximum of all output, reasoning included. */
  readonly outputTokensMax: number | undefined
  readonly stop: readonly string[]
  readonly reasoning: Reasoning | undefined
  readonly output: OutputForm | undefined
  /** Log probabilities are requested, with this number of alternatives for each token. */
  readonly logprobs?: { readonly top: number }
  readonly search: Search | undefined
  /** Tools that only models of the caller's vendor have; absent when there are none. */
  readonly vendorOnly?: readonly VendorOnlyTool[]
  readonly stream: boolean
  /** A Chat caller requested usage at the end of the stream; true for formats that always have it. */
  readonly wantsUsage: boolean
  /** The caller uses the older `functions` members and expects the answer in that form. */
  readonly usesFunctions: boolean
  /** The end user, as the caller names them. */
  readonly user: string | undefined
  readonly cacheKey: string | undefined
  /** Top-level members that have a meaning only in the family of `from`: written unchanged for that family, lost for others. */
  readonly extra: Readonly<Record<string, unknown>>
  /** Nested members without a neutral form, by their names in receipts (`tools.input_examples`); absent when there are none. */
  readonly unread?: readonly string[]
}

export type Family = 'openai' | 'anthropic' | 'google'

export interface Turn {
  readonly role: 'user' | 'assistant' | 'system'
  readonly parts: readonly Part[]
  /** `name` of a Chat message. */
  readonly name?: string
}

export type Part = TextPart | RefusalPart | MediaPart | ReasoningPart | ToolCallPart | ToolResultPart

export interface TextPart {
  readonly kind: 'text'
  readonly text: string
  readonly cache?: CacheMark
  readonly opaque?: Opaque
}

export interface RefusalPart {
  readonly kind: 'refusal'
  readonly text: string
}

/** Parts other than text. `detail` is OpenAI's; `title` names a document. */
export interface MediaPart {
  readonly kind: 'media'
  readonly media: 'image' | 'audio' | 'video' | 'document'
  readonly source: MediaSource
  readonly detail?: 'auto' | 'low' | 'high' | 'original'
  readonly title?: string
  readonly cache?: CacheMark
}

export type MediaSource =
  /** `mediaType` as sniffed from the bytes, or else as declared. `data` is base64 without white space. */
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  | { readonly kind: 'text'; readonly mediaType: string; readonly text: string }
  /** A file stored at one vendor: never sent to another. `mediaType` as declared, or by the ending of its name. */
  | { readonly kind: 'file'; readonly id: string; readonly family: Family; readonly mediaType?: string }

/** Reasoning of an earlier turn. The text may be '' when only its sealed form is known. */
export interface ReasoningPart {
  readonly kind: 'reasoning'
  readonly text: string
  readonly opaque?: Opaque
}

export interface ToolCallPart {
  readonly kind: 'tool-call'
  readonly callId: string
  readonly name: string
  /** JSON text as the model wrote it; for a custom tool, its free text. */
  readonly input: string
  readonly isCustom: boolean
  readonly opaque?: Opaque
  readonly cache?: CacheMark
}

export interface ToolResultPart {
  readonly kind: 'tool-result'
  readonly callId: string
  /** The tool's name, where the format includes it, as Gemini does. */
  readonly name?: string
  readonly parts: readonly (TextPart | MediaPart)[]
  readonly isError: boolean
  readonly isCustom: boolean
  readonly cache?: CacheMark
}

/**
 * State of a model that only its own family can read: it is sent back to that family at the same position, and left out by writers
 * of other families. It is never parsed. State that a caller could not send back is restored before a request is written.
 */
export interface Opaque {
  readonly family: Family
  readonly kind: 'signature' | 'redacted' | 'encrypted'
  readonly value: string
}

/** A prompt-cache breakpoint after the part. */
export interface CacheMark {
  readonly ttl: '5m' | '1h'
}

export interface Tool {
  readonly name: string
  readonly description: string | undefined
  /** JSON schema of the input; undefined for a custom tool, or when the request has none. */
  readonly schema: Readonly<Record<string, unknown>> | undefined
  readonly strict: boolean | undefined
  /** A tool whose input is free text, with OpenAI's `format` as sent. */
  readonly custom: { readonly format: unknown } | undefined
  readonly cache?: CacheMark
  /** The caller's namespace of the tool; `name` and `description` include both namespace and tool. */
  readonly namespace?: Namespace
  /** The caller's own tool search, which has its own type of calls. */
  readonly isToolSearch?: true
}

/** A tool namespace of Responses, and one tool in it. */
interface Namespace {
  readonly name: string
  readonly description: string | undefined
  readonly tool: { readonly name: string; readonly description: string | undefined }
}

/** A tool that cannot be expressed in any other format. */
export interface VendorOnlyTool {
  /** Its path in the request, for the error when it is refused. */
  readonly field: string
  /** Its name in receipts: `tools.file_search`. */
  readonly name: string
  /** Why it cannot be carried. */
  readonly reason: Text
  /** The tool in its original form, for a request that is rewritten in its own format. */
  readonly sent?: JsonObject
}

export type ToolChoice =
  /** `isValidated`, beside `auto`: the calls that the model makes follow the schemas of their tools. */
  | { readonly kind: 'auto' | 'none' | 'required'; readonly isValidated?: true }
  | { readonly kind: 'tool'; readonly name: string }
  | { readonly kind: 'allowed'; readonly names: readonly string[]; readonly isRequired: boolean }

export interface Sampling {
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly seed?: number
}

export type Effort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

export interface Reasoning {
  readonly mode: 'off' | 'auto' | { readonly effort: Effort } | { readonly budgetTokens: number }
  /** The amount of reasoning that the caller requests to see; undefined when not specified. */
  readonly show: 'none' | 'summary' | 'full' | undefined
}

export type OutputForm =
  | { readonly kind: 'json' }
  | {
      readonly kind: 'schema'
      readonly name: string | undefined
      readonly description: string | undefined
      readonly schema: Readonly<Record<string, unknown>>
      readonly strict: boolean | undefined
    }

/** The vendor's own web search, if both sides have one. */
export interface Search {
  readonly contextSize: 'low' | 'medium' | 'high' | undefined
  readonly location: Readonly<Record<string, unknown>> | undefined
}
