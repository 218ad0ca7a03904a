import type { Candidates } from '../../../contract/entities/channel-choice.ts'
import type { StoppedBy } from '../../../contract/entities/log.ts'
import type { Text } from '../../../contract/text.ts'
import type { Usage } from '../../../contract/usage.ts'
import type { Logger } from '../../base/lib/log/logger.ts'
import type { AttemptTrace, CallTrace } from './call-traces.ts'

/**
 * The end of every call of the relay with a known key, and of every attempt on a channel, for counters, logs and traces. The
 * observers are fixed when the server starts; without observers, no record is made.
 */

/** An attempt on a channel that is over. Times in milliseconds. */
export interface EndedAttempt {
  readonly channel: { readonly id: number; readonly keyId: number; readonly name: string; readonly type: number }
  /** Why the channel was chosen. */
  readonly choice: string
  /** For a failed attempt, the candidates it was chosen from; absent when it was the only one. */
  readonly candidates?: Candidates | undefined
  /** The model that the caller requested. */
  readonly model: string
  /** The name of the model at the upstream; '' if no request was sent. */
  readonly upstreamModel: string
  /** The upstream's status of a failed attempt, 0 without an answer; 200 of an answered attempt. */
  readonly status: number
  /** Why it failed, without secrets, as written by this server or by the vendor; '' for an attempt that answered. */
  readonly reason: string
  /** The kind of failure as one word; absent if `reason` is one word. */
  readonly kind?: string | undefined
  /** Whether it failed by a fault of the channel or its upstream, not of the caller or of this server. */
  readonly isFault: boolean
  /** On the steady clock, which is close to the time of day. */
  readonly startedMs: number
  readonly ms: number
  /** From its start to the first byte of a streamed answer; undefined without one. */
  readonly firstByteMs: number | undefined
  /** Set on a server that sends traces. */
  readonly trace?: AttemptTrace | undefined
}

/** How a call failed. */
export interface CallFailure {
  /** The code in the caller's error; `client_closed` for a caller who left before the answer was complete. */
  readonly code: string
  /** The message that the caller got. */
  readonly message: Text
  /** Whether it failed after the answer had begun. */
  readonly inStream: boolean
  /** The limit that has refused it. */
  readonly stoppedBy?: StoppedBy | undefined
}

/** The kind of an endpoint, as named in the table of the relay's paths; a background response is a separate call. */
export type CallKind =
  | 'relay'
  | 'background'
  | 'count'
  | 'response'
  | 'request'
  | 'socket'
  | 'billing'
  | 'models'
  | 'model'
  | 'task'
  | 'file'
  | 'batch'
  | 'other'

/** A call that has ended. Times in milliseconds; strings of the caller are unchanged, of any length. */
export interface EndedCall {
  /** The request id. */
  readonly id: string
  readonly caller: { readonly userId: number; readonly username: string; readonly tokenId: number; readonly tokenName: string }
  /** The group in which it was charged; '' if it ended before that was known. */
  readonly group: string
  readonly kind: CallKind
  readonly dialect: string
  /** The caller's wire format, such as `openai.chat`; 'other' for calls without one. */
  readonly format: string
  readonly method: string
  /** The URL of the request, with its query, which may contain a key: see `pathOf`. */
  readonly url: string
  readonly address: string
  readonly userAgent: string
  /** The model that was requested; '' if none was read. */
  readonly model: string
  /** Whether a stream was requested. */
  readonly stream: boolean
  /** The status that the caller got; 499 for one who left before the answer was complete. */
  readonly status: number
  /** Absent for a call that was answered. */
  readonly failure: CallFailure | undefined
  /** In order. The last one answered, unless it has a `reason`. */
  readonly attempts: readonly EndedAttempt[]
  /** The candidates of the last choice, if it found no channel to try. */
  readonly candidates?: Candidates | undefined
  /** On the steady clock, which is close to the time of day. */
  readonly startedMs: number
  readonly durationMs: number
  /** From the start of the call to the first byte of a streamed answer; undefined without one. */
  readonly firstByteMs: number | undefined
  /** Time spent waiting for a free concurrency slot of a channel. */
  readonly queueMs: number
  /** Time that placing the hold took. */
  readonly holdMs: number
  /** Time spent waiting until the charge was durable. */
  readonly commitMs: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** The usage of each charge, by kind of token: one, but for sessions with several answers. */
  readonly usages: readonly Usage[]
  /** The charge, in quota units. */
  readonly quota: number
  /** Size of the bodies. `bytesIn` is the length that the caller declared, 0 if none. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** Set on a server that sends traces. */
  readonly trace?: CallTrace | undefined
}

/** The notes that the steps of a call make for its end: attempts, charges and durations. Times in milliseconds. */
export class CallNotes {
  /** Undefined until the caller is identified. */
  caller: EndedCall['caller'] | undefined
  /** The key or the session by which the caller was identified; '' before. */
  credential = ''
  /** The model and stream flag of the request, as far as they were read. */
  asked: { readonly model?: unknown; readonly stream?: unknown } | undefined
  /** The group in which the call is charged; '' until it is known. */
  group = ''
  attempts: EndedAttempt[] = []
  /** The candidates of the last choice, if it found no channel to try. */
  candidates: Candidates | undefined
  tokensIn = 0
  tokensOut = 0
  /** The usage of each charge, by kind of token. */
  usages: Usage[] = []
  /** The charge, in quota units. */
  quota = 0
  queueMs = 0
  holdMs = 0
  commitMs = 0
  /** Whether the connection became a WebSocket. */
  isUpgraded = false
  /** Whether the answer is made in the background, by a separate call. */
  isContinued = false
  /** Whether it follows the answer of another call, which reports its own end. */
  isFollowing = false
}

/** The call of an attempt, as far as it is known when the attempt ends. */
export interface ObservedCall {
  readonly id: string
  readonly notes: Pick<CallNotes, 'tokensIn' | 'tokensOut' | 'usages'>
}

/**
 * An observer. It runs on the path of every call, so it should only count or queue: it must not block or throw. It may retain the
 * records, but must not change them.
 */
export interface CallObserver {
  /** Whether it observes failed calls only. */
  readonly onlyFailed?: boolean
  callEnded?(call: EndedCall): void
  attemptEnded?(attempt: EndedAttempt, call: ObservedCall): void
}

/** The observers of a server. */
export class CallObservers {
  readonly #ofAll: readonly CallObserver[]
  readonly #ofFailed: readonly CallObserver[]
  readonly #ofAttempts: readonly CallObserver[]
  readonly #logger: Pick<Logger, 'error'>

  constructor(observers: readonly CallObserver[], logger: Pick<Logger, 'error'>) {
    this.#ofFailed = observers.filter((each) => each.callEnded)
    this.#ofAll = this.#ofFailed.filter((each) => !each.onlyFailed)
    this.#ofAttempts = observers.filter((each) => each.attemptEnded)
    this.#logger = logger
  }

  /** Whether an observer wants a record of a call: otherwise none is made. */
  wantsCall(isFailed: boolean): boolean {
    return (isFailed ? this.#ofFailed : this.#ofAll).length > 0
  }

  /** Call it once at the end of a call, if `wantsCall`. */
  callEnded(call: EndedCall): void {
    for (const observer of call.failure ? this.#ofFailed : this.#ofAll) {
      try {
        observer.callEnded?.(call)
      } catch (error) {
        this.#logger.error({ error, request: call.id }, 'an observer of calls failed')
      }
    }
  }

  attemptEnded(attempt: EndedAttempt, call: ObservedCall): void {
    for (const observer of this.#ofAttempts) {
      try {
        observer.attemptEnded?.(attempt, call)
      } catch (error) {
        this.#logger.error({ error, request: call.id }, 'an observer of attempts failed')
      }
    }
  }
}

/** The path of a URL without its query, which may hold a key. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}
