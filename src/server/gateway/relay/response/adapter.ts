import type { Usage } from '../../../../contract/usage.ts'
import type { Format } from '../../protocols/format.ts'
import type { PaidCall } from '../../protocols/paid-calls.ts'
import type { UpstreamErrorFacts } from '../../protocols/wire-format.ts'

/**
 * Converts the reply of an upstream to the reply for the caller, for one attempt: unchanged (`response/pass-through.ts`), or
 * through the neutral form (`response/translate.ts`).
 */
export interface ResponseAdapter {
  /** Reads the headers of the answer before any of it is passed on. */
  readonly readHeaders?: ((headers: ReplyHeaders) => void) | undefined
  /** Converts a whole answer. Throws an UpstreamFailure for an invalid one. */
  readWhole(body: Buffer, contentType: string): Whole
  /** Reads the received part of a whole answer that was cut off, for its charge; absent when partial answers are not charged. */
  readPart?(begun: Buffer): Pick<Whole, 'usage' | 'text'>
  /** The interceptor for a request with streaming. */
  openInterceptor(): SseInterceptor
  /** Set when an observer reads the stream as the upstream sends it. */
  openObserver?(): StreamObserver
  /** Converts a whole answer to the requested stream. Throws an UpstreamFailure for an invalid one. */
  readReplay(body: Buffer): Replay
  /** Keeps a caller's connection alive while the upstream is silent. */
  readonly heartbeat: string
}

type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface Whole {
  readonly contentType: string
  readonly usage: Usage | undefined
  /** The text of the answer; '' when a reported usage of prompt and output makes it unnecessary. */
  readonly text: string
  /** The body, with the charged usage when the upstream reported none. */
  write(billed: Usage): Buffer
}

/** A whole reply as the stream that the caller requested. */
export interface Replay {
  readonly usage: Usage | undefined
  readonly text: string
  /** All events as byte text. */
  write(billed: Usage): string
}

/** The received part of a reply, for its charge. */
export interface PartialReply {
  /** The usage that the upstream has reported so far. */
  readonly usage: Usage | undefined
  /** Whether the upstream reported that the reply is complete. */
  isComplete(): boolean
  /** The output text so far, or its beginning. */
  text(): string
  /** The number of output characters beyond `text`. */
  readonly unkept?: number | undefined
  /** The calls of paid tools so far, for formats that report them before the usage. */
  paidCalls?(): readonly PaidCall[]
  /** This server stopped the reply because of its content. */
  readonly stopped?: 'moderation' | undefined
}

/**
 * Receives complete events before they are processed. A returned promise is awaited before any of them is passed on; when it
 * rejects, none is passed on.
 */
export type StreamObserver = (block: string) => Promise<void> | undefined

/** What has arrived of a streamed reply. */
export interface ArrivedReply extends PartialReply {
  /** An error that the upstream sent inside the stream. Nothing is passed on after it. */
  readonly error: UpstreamErrorFacts | undefined
  /** Output for the caller has arrived; before that another channel may take over. */
  readonly hasOutput: boolean
  /** The terminal event has arrived. `ending` withholds it until the charge is durable. */
  readonly isEnded: boolean
  /** Ends the reply here, incomplete and without an error of the upstream. Nothing more of it is read. */
  stop(why: 'moderation'): void
}

/** Processes the byte text of a stream, and returns the part that may be sent now. */
export interface SseInterceptor {
  readonly arrived: ArrivedReply
  /** Processes whole events. */
  take(block: string): string
  /** The upstream's stream has ended; the argument is the rest after its last whole event. */
  finish(rest: string): string
  /** The events that end the stream for the caller, with the charged usage when the upstream reported none. */
  ending(billed: Usage): string
  /** Writes an error as an event, for formats whose error event depends on earlier events; else the event of the dialect is sent. */
  writeError?(error: UpstreamErrorFacts): string | undefined
}

/** How the request to the channel differs from the caller's. */
export interface WrittenFacts {
  /** The upstream's name of the model; '' until the request to the upstream is written. */
  readonly upstreamModel: string
  /** `leftOut`, and the members that are removed for the channel when it is called in the caller's format. */
  readonly dropped?: readonly string[] | undefined
  /** Set when the channel is called in another format than the caller's. */
  readonly translation?: Translation | undefined
  /** The tools in the sent body that the vendor runs, where they may differ from those of the request. */
  readonly sentTools?: readonly string[] | undefined
  /** The output limit that is sent for all completions, where it is above that of the request. */
  readonly raisedLimit?: number | undefined
}

/** The translation of an attempt, for the log row. */
export interface Translation {
  /** The format of the upstream. */
  readonly format: Format
  /** Fields of the request that the format cannot carry. */
  readonly dropped: readonly string[]
  /** Content of the reply that the caller's format cannot carry, collected while it arrives; absent in bills of older versions. */
  readonly replyDropped?: string[]
  /** Billed tools of the request that the format can carry. */
  readonly hostedTools: readonly string[]
}

/** The request for the upstream, and the adapter of its reply. */
export interface Written extends WrittenFacts {
  readonly body: Buffer
  readonly contentType: string
  /** Whether the request to the upstream is for a stream. */
  readonly stream: boolean
  readonly adapter: ResponseAdapter
}
