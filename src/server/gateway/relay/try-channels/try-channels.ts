import type { Candidates, Choice } from '../../../../contract/entities/channel-choice.ts'
import { AppError, fail } from '../../../base/lib/failure.ts'
import { background } from '../../../base/lib/log/logger.ts'
import type { Core } from '../../../base/options/core.ts'
import type { AttemptTrace } from '../../../usage/calls/call-traces.ts'
import type { EndedAttempt } from '../../../usage/calls/ended-calls.ts'
import { reportFailure } from '../../channels/health/auto-disable.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import { type Considered, candidatesOf } from '../../channels/select/candidates.ts'
import type { ReachedLimit } from '../../channels/select/concurrency-slot.ts'
import { resolveModel, type Selected, selectChannel, selectKey, selectPinned } from '../../channels/select/select.ts'
import type { Session } from '../../channels/select/session.ts'
import type { ChannelRun } from '../../channels/select/traffic.ts'
import type { ChannelRefusal } from '../../limits/budgets.ts'
import { type CallerError, ownError } from '../../protocols/error-body.ts'
import type { ChannelFormat } from '../../protocols/format.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { UpstreamFailure } from '../upstream/failure.ts'

/** The parts that trying channels uses. */
export type TryParts = Core & Pick<GatewayParts, 'callObservers' | 'callerLog' | 'channels' | 'traffic'>

type TrafficParts = Pick<TryParts, 'steady' | 'traffic'>

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

/** A channel, and why it was chosen. */
interface Chosen {
  readonly channel: RunningChannel
  readonly choice: Choice
  /** The candidates of the choice; absent when there was only one. */
  readonly considered?: Considered | undefined
}

/** One attempt on one channel. */
export interface ChannelAttempt extends Chosen {
  /** Set on a server that sends traces. */
  readonly trace?: AttemptTrace | undefined
  /** The earlier attempts of the call, which failed, in their order. */
  readonly failed: readonly Attempt[]
  /** Records a failed attempt, because the request is sent again to the same channel on another connection. */
  noteRepeat(upstreamModel: string): void
}

/** What an attempt that has answered returns. */
interface ChannelAnswer {
  /** The name of the model that was sent. */
  readonly upstreamModel: string
  /** The account of the key at the vendor, if the answer names it. */
  readonly account?: string | undefined
  /** The channel has failed after its answer had begun. */
  readonly brokeOff?: UpstreamFailure
}

/** What a call asks of a channel. */
interface ChannelRequest {
  readonly call: ClientExchange
  readonly model: string
  /** False for a call beside those for answers: its attempts change neither the health of channels nor any record. */
  readonly isRecorded?: boolean
  readonly caller: { readonly pinnedChannel: number }
  readonly group: string
  readonly format: ChannelFormat
  /** Estimated length of the prompt. */
  readonly inputTokens?: number
  /** The channel and key that store what the call continues: no other channel is tried. */
  readonly home?: { readonly channelId: number; readonly keyId: number } | undefined
  /** Ids of channels that have the model, but cannot take this call. */
  readonly unable?: ReadonlySet<number>
  /** By default one more than the option `RetryTimes`. */
  readonly triesMax?: number
  /** The conversation of the call, which should stay on its channel. Read only when there is a choice. */
  session?(): Session | undefined
  /** Counts the call in the budgets of a channel; undefined for a channel without budgets. */
  enterBudgets?(channelId: number): Promise<ChannelRefusal | undefined> | undefined
  /** Whether another channel may be tried after this failure. By default, when it is retryable. */
  mayTryAnother?(failure: UpstreamFailure): boolean
  /** The answer is a connection that stays in use: the caller of `tryChannels` ends its `run`. */
  readonly staysOpen?: boolean
}

/** A channel has answered. */
interface Answered<Answer> extends Chosen {
  readonly failed: readonly Attempt[]
  readonly answer: Answer
  /** The call as the traffic of the channel counts it; ended unless the answer stays open. */
  readonly run: ChannelRun
}

/** No channel has answered. */
export interface Unanswered {
  readonly answer?: undefined
  readonly failed: readonly Attempt[]
  /** Of the last attempt; undefined when no channel was called. */
  readonly failure: UpstreamFailure | undefined
  /** The error of the last channel whose budgets had no room. */
  readonly refusal: AppError | undefined
  /** Milliseconds until a channel may have room again; 0 when waiting does not help. */
  readonly waitMs: number
}

/**
 * Tries channels until one answers. It owns the number of tries, the channels and keys that failed or are full, budgets,
 * concurrency, health, the notes of the call and the metrics; `attempt` calls one channel and returns its answer or its failure. A
 * channel without room does not count as tried. No channel is tried after the first byte has reached the caller, or when the call
 * was aborted. Throws what `attempt` throws.
 */
export async function tryChannels<Answer extends ChannelAnswer>(
  app: TryParts,
  request: ChannelRequest,
  attempt: (attempt: ChannelAttempt) => Promise<Answer | UpstreamFailure>,
): Promise<Answered<Answer> | Unanswered> {
  const { call } = request
  const isBound = request.caller.pinnedChannel !== 0 || request.home !== undefined
  const triesMax = isBound ? 1 : (request.triesMax ?? app.options.current.RetryTimes + 1)
  const choices = new Choices(app, request)
  const failed: Attempt[] = []
  let failure: UpstreamFailure | undefined
  let refusal: AppError | undefined

  while (failed.length < triesMax) {
    const next = choices.next()
    if (!next.channel) {
      call.notes.candidates = next.considered && candidatesOf(next.considered)
      return { failed, failure, refusal, waitMs: next.waitMs }
    }
    const { channel, choice, considered } = next
    const entered = enter(app, request, next)
    const run = entered instanceof Promise ? await entered : entered
    if ('limit' in run) {
      refusal = run.refusal ?? refusal
      if (isBound) break
      choices.noteFull(channel, run)
      continue
    }
    const recorder = new AttemptNotes(app, request, next, failed)
    const { startedMs, trace } = recorder
    let result: Answer | UpstreamFailure
    try {
      result = await attempt({ channel, choice, considered, trace, failed, noteRepeat: (model) => recorder.noteRepeat(model) })
    } catch (error) {
      run.abandoned()
      throw error
    }
    if (!(result instanceof UpstreamFailure)) {
      recorder.noteAnswer(result)
      choices.noteAnswer(channel, result.account)
      if (!request.staysOpen) endRun(app, request, { run, startedMs, failure: result.brokeOff })
      return { answer: result, channel, choice, considered, failed, run }
    }
    failure = result
    recorder.noteFailure(result)
    choices.noteFailure(channel, result)
    endRun(app, request, { run, startedMs, failure })
    const mayGoOn = request.mayTryAnother?.(result) ?? result.isRetryable
    if (!mayGoOn || call.isCommitted || call.isAborted) break
  }
  return { failed, failure, refusal, waitMs: 0 }
}

/**
 * The error for a caller whom no channel has answered; `facts` as for `forCaller` of the last failure. Throws `no_channel`, and the
 * error of a budget without room.
 */
export function errorOf(
  { failure, failed, refusal, waitMs }: Unanswered,
  { model, group }: Pick<ChannelRequest, 'model' | 'group'>,
  facts?: Parameters<UpstreamFailure['forCaller']>[0],
): CallerError {
  if (failure) {
    const error = failure.forCaller(facts)
    // After several channels have failed, the client must not multiply the attempts with retries of its own.
    return failed.length > 1 ? { ...error, final: true } : error
  }
  if (refusal) throw refusal
  if (waitMs === 0) fail('no_channel', { model, group })
  return ownError(new AppError('upstream_saturated'), { retryAfter: Math.min(Math.ceil(waitMs / 1000), 3600) })
}

/** A limit of a channel without room for a call; `refusal` is the error of a budget. */
interface Full extends ReachedLimit {
  readonly refusal?: AppError
}

/** Counts a call in the budgets and in the traffic of a channel, and waits for its turn. Synchronous when nothing has to be asked. */
function enter(app: TrafficParts, request: ChannelRequest, chosen: Chosen): ChannelRun | Full | Promise<ChannelRun | Full> {
  const entering = request.enterBudgets?.(chosen.channel.id)
  if (!entering) return enterTraffic(app, request, chosen)
  return entering.then((refused) =>
    refused ? { limit: 'budget', waitMs: refused.waitMs, refusal: refused.error } : enterTraffic(app, request, chosen),
  )
}

function enterTraffic(
  { traffic, steady }: TrafficParts,
  { call, model, inputTokens = 0 }: ChannelRequest,
  { channel, choice }: Chosen,
): ChannelRun | Promise<ChannelRun | ReachedLimit> {
  const run = traffic.begin(channel, { id: call.id, model, inputTokens, isPinned: choice === 'pinned' })
  if (!run.refusal) return run
  const startedMs = steady()
  return run.refusal.then(
    (reached) => {
      call.notes.queueMs += Math.max(0, steady() - startedMs)
      return reached ?? run
    },
    (error: unknown) => {
      run.abandoned()
      throw error
    },
  )
}

/** Reports the end of a call to the health of its channel. A caller that disconnects says nothing about the channel. */
function endRun(
  { steady }: Pick<TryParts, 'steady'>,
  { call, isRecorded = true }: ChannelRequest,
  { run, startedMs, failure }: { run: ChannelRun; startedMs: number; failure: UpstreamFailure | undefined },
): void {
  if (call.isAborted || !isRecorded) run.abandoned()
  else if (failure) run.failed(failure)
  else run.answered(Math.max(0, (call.firstByteMs || steady()) - startedMs))
}

const none: ReadonlySet<number> = new Set()

/** Chooses the next channel of a call from the results of the earlier ones. */
class Choices {
  readonly #app: Pick<TryParts, 'channels' | 'options' | 'traffic'>
  readonly #request: ChannelRequest
  #tried: ReadonlySet<number>
  #triedKeys = none
  #full: Map<number, ReachedLimit> | undefined
  #session: { readonly read: Session | undefined } | undefined

  constructor(app: Pick<TryParts, 'channels' | 'options' | 'traffic'>, request: ChannelRequest) {
    this.#app = app
    this.#request = request
    this.#tried = request.unable ?? none
  }

  next(): Selected {
    const { channels, traffic, options } = this.#app
    const { caller, home, group, model, format, inputTokens = 0 } = this.#request
    if (home || caller.pinnedChannel !== 0) return this.#bound()
    const selection = {
      group,
      model,
      format,
      inputTokens,
      strategy: options.current.GroupRouting[group],
      tried: this.#tried,
      triedKeys: this.#triedKeys,
      full: this.#full,
      session: () => this.#readSession(),
    }
    return selectChannel(channels.current, selection, traffic)
  }

  /** The channel that a call is bound to; none if it cannot take the call. */
  #bound(): Selected {
    const { channels, traffic } = this.#app
    const { caller, home, model } = this.#request
    const bound = home
      ? selectKey(channels.current, home)
      : selectPinned(channels.current, { id: caller.pinnedChannel, model }, traffic)
    return bound.channel && this.#tried.has(bound.channel.id) ? { channel: undefined, waitMs: 0 } : bound
  }

  noteFull({ id }: RunningChannel, reached: ReachedLimit): void {
    this.#full ??= new Map()
    this.#full.set(id, reached)
  }

  noteAnswer(channel: RunningChannel, account: string | undefined): void {
    if (this.#session?.read) this.#app.traffic.remember(this.#session.read.key, channel, account)
  }

  /** After a failure of a key the channel's other keys stay eligible; after any other failure the channel is excluded. */
  noteFailure({ id, keyId }: RunningChannel, failure: UpstreamFailure): void {
    if (failure.isFaultOfKey) this.#triedKeys = new Set([...this.#triedKeys, keyId])
    else this.#tried = new Set([...this.#tried, id])
  }

  #readSession(): Session | undefined {
    this.#session ??= { read: this.#request.session?.() }
    return this.#session.read
  }
}

/** Records the end of an attempt: for the log row, the observers of calls, the metrics, and the health of the channel. */
class AttemptNotes {
  readonly startedMs: number
  readonly trace: AttemptTrace | undefined
  readonly #app: TryParts
  readonly #request: ChannelRequest
  readonly #chosen: Chosen
  readonly #failed: Attempt[]

  /** `failed`: the list that failures are added to. */
  constructor(app: TryParts, request: ChannelRequest, chosen: Chosen, failed: Attempt[]) {
    this.#app = app
    this.#request = request
    this.#chosen = chosen
    this.#failed = failed
    this.startedMs = app.steady()
    this.trace = this.#isRecorded ? request.call.trace?.attempt(chosen.channel, this.startedMs) : undefined
  }

  noteRepeat(upstreamModel: string): void {
    const trace = this.#request.call.trace?.attempt(this.#chosen.channel, this.startedMs)
    this.#app.metrics.upstreamAttempts.count('unreachable')
    this.#noteEnd(upstreamModel, trace, keptConnectionClosed)
    this.#addToFailed(keptConnectionClosed)
  }

  noteAnswer({ upstreamModel, brokeOff }: ChannelAnswer): void {
    if (!this.#isRecorded) return
    const failure = brokeOff ?? (this.#request.call.isAborted ? leftByCaller : undefined)
    this.#noteEnd(upstreamModel, this.trace, failure, failure && this.#candidates())
    this.#app.metrics.upstreamAttempts.count('answered')
  }

  noteFailure(failure: UpstreamFailure): void {
    const candidates = this.#candidates()
    this.#addToFailed(failure, candidates)
    if (!this.#isRecorded) return
    const upstreamModel = failure.names?.upstream ?? resolveModel(this.#chosen.channel, this.#request.model)
    this.#noteEnd(upstreamModel, this.trace, failure, candidates)
    this.#app.metrics.upstreamAttempts.count(failure.kind)
    if (!failure.isCallersMistake && !failure.isOfThisServer) this.#reportFault(failure)
  }

  /** Reports a fault to the health of the channel. An error caused by a wrong base URL is no evidence against the key. */
  #reportFault({ status, reason, facts, isLoop }: UpstreamFailure): void {
    const { channel } = this.#chosen
    const { client, id: request } = this.#request.call
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
    const { call, model } = this.#request
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
    return this.#request.isRecorded !== false
  }
}

type AttemptFailure = Pick<EndedAttempt, 'status' | 'reason' | 'kind'> & { readonly isRetryable?: boolean }

const keptConnectionClosed = { status: 0, reason: 'kept_connection_closed' }
/** The caller disconnected while the channel answered. */
const leftByCaller = { status: 0, reason: 'client_closed' }
