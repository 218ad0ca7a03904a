import type { Usage } from '../../../../contract/usage.ts'
import type { Quirks, TranslationSettings } from '../codec.ts'
import type { CallerFormat, Format } from '../format.ts'
import type { JsonObject, UploadedFile, UpstreamErrorFacts } from '../wire-format.ts'

/**
 * The conversion of a call that is not a conversation to another vendor's format, and of its reply to the caller's. The declaration
 * of that format lists it; the first match is used. All functions are pure: no clock, no randomness, no network.
 */
export interface DirectConversion {
  readonly from: CallerFormat
  readonly to: Format
  /** Whether it applies to this request, if the vendor has several conversions. */
  fits?(body: JsonObject): boolean
  /** URLs of files that must be fetched before, because the vendor accepts only bytes. */
  addressesIn?(body: JsonObject): readonly string[]
  /** Throws `untranslatable` where the vendor lacks a member without which the answer would be wrong; other losses go to `lose`. */
  convert(asked: CallerRequest): DirectPlan
}

/** A request of a caller. */
export interface CallerRequest {
  readonly body: JsonObject
  readonly files: readonly UploadedFile[]
  /** The caller's name of the model. */
  readonly model: string
  /** The upstream's name of the model. */
  readonly upstreamModel: string
  /** Unix seconds, for replies with a timestamp. */
  readonly createdAt: number
  readonly stream: boolean
  /** The upstream's deviations within its format. */
  readonly quirks: Quirks
  readonly settings: TranslationSettings
  /** The fetched files, by the URLs that the conversion returned. */
  readonly fetched: ReadonlyMap<string, FetchedFile>
  /** Reports a lost member, by the caller's name for it. */
  lose(field: string): void
}

/** Bytes as base64. */
export interface FetchedFile {
  readonly mediaType: string
  readonly data: string
}

/** The requests to send, and how their replies become the caller's reply. */
export interface DirectPlan {
  /** One request, or several whose replies are combined. */
  readonly requests: readonly DirectRequest[]
  /** Whether the successful replies are enough if other requests failed: true for images, not for vectors. */
  readonly takesSome?: true
  /** The id of the task to poll for the result; undefined for a final reply. */
  pendingTask?(reply: JsonObject): string | undefined
  /** The replies are in the order of the requests. */
  read(replies: readonly JsonObject[]): DirectAnswer
  /** Members with the usage to charge, if the upstream reported none. */
  writeUsage?(billed: Usage): JsonObject
  /** The images of the reply are required as bytes: those with a URL are fetched. */
  readonly inlinesImages?: true
}

/** A JSON body, or bytes with their type. */
export type DirectRequest = { readonly json: JsonObject } | { readonly bytes: Buffer; readonly contentType: string }

export type DirectAnswer =
  /** `usage` is what is charged, where the caller's format counts that of the body in another way. */
  | { readonly kind: 'json'; readonly body: JsonObject; readonly usage?: Usage | undefined }
  | { readonly kind: 'text'; readonly text: string; readonly usage: Usage | undefined }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly bytes: Buffer; readonly usage: Usage | undefined }
  /** The events of a stream, as text. */
  | { readonly kind: 'events'; readonly text: string }
  /** A status of 0 means that the upstream sent no valid answer. */
  | { readonly kind: 'refused'; readonly error: UpstreamErrorFacts }

/** An upstream failure with its message. */
export function refused(message: string, more: Partial<UpstreamErrorFacts> = {}): DirectAnswer {
  return { kind: 'refused', error: { message, type: '', code: '', param: null, status: 0, ...more } }
}

/** Reports every member that is set, except those in `carried`. */
export function loseAllBut(asked: CallerRequest, carried: readonly string[]): void {
  for (const [field, value] of Object.entries(asked.body))
    if (value !== undefined && value !== null && !carried.includes(field)) asked.lose(field)
}

/** Splits the values into chunks of at most `size`. */
export function chunksOf<Value>(values: readonly Value[], size: number): Value[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, at) => values.slice(at * size, (at + 1) * size))
}
