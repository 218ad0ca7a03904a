import type Anthropic from '@anthropic-ai/sdk'
import type {
  ContentEmbedding,
  CountTokensResponse,
  GenerateContentResponse,
  Model as GoogleModel,
  ModalityTokenCount,
} from '@google/genai'
import type OpenAI from 'openai'

/**
 * The wire format according to the official SDKs: without the members that the SDKs add themselves, and with members that other
 * vendors have added and their clients read. An object literal of these types may have no others.
 */

// ── Chat Completions ──

interface GoogleSeal {
  readonly extra_content?: { readonly google: { readonly thought_signature: string } }
}

type ThinkingBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }

/** Reasoning as in DeepSeek and compatible hosts, its signed form as in LiteLLM, and images as in OpenRouter. */
interface VendorMembers extends GoogleSeal {
  readonly reasoning_content?: string
  readonly thinking_blocks?: readonly ThinkingBlock[]
  readonly images?: readonly { readonly type: 'image_url'; readonly image_url: { readonly url: string } }[]
}

type ChatCall = OpenAI.ChatCompletionMessageToolCall & GoogleSeal
type ChatChoice = OpenAI.ChatCompletion.Choice
type ChatMessage = Omit<ChatChoice['message'], 'tool_calls'> & VendorMembers & { readonly tool_calls?: readonly ChatCall[] }

export type ChatReply = Omit<OpenAI.ChatCompletion, 'choices'> & {
  readonly choices: readonly (Omit<ChatChoice, 'message'> & { readonly message: ChatMessage })[]
}

type ChunkChoice = OpenAI.ChatCompletionChunk.Choice
/** The SDK has no type for pieces of calls with free text, although it reads them. */
type ChunkCall = Omit<OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall, 'type'> &
  GoogleSeal & {
    readonly type?: 'function' | 'custom'
    readonly custom?: { readonly name?: string; readonly input?: string }
  }
type ChunkDelta = Omit<ChunkChoice['delta'], 'tool_calls'> &
  VendorMembers & {
    readonly tool_calls?: readonly ChunkCall[]
    readonly annotations?: OpenAI.ChatCompletionMessage['annotations']
    readonly audio?: Partial<OpenAI.ChatCompletionAudio>
  }

export type ChatChunk = Omit<OpenAI.ChatCompletionChunk, 'choices'> & {
  readonly choices: readonly (Omit<ChunkChoice, 'delta'> & { readonly delta: ChunkDelta })[]
}

export type CompletionsReply = OpenAI.Completion

/** Chunks of a stream have the type of a complete reply, but with null where the vendor has no value yet. */
export type CompletionsChunk = Omit<OpenAI.Completion, 'choices' | 'usage'> & {
  readonly choices: readonly (Omit<OpenAI.CompletionChoice, 'finish_reason'> & {
    readonly finish_reason: OpenAI.CompletionChoice['finish_reason'] | null
  })[]
  readonly usage?: OpenAI.CompletionUsage | null
}

/** The member of compatible consoles is next to the list. */
export interface ModelList {
  readonly success: true
  readonly object: 'list'
  readonly data: readonly Model[]
}
/** A model with the members that tools of this family read. */
export interface Model extends OpenAI.Model {
  readonly permission: readonly []
  readonly root: string
  readonly parent: null
}
export type Embeddings = OpenAI.CreateEmbeddingResponse
export type Images = OpenAI.ImagesResponse

export interface OpenAiError {
  readonly error: OpenAI.ErrorObject
}

// ── Responses ──

type Response = OpenAI.Responses.Response
type OutputItem = OpenAI.Responses.ResponseOutputItem

/** The vendor sends a status for these calls as for all others, as its guide shows; the type has none. */
type ItemOnWire<Item> = Item extends { readonly type: 'custom_tool_call' } ? Item & { readonly status?: string } : Item

/**
 * The SDK creates `output_text` itself. The vendor repeats `store` and penalties, which the type of replies lacks. There are more
 * error codes than in the type: clients check for `context_length_exceeded`. Unset members are null, as in the vendor's replies and in
 * the published schema of Open Responses; in the type they are absent.
 */
export type ResponsesReply = Omit<Response, 'output_text' | 'output' | 'error' | 'text' | UnsetMember> & {
  readonly [Member in UnsetMember]?: Response[Member] | null
} & {
  readonly store?: boolean
  readonly frequency_penalty?: number
  readonly presence_penalty?: number
  readonly text?: Omit<NonNullable<Response['text']>, 'format'> & { readonly format?: FormatOnWire }
  readonly output: readonly ItemOnWire<OutputItem>[]
  readonly error: (Omit<NonNullable<Response['error']>, 'code'> & { readonly code: string }) | null
}

type Format = OpenAI.Responses.ResponseFormatTextConfig
type FormatOnWire =
  | Exclude<Format, { type: 'json_schema' }>
  | (Omit<Extract<Format, { type: 'json_schema' }>, 'description'> & { readonly description?: string | null })
type UnsetMember = 'prompt_cache_key' | 'safety_identifier' | 'usage' | 'user'

export type ResponsesItems = OpenAI.Responses.ResponseItemList
export type ResponsesCount = OpenAI.Responses.InputTokenCountResponse

export type ResponsesEvent = EventOnWire<OpenAI.Responses.ResponseStreamEvent>

type EventOnWire<Event> = Event extends { response: Response }
  ? Omit<Event, 'response'> & { readonly response: ResponsesReply }
  : Event extends { item: OutputItem }
    ? Omit<Event, 'item'> & { readonly item: ItemOnWire<OutputItem> }
    : Event

// ── Messages ──

/** The vendor omits `citations` of a text without any, where the type has null, which other clients cannot read. */
type BlockOnWire<Block> = Block extends Anthropic.TextBlock
  ? Omit<Block, 'citations'> & { readonly citations?: NonNullable<Block['citations']> }
  : Block

export type MessagesReply = Omit<Anthropic.Message, 'content'> & {
  readonly content: readonly BlockOnWire<Anthropic.ContentBlock>[]
}
export type MessagesEvent = MessagesEventOnWire<Anthropic.RawMessageStreamEvent> | MessagesError

/** The vendor's guide lists more kinds of errors than the type of a body has, and `details` for programs beside the message. */
export type MessagesError = Omit<Anthropic.ErrorResponse, 'error'> & {
  readonly error:
    | Anthropic.ErrorObject
    | { readonly type: 'request_too_large' | 'conflict_error'; readonly message: string }
    | {
        readonly type: 'invalid_request_error' | 'not_found_error'
        readonly message: string
        readonly details: Anthropic.ErrorDetails
      }
}

export interface ClaudeModels {
  readonly data: readonly Anthropic.ModelInfo[]
  readonly has_more: boolean
  readonly first_id: string | null
  readonly last_id: string | null
}
export type ClaudeModel = Anthropic.ModelInfo
export type ClaudeCount = Anthropic.MessageTokensCount

/** The lifetimes of cache writes are also in the last event, because they are not known before. */
type MessagesEventOnWire<Event> = Event extends Anthropic.RawMessageDeltaEvent
  ? Omit<Event, 'usage'> & { readonly usage: Event['usage'] & Pick<Anthropic.Usage, 'cache_creation'> }
  : Event extends Anthropic.RawContentBlockStartEvent
    ? Omit<Event, 'content_block'> & { readonly content_block: BlockOnWire<Event['content_block']> }
    : Event

// ── Gemini ──

/** Enumerations as their strings, and no members that the SDK computes. */
type Plain<Value> = Value extends string
  ? `${Value}`
  : Value extends readonly (infer Entry)[]
    ? readonly Plain<Entry>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Plain<Value[Key]> }
      : Value

type Computed =
  | 'text'
  | 'data'
  | 'functionCalls'
  | 'executableCode'
  | 'codeExecutionResult'
  | 'initialPromptTokenCount'
  | 'sdkHttpResponse'

export type GeminiReply = Plain<Omit<GenerateContentResponse, Computed>>

/** Source: `ApiError` of the SDK, which reads the first three. */
export interface GeminiError {
  readonly error: {
    readonly code: number
    readonly message: string
    readonly status: string
    readonly details?: readonly object[]
  }
}

export interface GeminiModels {
  readonly models: readonly GeminiModel[]
  readonly nextPageToken?: string
}
/** The SDK calls the methods of a model its actions. */
export type GeminiModel = Plain<Omit<GoogleModel, 'supportedActions'>> & {
  readonly supportedGenerationMethods?: readonly string[]
}
/** The interface splits the count by kind, which the SDK does not read. */
export type GeminiCount = Plain<Omit<CountTokensResponse, 'sdkHttpResponse'>> & {
  readonly promptTokensDetails?: readonly Plain<ModalityTokenCount>[]
}

/** The interface itself answers one vector where the SDK has a list. */
export interface GeminiEmbedding {
  readonly embedding: Plain<ContentEmbedding>
  readonly usageMetadata?: Plain<GenerateContentResponse['usageMetadata']>
}
export interface GeminiEmbeddings {
  readonly embeddings: readonly Plain<ContentEmbedding>[]
  readonly usageMetadata?: Plain<GenerateContentResponse['usageMetadata']>
}
