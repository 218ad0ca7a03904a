import type { Candidates, Choice } from '../../../../contract/entities/channel-choice.ts'
import type { CallerLog } from '../../../base/lib/log/caller-log.ts'
import { background } from '../../../base/lib/log/logger.ts'
import type { Core } from '../../../base/options/core.ts'
import type { AttemptTrace } from '../../../usage/calls/call-traces.ts'
import type { CallObservers, EndedAttempt } from '../../../usage/calls/ended-calls.ts'
import { type Considered, candidatesOf } from '../../channels/candidates.ts'
import { reportFailure } from '../../channels/health.ts'
import type { RunningChannel } from '../../channels/model-index.ts'
import { resolveModel } from '../../channels/select.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'

/** The parts that recording an attempt uses. */
export interface RecordParts extends Core {
  readonly callObservers: CallObservers
  readonly callerLog: CallerLog
}

/** An attempt that failed, for the log row. `status` is 0 without an answer. */
export interface Attempt {
  readonly channel: number
  readonly key: number
  readonly status: number
  readonly reason: string
  readonly ms: number
  readonly choice: Choice
  readonly candidates?: Candidates | undefined
}

/** One attempt on one channel. */
export interface ChannelAttempt {
  readonly channel: RunningChannel
  /** Why the channel was chosen. */
  readonly choice: Choice
  /** The candidates of the choice; absent when there was only one. */
  readonly considered?: Considered | undefined
  /** Set on a server that sends traces. */
  readonly trace?: AttemptTrace | undefined
  /** The earlier attempts of the call, which failed, in their order. */
  readonly failed: readonly Attempt[]
  /** Records a failed attempt, because the request is sent again to the same channel on another connection. */
  noteRepeat(upstreamModel: string): void
}

/** The call of an attempt. */
export interface RecordedCall {
  readonly call: ClientExchange
  readonly model: string
  /** False for a call beside those for answers: its attempts change neither the health of channels nor any record. */
  readonly isRecorded?: boolean
}

/** What an attempt that has answered returns. */
export interface ChannelAnswer {
  /** The name of the model that was sent. */
  readonly upstreamModel: string
  /** The account of the key at the vendor, if the answer names it. */
  readonly account?: string | undefined
  /** The channel has failed after its answer had begun. */
  readonly brokeOff?: UpstreamFailure
}

/** Records the end of an attempt: for the log row, the observers of calls, the metrics, and the health of the channel. */
export class AttemptNotes {
  readonly startedMs: number
  readonly trace: AttemptTrace | undefined
  readonly #app: RecordParts
  readonly #recorded: RecordedCall
  readonly #chosen: Pick<ChannelAttempt, 'channel' | 'choice' | 'considered'>
  readonly #failed: Attempt[]

  /** `failed`: the list that failures are added to. */
  constructor(
    app: RecordParts,
    recorded: RecordedCall,
    chosen: Pick<ChannelAttempt, 'channel' | 'choice' | 'considered'>,
    failed: Attempt[],
  ) {
    this.#app = app
    this.#recorded = recorded
    this.#chosen = chosen
    this.#failed = failed
    this.startedMs = app.steady()
    this.trace = this.#isRecorded ? recorded.call.trace?.attempt(chosen.channel, this.startedMs) : undefined
  }

  noteRepeat(upstreamModel: string): void {
    const trace = this.#recorded.call.trace?.attempt(this.#chosen.channel, this.startedMs)
    this.#app.metrics.upstreamAttempts.count('unreachable')
    this.#noteEnd(upstreamModel, trace, keptConnectionClosed)
    this.#addToFailed(keptConnectionClosed)
  }

  noteAnswer({ upstreamModel, brokeOff }: ChannelAnswer): void {
    if (!this.#isRecorded) return
    const failure = brokeOff ?? (this.#recorded.call.isAborted ? leftByCaller : undefined)
    this.#noteEnd(upstreamModel, this.trace, failure, failure && this.#candidates())
    this.#app.metrics.upstreamAttempts.count('answered')
  }

  noteFailure(failure: UpstreamFailure): void {
    const candidates = this.#candidates()
    this.#addToFailed(failure, candidates)
    if (!this.#isRecorded) return
    const upstreamModel = failure.names?.upstream ?? resolveModel(this.#chosen.channel, this.#recorded.model)
    this.#noteEnd(upstreamModel, this.trace, failure, candidates)
    this.#app.metrics.upstreamAttempts.count(failure.kind)
    if (!failure.isCallersMistake && !failure.isOfThisServer) this.#reportFault(failure)
  }

  /** Reports a fault to the health of the channel. An error caused by a wrong base URL is no evidence against the key. */
  #reportFault({ status, reason, facts, isLoop }: UpstreamFailure): void {
    const { channel } = this.#chosen
    const { client, id: request } = this.#recorded.call
    const { callerLog, logger } = this.#app
    callerLog.of(client).warn({ request, channel: channel.id, reason }, 'a channel failed')
    if (isLoop) return
    const { message, code, type } = facts
    background(logger, 'report a failed channel', reportFailure(this.#app, channel, { status, code, type, message }))
  }

  #addToFailed({ status, reason }: Pick<Attempt, 'status' | 'reason'>, candidates?: Candidates): void {
    const { channel, choice } = this.#chosen
    const ms = this.#app.steady() - this.startedMs
    this.#failed.push({ channel: channel.id, key: channel.keyId, status, reason, ms, choice, candidates })
  }

  /** Adds the ended attempt to the record of its call, and reports it to the observers. */
  #noteEnd(upstreamModel: string, trace: AttemptTrace | undefined, failure?: AttemptFailure, candidates?: Candidates): void {
    const { startedMs } = this
    const { channel, choice } = this.#chosen
    const { call, model } = this.#recorded
    const { firstByteMs } = call
    const ended: EndedAttempt = {
      channel,
      choice,
      candidates,
      model,
      upstreamModel,
      status: failure ? failure.status : 200,
      reason: failure ? failure.reason : '',
      kind: failure?.kind,
      isFault: failure?.isRetryable === true,
      startedMs,
      ms: Math.max(0, this.#app.steady() - startedMs),
      firstByteMs: firstByteMs > 0 ? Math.max(0, firstByteMs - startedMs) : undefined,
      trace,
    }
    call.notes.attempts.push(ended)
    this.#app.callObservers.attemptEnded(ended, call)
  }

  #candidates(): Candidates | undefined {
    const { considered } = this.#chosen
    return considered && candidatesOf(considered)
  }

  get #isRecorded(): boolean {
    return this.#recorded.isRecorded !== false
  }
}

type AttemptFailure = Pick<EndedAttempt, 'status' | 'reason' | 'kind'> & { readonly isRetryable?: boolean }

const keptConnectionClosed = { status: 0, reason: 'kept_connection_closed' }
/** The caller disconnected while the channel answered. */
const leftByCaller = { status: 0, reason: 'client_closed' }
