import type { Candidates } from '../../contract/entities/channel-choice.ts'
import type { StoppedBy } from '../../contract/entities/log.ts'
import type { Text } from '../../contract/text.ts'
import type { Logger } from '../lib/logger.ts'
import type { AttemptTrace, CallTrace } from './call-traces.ts'

/**
 * The end of every call of the relay with a known key, and of every attempt on a channel, for counters, logs and traces. The
 * observers are fixed when the server starts; without one, no record is made.
 */

/** An attempt on a channel that is over. Times in milliseconds. */
export interface EndedAttempt {
  readonly channel: { readonly id: number; readonly keyId: number; readonly name: string; readonly type: number }
  /** Why the channel was chosen. */
  readonly choice: string
  /** Of a failed attempt, among which; absent for the only one. */
  readonly candidates?: Candidates | undefined
  /** The model that the caller asked for. */
  readonly model: string
  /** Its name at the upstream; '' where no request was made. */
  readonly upstreamModel: string
  /** The upstream's status of a failed attempt; 0 without an answer. 200 of one that answered. */
  readonly status: number
  /** Why it failed, without secrets, in words of this server or of the vendor; '' for an attempt that answered. */
  readonly reason: string
  /** What kind of failure it was, in a word; absent where `reason` is one. */
  readonly kind?: string | undefined
  /** It failed by a fault of the channel or its upstream, not of the caller or of this server. */
  readonly isFault: boolean
  /** On the steady clock, which is close to the time of day. */
  readonly startedMs: number
  readonly ms: number
  /** From its start to the first byte of a streamed answer; undefined without one. */
  readonly firstByteMs: number | undefined
  /** On a server that sends traces. */
  readonly trace?: AttemptTrace | undefined
}

/** How a call failed. */
export interface CallFailure {
  /** The code in the caller's error; `client_closed` for a caller who left before the answer was complete. */
  readonly code: string
  /** The message that the caller got. */
  readonly message: Text
  /** It failed after the answer had begun. */
  readonly inStream: boolean
  /** The limit that has refused it. */
  readonly stoppedBy?: StoppedBy | undefined
}

/** The kind of an endpoint, as the table of the relay's paths names it; a response in the background is a call of its own. */
export type CallKind =
  | 'relay'
  | 'background'
  | 'count'
  | 'response'
  | 'socket'
  | 'billing'
  | 'models'
  | 'model'
  | 'task'
  | 'other'

/** A call that has ended. Times in milliseconds; strings of the caller are unchanged, of any length. */
export interface EndedCall {
  /** The request id. */
  readonly id: string
  readonly caller: { readonly userId: number; readonly username: string; readonly tokenId: number; readonly tokenName: string }
  /** The group that it was charged in; '' where it ended before that was known. */
  readonly group: string
  readonly kind: CallKind
  readonly dialect: string
  /** The caller's wire format, such as `openai.chat`; 'other' for calls that have none. */
  readonly format: string
  readonly method: string
  /** Of the request, with its query, which may hold a key: see `pathOf`. */
  readonly url: string
  readonly address: string
  readonly userAgent: string
  /** The model that was asked for; '' where none was read. */
  readonly model: string
  /** Whether a stream was asked for. */
  readonly stream: boolean
  /** The status that the caller got; 499 for one who left before the answer was complete. */
  readonly status: number
  /** Absent for a call that has its answer. */
  readonly failure: CallFailure | undefined
  /** In their order. The last one answered, unless it has a reason. */
  readonly attempts: readonly EndedAttempt[]
  /** Of the last choice, if it found no channel to try. */
  readonly candidates?: Candidates | undefined
  /** On the steady clock, which is close to the time of day. */
  readonly startedMs: number
  readonly durationMs: number
  /** From the start of the call to the first byte of a streamed answer; undefined without one. */
  readonly firstByteMs: number | undefined
  /** Waited for a free place on channels. */
  readonly queueMs: number
  /** Took the hold. */
  readonly holdMs: number
  /** Waited for the charge to be durable. */
  readonly commitMs: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** Charged, in quota units. */
  readonly quota: number
  /** Of the bodies. `bytesIn` is what the caller declared; 0 for one that declared nothing. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** On a server that sends traces. */
  readonly trace?: CallTrace | undefined
}

/** The notes that the steps of a call make for its end: attempts, charges and durations. Times in milliseconds. */
export class CallNotes {
  attempts: EndedAttempt[] = []
  /** Of the last choice, if it found no channel to try. */
  candidates: Candidates | undefined
  tokensIn = 0
  tokensOut = 0
  /** Charged, in quota units. */
  quota = 0
  queueMs = 0
  holdMs = 0
  commitMs = 0
  /** The connection became a WebSocket. */
  isUpgraded = false
  /** The answer is made in the background, by a call of its own. */
  isContinued = false
}

/** The call of an attempt, as far as it is known when the attempt ends. */
export type ObservedCall = Pick<EndedCall, 'id' | 'group'> & {
  readonly caller: EndedCall['caller'] | undefined
  readonly notes: Pick<CallNotes, 'tokensIn' | 'tokensOut'>
}

/**
 * An observer. It runs on the path of every call, so that it only counts or queues: it must not block or throw. It may keep the
 * records, but must not change them.
 */
export interface CallObserver {
  /** It observes failed calls only. */
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

  /** Whether anyone wants a record of a call: without one, none is made. */
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
