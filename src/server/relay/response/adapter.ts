import type { Usage } from '../../../contract/usage.ts'
import type { PaidCall } from '../../protocols/paid-calls.ts'
import type { UpstreamErrorFacts } from '../../protocols/wire-format.ts'

/**
 * How what an upstream answers becomes what the caller gets, for one attempt: as it comes (`response/pass-through.ts`), or through the neutral
 * form (`response/translate.ts`).
 */
export interface ResponseAdapter {
  /** Sees the headers of the answer before anything of it goes on. */
  readonly readHeaders?: (headers: ReplyHeaders) => void
  /** Reads a whole answer, and makes the caller's of it. Throws an UpstreamFailure when it is none. */
  readWhole(body: Buffer, contentType: string): Whole
  /** Reads what has come of a whole answer that broke off, as far as it is charged for; absent where no part of an answer is. */
  readPart?(begun: Buffer): Pick<Whole, 'usage' | 'text'>
  /** For a caller who asked for a stream. */
  openInterceptor(): SseInterceptor
  /** Present where somebody else has to see the stream as it comes from the upstream. */
  openObserver?(): StreamObserver
  /** One whole answer as the stream that was asked for. Throws an UpstreamFailure when it is none. */
  readReplay(body: Buffer): Replay
  /** Keeps a caller's connection alive while nothing comes. */
  readonly heartbeat: string
}

type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface Whole {
  readonly contentType: string
  readonly usage: Usage | undefined
  /** The text of the answer; '' when there is a usage and nobody needs it. */
  readonly text: string
  /** The body, with the usage that is charged where the upstream told none. */
  write(billed: Usage): Buffer
}

/** A whole reply as the stream that the caller asked for. */
export interface Replay {
  readonly usage: Usage | undefined
  readonly text: string
  /** All events as byte text. */
  write(billed: Usage): string
}

/** What came of a reply, as far as its charge is concerned. */
export interface PartialReply {
  /** The upstream's own numbers so far. */
  readonly usage: Usage | undefined
  /** Whether the upstream said that the reply is complete. */
  isComplete(): boolean
  /** What it said so far, or the beginning of that. */
  text(): string
  /** How many characters it said beyond `text`. */
  readonly unkept?: number | undefined
  /** The calls of paid tools that came so far, where the format tells them before its usage. */
  paidCalls?(): readonly PaidCall[]
  /** It was stopped here for what it says. */
  readonly stopped?: 'moderation' | undefined
}

/**
 * Sees whole events before they are taken. A promise is waited for: nothing of them goes on to the caller before, and nothing at all when it
 * rejects.
 */
export type StreamObserver = (block: string) => Promise<void> | undefined

/** Looks at the byte text of a stream on its way, and gives what may go on now. */
export interface SseInterceptor extends PartialReply {
  /** An error that the upstream told inside of the stream. Nothing goes on behind it. */
  readonly error: UpstreamErrorFacts | undefined
  /** Something for the caller has come; before that another channel may take over. */
  readonly hasOutput: boolean
  /** The end has come. What it says is kept back in `ending` until the charge is durable. */
  readonly isEnded: boolean
  /** Takes whole events. */
  take(block: string): string
  /** The upstream has ended, with this behind its last whole event. */
  finish(rest: string): string
  /** What closes the stream for the caller, with the usage that is charged where the upstream told none. */
  ending(billed: Usage): string
  /** An error as an event of the stream, where the format tells it with what came before; else the dialect's own is sent. */
  writeError?(error: UpstreamErrorFacts): string | undefined
}

/** The request as the upstream gets it, and the way back of its answer. */
export interface Written {
  readonly body: Buffer
  readonly contentType: string
  readonly upstreamModel: string
  /** Whether the upstream is asked for a stream. */
  readonly stream: boolean
  readonly adapter: ResponseAdapter
}
