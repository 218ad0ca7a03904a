import type { Usage } from '../../../contract/usage.ts'
import type { WriteContext } from './codec.ts'
import type { JsonObject, UpstreamErrorFacts } from './wire-format.ts'

/**
 * How the answers of a format are stored, by its vendor or by this server: continued by a later request, read, streamed again, cancelled
 * and deleted. Pure, like all of `protocols`.
 */
export interface StoredForm {
  /** The beginning of the ids that this server makes; a request id follows. */
  readonly idPrefix: string
  /** The key of a vendor's id among the stored ids of all formats. */
  keyOf(id: string): string
  /** The member of a request with the id of the answer that it continues. */
  readonly previousIn: string
  /** Whether an input may refer to items of stored answers by their ids. */
  readonly refersToItems?: true
  /** The items of an input; undefined for an invalid one. */
  inputItems(input: unknown): readonly unknown[] | undefined
  /** An answer as input of the next request. */
  outputAsInput(answer: JsonObject): readonly unknown[]

  /** The query parameters that the vendor knows in calls about an answer. */
  readonly queryNames: ReadonlySet<string>
  /** The number of the event after which a stream is continued; -1 for all of it. */
  eventAfter(query: URLSearchParams): number
  isRunning(answer: JsonObject): boolean
  /** The end state of an answer; undefined while it runs. `usage` is undefined when none is reported. */
  readEnd(answer: JsonObject): AnswerEnd | undefined
  /** The error of an answer that has failed; undefined where it has none. */
  readFailure(answer: JsonObject): UpstreamErrorFacts | undefined
  /** The members with which an answer tells its error. */
  failureMembers(error: StoredError): JsonObject
  /** The answer, or its beginning, in an event of its stream. */
  answerIn(event: JsonObject): JsonObject | undefined

  /** An answer in the background before it runs, and the first events of its stream, which the writer of the stream continues. */
  begin(context: WriteContext): { readonly response: JsonObject; readonly events: readonly JsonObject[] }
  /** The number of an event, and whether it ends its stream. Both read the JSON that this server writes. */
  numberOf(data: string): number
  isTerminalEvent(data: string): boolean
  /** The answer of a run that ended without a terminal event, as far as its events have it; cancelled if there was no error. */
  closed(begun: JsonObject, events: readonly string[], error: StoredError | undefined): JsonObject
  /** The terminal event of an answer whose upstream sent none. */
  closingEvent(answer: JsonObject, number: number): JsonObject
  /** The events of a complete answer after the one with this number. */
  replayAfter(answer: JsonObject, number: number): { number: number; data: string }[]
  /** An event as it is in the stream. */
  eventText(data: string): string
  /** A stored answer as its reader gets it, and what remains of a deleted one. */
  asRead(answer: JsonObject, input: readonly unknown[]): JsonObject
  deleted(id: string): JsonObject
}

/** `failed` and `cancelled` have this name in every format. */
export interface AnswerEnd {
  readonly state: string
  readonly usage: Usage | undefined
}

export interface StoredError {
  readonly code: string
  readonly message: string
}
