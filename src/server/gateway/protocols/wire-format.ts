import type { Tier, Usage } from '../../../contract/usage.ts'
import type { CallerFormat, Dialect } from './format.ts'
import type { PaidCall } from './paid-calls.ts'

/**
 * The relay's view of a wire format that is passed through byte for byte: the few members of a request that decide admission and
 * price, the usage of a reply, and the shape of a stream. Everything here is pure: no clock, no network, no state. Translation between
 * formats builds on the same folders.
 */
export interface WireFormat {
  readonly format: CallerFormat
  readonly dialect: Dialect
  /** Checks and reads the request. Throws `model_required`, `field_invalid` or `amount_out_of_range`. */
  readRequest(body: JsonObject, path?: PathFacts, files?: readonly UploadedFile[]): RequestFacts
  /** All text of the request that the model reads, for estimates and counts. */
  promptText(body: JsonObject): string[]
  /** The kind of state that a request may continue: an earlier response, or a thread of the vendor; absent for formats without either. */
  readonly continues?: 'response' | 'thread'
  /** The top-level list of every complete (non-streamed) reply; a body without it is not a reply. */
  readonly answerIn: string
  /** The charge depends on how many entries that list has. */
  readonly billsEntries?: true
  /** A top-level object that a reply may have instead of that list. */
  readonly answersWithout?: string
  /** Whether this body is a reply, for replies that need no such list. */
  answersWith?(reply: JsonObject): boolean
  /**
   * Whether a complete reply with that list answers nothing, so that another channel may answer: an empty list, entries without
   * content. A documented empty answer is none of these: refused, blocked, or ended by the model. `asked` is the request body.
   */
  isEmpty?(reply: JsonObject, asked: JsonObject): boolean
  /** The member of a complete reply that names the model, if it is not `model`. */
  readonly replyModelIn?: string
  /** The form of the reply, if it is not JSON: a short text, or bytes that pass through unchanged. */
  repliesIn?(body: JsonObject): 'json' | 'text' | 'bytes'
  /**
   * Repairs a complete reply where the upstream ignored part of the request; undefined when nothing has to change. `asked` is the
   * request body. Throws `untranslatable` when it cannot be repaired, and `upstream_failed` when it lacks a part of the answer.
   */
  mendReply?(reply: Buffer, asked: JsonObject): Buffer | undefined
  /** The reply with a finish reason that agrees with its calls; undefined when it does. */
  mendFinish?(reply: Buffer): Buffer | undefined
  /** Usage of a complete reply; undefined when the upstream reported none. */
  readUsage(reply: JsonObject, facts: RequestFacts): Usage | undefined
  /** The text of a complete reply, counted when the upstream reported no usage. */
  replyText(reply: JsonObject): string
  /** Null when the format has no streaming form. */
  readonly stream: StreamFormat | null
  /** No model runs for the call: nothing is held or charged for it. */
  readonly isFree?: true
}

export type JsonObject = Readonly<Record<string, unknown>>

/** A file of a multipart request. */
export interface UploadedFile {
  readonly field: string
  readonly name: string
  readonly mediaType: string
  readonly bytes: Buffer
}

/** Facts in the URL of the call, for formats that have them there. */
export interface PathFacts {
  readonly model?: string
  readonly stream?: boolean
}

export interface RequestFacts {
  readonly model: string
  readonly stream: boolean
  /** Upper bound of the output that the request declares, over all its choices; undefined when it declares none. */
  readonly outputTokensMax: number | undefined
  /** The number of completions: choices times the prompts of a list; 1 when absent. */
  readonly completions?: number
  /** The maximum usage of the call, if the request alone determines it. */
  readonly most?: Usage
  /** Parts that are not text (images, audio, files): each counts a flat number of input tokens in the estimate. */
  readonly mediaParts: number
  readonly reasoningEffort: string | undefined
  /** The caller's request itself asks for usage at the end of the stream. */
  readonly wantsUsage: boolean
  /** The usage of the call when the upstream reports none, if it is not counted from the text. */
  readonly uncounted?: Usage
  /** The maximum number of times that the price per call is charged, and the weight of each image of the reply. */
  readonly callsMax?: number
  readonly callWeight?: number
  /** The requested tier, if it is not the default. */
  readonly requestedTier?: Tier
  /** The tools that the vendor runs and may bill per call, by their names in `ToolPrice`. */
  readonly hostedTools?: readonly string[]
  /** Tools that the vendor runs for free, but whose results may exceed the input of the request. */
  readonly freeTools?: readonly string[]
  /** Models that may work for the call in addition to the requested one. */
  readonly otherModels?: readonly string[]
  /** `stream_options` as sent: its members are kept when the gateway requests usage for the caller. */
  readonly streamOptions: JsonObject | undefined
}

/** Corrects the finish reason of a stream that contains calls. */
export interface FinishMender {
  /** The marks of the format, and those of events that may have to change. */
  readonly marks: RegExp
  /** Reads each block before its events are passed on. */
  see(block: string): void
  /** The event's JSON with another finish reason; undefined when nothing has to change. */
  mend(data: Buffer, event: JsonObject): Buffer | undefined
}

/** Reading and ending an event stream of a format. `data` is the parsed JSON of one event. */
export interface StreamFormat {
  /**
   * Matches where an event may end the stream, carry usage or report an error; only those events are parsed. Must have the flag
   * `g`.
   */
  readonly marks: RegExp
  /** Whether each event has its type in an `event:` line. */
  readonly hasNamedEvents: boolean
  /** The member with the type of an event, if it is not `type`. */
  readonly eventNameIn?: 'event_type'
  isTerminal(event: StreamEvent): boolean
  /** The stream has no terminal event and ends with the body: after a finish reason, a possible end of the reply is held back. */
  readonly endsWithBody?: boolean
  /** The line ends that terminate an event written by the gateway; by default LF LF. */
  readonly eventEnd?: string
  /** The text to send when the upstream's stream was complete but had no terminal event; '' for formats without one. */
  readonly terminalText: string
  /** Usage so far after this event; `before` when the event has none. */
  readUsage(data: JsonObject, before: Usage | undefined): Usage | undefined
  /** Usage is reported only when `stream_options` asks for it. */
  readonly reportsUsageOnRequest?: true
  /** Whether the event only carries usage, so that it is hidden from a caller that did not request it. */
  isUsageOnly(data: JsonObject): boolean
  /** Whether the event contains output for the caller: before the first such event, failover to another channel is possible. */
  hasOutput(data: JsonObject): boolean
  /** Whether the event marks the reply as complete. */
  isFinish(data: JsonObject): boolean
  deltaText(data: JsonObject): string
  /** The call of a billed tool in the event, charged when the stream ends before its usage. */
  paidCall?(data: JsonObject): PaidCall | undefined
  /**
   * The id of the reply that the event begins, '' without one; undefined for any other event. A further such event is left out if it
   * repeats the id, and otherwise an error, so that two replies are never merged. `marks` has to match it.
   */
  begins?(data: JsonObject): string | undefined
  /** An error that the upstream sent inside of the stream. */
  readError(data: JsonObject): UpstreamErrorFacts | undefined
  /** An error as the last event, if this format differs from the other streams of its dialect. */
  errorEvent?(error: UpstreamErrorFacts): string
  /** For formats in which hosts end replies with calls by the wrong reason: corrects it, for so many completions. */
  mendFinish?(completions: number): FinishMender
  /** A complete reply as the events of a stream, without the terminal event, for an upstream that does not stream. */
  replay(reply: JsonObject): readonly JsonObject[]
  /** The complete reply that the events of a stream add up to, for an upstream that streams unasked. */
  gather(events: readonly JsonObject[]): JsonObject
  /** The same event with another model name; undefined when it has none. */
  renameModel(data: Buffer, model: string): Buffer | undefined
  readonly heartbeat: string
}

/**
 * Another framing of a stream on its way to the caller: takes the events as binary strings, split anywhere, and returns binary
 * strings.
 */
export interface Reframing {
  readonly contentType: string
  push(byteText: string): string
  /** The closing text, after any content. */
  end(): string
}

export interface StreamEvent {
  readonly name: string
  readonly data: string
}

/** Facts in an upstream's error. */
export interface UpstreamErrorFacts {
  readonly message: string
  readonly type: string
  readonly code: string
  readonly param: string | null
  /** The status inside the error itself, 0 when it has none. */
  readonly status: number
  readonly extra?: ErrorExtra | undefined
}

/**
 * Members of an error beside those of its dialect, such as Groq's `failed_generation`, OpenRouter's `metadata` and the `details` of
 * Anthropic and Google. Callers of the same dialect get them.
 */
export interface ErrorExtra {
  readonly dialect: Dialect
  readonly members: JsonObject
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A copy without undefined members. */
export function definedMembers(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

export function objectAt(value: JsonObject, key: string): JsonObject | undefined {
  const member = value[key]
  return isObject(member) ? member : undefined
}

export function arrayAt(value: JsonObject, key: string): readonly unknown[] {
  const member = value[key]
  return Array.isArray(member) ? member : empty
}

const empty: readonly unknown[] = Object.freeze([])

export function textAt(value: JsonObject, key: string): string {
  const member = value[key]
  return typeof member === 'string' ? member : ''
}

/**
 * A text of an answer, whatever its type: hosts answer with an object where JSON was requested, with a list of texts, or with a number.
 * Anything else than text becomes JSON; '' when there is nothing.
 */
export function answerAt(value: JsonObject, key: string): string {
  return answerText(value[key])
}

/** `answerAt` of a value. */
export function answerText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (!Array.isArray(value) || !value.every(isPieceOfText)) return JSON.stringify(value)
  return value.map((piece) => (typeof piece === 'string' ? piece : textAt(piece, 'text'))).join('')
}

function isPieceOfText(value: unknown): value is string | JsonObject {
  return typeof value === 'string' || (isObject(value) && typeof value.text === 'string')
}

/** A token count as reported; 0 when it is absent or invalid. */
export function countAt(value: JsonObject | undefined, key: string): number {
  const member = value?.[key]
  return isCount(member) ? Math.floor(member) : 0
}

/** Whether these members, if present, are valid token counts. If one is not, none of the numbers reported with it are trusted. */
export function areCounts(value: JsonObject, keys: readonly string[]): boolean {
  return keys.every((key) => value[key] === undefined || value[key] === null || isCount(value[key]))
}

/** More than any model reads or writes in one call, and low enough to be priced without overflow. */
const countMax = 1_000_000_000

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= countMax
}
