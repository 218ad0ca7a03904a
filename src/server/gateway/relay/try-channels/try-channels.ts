import { AppError, fail } from '../../../base/lib/failure.ts'
import { candidatesOf } from '../../channels/candidates.ts'
import type { ReachedLimit } from '../../channels/concurrency-slot.ts'
import type { RunningChannel } from '../../channels/model-index.ts'
import { type Selected, selectChannel, selectKey, selectPinned } from '../../channels/select.ts'
import type { Session } from '../../channels/session.ts'
import type { ChannelRun } from '../../channels/traffic.ts'
import type { ChannelRefusal } from '../../limits/budgets.ts'
import { type CallerError, ownError } from '../../protocols/error-body.ts'
import type { ChannelFormat } from '../../protocols/format.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import {
  type Attempt,
  AttemptNotes,
  type ChannelAnswer,
  type ChannelAttempt,
  type RecordedCall,
  type RecordParts,
} from './attempt-notes.ts'

/** The parts that trying channels uses. */
export type TryParts = RecordParts & Pick<GatewayParts, 'channels' | 'traffic'>

type TrafficParts = Pick<TryParts, 'steady' | 'traffic'>

/** What a call asks of a channel. */
interface ChannelRequest extends RecordedCall {
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
interface Answered<Answer> extends Pick<ChannelAttempt, 'channel' | 'choice' | 'considered' | 'failed'> {
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

type Chosen = Pick<ChannelAttempt, 'channel' | 'choice'>

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
