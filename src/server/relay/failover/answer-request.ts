import { candidatesOf } from '../../channels/candidates.ts'
import type { ReachedLimit } from '../../channels/concurrency-slot.ts'
import type { RunningChannel } from '../../channels/model-index.ts'
import { type Selected, selectChannel, selectKey, selectPinned } from '../../channels/select.ts'
import { readSession, type Session } from '../../channels/session.ts'
import { seconds } from '../../lib/clock.ts'
import { AppError, fail } from '../../lib/failure.ts'
import { toByteText } from '../../lib/sse.ts'
import type { Dialogue } from '../../protocols/dialogue.ts'
import { type CallerError, ownError } from '../../protocols/error-body.ts'
import { inDialect } from '../../protocols/error-dialect.ts'
import { failedStream } from '../../protocols/openai-responses/failed-stream.ts'
import type { AttemptTrace } from '../../usage/call-traces.ts'
import { enterChannelBudgets } from '../admission/budgets.ts'
import type { AdmittedRequest, AttemptState, SharedByAttempts } from '../admitted-request.ts'
import { noteEndOfAttempt } from '../charge/end-of-call.ts'
import type { RelayParts } from '../relay-parts.ts'
import { noteFailure, type UpstreamFailure } from '../upstream/failure.ts'
import { type Attempted, type AttemptParts, attemptChannel } from './attempt.ts'
import { settleLost } from './settle-attempt.ts'

/** The parts that answering a request uses. */
export type AnswerParts = AttemptParts & Pick<RelayParts, 'budgets' | 'channels'>

/**
 * Answers a request that holds its quota. `dialogue` is its neutral form, if that exists already. Rethrows an unexpected error
 * after the hold is released.
 */
export async function answerRequest(app: AnswerParts, request: AdmittedRequest, dialogue?: Dialogue): Promise<void> {
  const shared: SharedByAttempts = { failed: [], ...(dialogue ? { dialogue } : {}) }
  try {
    await attemptUntilAnswered(app, request, shared)
  } catch (error) {
    await release(app, request)
    throw error
  } finally {
    shared.media?.close()
  }
}

/**
 * Tries channels until one answers. A channel that failed is not tried again while another is left, and none is tried after the first
 * byte. A channel whose limits are reached does not count as tried.
 */
async function attemptUntilAnswered(app: AnswerParts, request: AdmittedRequest, shared: SharedByAttempts): Promise<void> {
  const { call } = request
  const { failed } = shared
  const isBound = request.caller.pinnedChannel !== 0 || request.storingChannel !== undefined
  const triesMax = isBound ? 1 : app.options.current.RetryTimes + 1
  const attempts = new ChannelAttempts(app, request, shared)
  let last: UpstreamFailure | undefined
  let lost: AttemptState | undefined
  let waitMs = 0

  while (failed.length < triesMax) {
    const next = attempts.next()
    if (!next.channel) {
      waitMs = next.waitMs
      call.notes.candidates = next.considered && candidatesOf(next.considered)
      break
    }
    const { channel, choice, considered } = next
    const startedMs = app.steady()
    const trace = call.trace?.attempt(channel, startedMs)
    const attempted = await attempts.attempt(next, trace)
    const { outcome } = attempted
    if (outcome === 'full') continue
    const broken = outcome === 'answered' ? (attempted.state.brokeOff ?? (call.isAborted ? leftByCaller : undefined)) : outcome
    const { upstreamModel } = attempted.state
    const candidates = broken && considered && candidatesOf(considered)
    const ended = { channel, choice, candidates, model: request.facts.model, upstreamModel, startedMs, failure: broken, trace }
    noteEndOfAttempt(app, call, ended)
    if (broken) {
      const { status, reason } = broken
      failed.push({ channel: channel.id, key: channel.keyId, status, reason, ms: app.steady() - startedMs, choice, candidates })
    }
    if (outcome === 'answered') {
      app.metrics.upstreamAttempts.count('answered')
      return
    }
    last = outcome
    if (attempted.state.lost) lost = attempted.state
    noteFailure(app, call, channel, outcome)
    if (!outcome.isRetryable || call.isCommitted || call.isAborted) break
  }

  if (lost?.lost) await settleLost(app, lost, lost.lost)
  else await release(app, request)
  if (!last) {
    if (attempts.refusal) throw attempts.refusal
    if (waitMs === 0) fail('no_channel', { model: request.facts.model, group: request.group })
    call.sendError(ownError(new AppError('upstream_saturated'), { retryAfter: Math.min(Math.ceil(waitMs / 1000), 3600) }))
    return
  }
  // After several channels have failed, the client must not multiply the attempts with retries of its own.
  const callerError = last.forCaller({ promptTokens: request.inputTokens, sent: request.body.bytes })
  if (isSentInStream(request, callerError)) return failInStream(request, callerError)
  call.sendError(failed.length > 1 ? { ...callerError, final: true } : callerError, request.format.stream?.errorEvent)
}

/** The caller disconnected while the channel answered. */
const leftByCaller = { status: 0, reason: 'client_closed' }

/** Responses clients compact a conversation that is too long only when a stream event reports it, not when the status does. */
function isSentInStream({ format, facts, toStore }: AdmittedRequest, { known }: CallerError): boolean {
  const isForeground = toStore?.isBackground !== true
  return known?.kind === 'context-too-long' && format.format === 'openai.responses' && facts.stream && isForeground
}

function failInStream(request: AdmittedRequest, callerError: CallerError): void {
  const { call, body, facts } = request
  const { message, ...error } = inDialect('openai', callerError)
  call.noteError(callerError)
  const quoted = `${message.en} (request id: ${call.id})`
  const context = {
    id: call.id,
    createdAt: seconds(call.startedMs),
    model: facts.model,
    newId: (prefix: string) => prefix + call.id,
  }
  if (!call.isCommitted)
    call.begin({ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache, no-transform' })
  call.end(toByteText(failedStream(body.json, { ...error, message: quoted, code: error.code ?? '' }, context)))
}

/** Releases the hold. A release that cannot be written now stays queued; the caller gets the error that came before. */
export async function release(
  app: Pick<RelayParts, 'holdShares' | 'ledger' | 'logger'>,
  { hold }: AdmittedRequest,
): Promise<void> {
  app.holdShares.ended(hold.userId, hold.requestId)
  try {
    await app.ledger.release(hold)
  } catch (error) {
    app.logger.error({ error, request: hold.requestId }, 'a hold is not released yet')
  }
}

const none: ReadonlySet<number> = new Set()

/** The channel attempts of one request: chooses the next channel from the results of the earlier ones. */
class ChannelAttempts {
  readonly #app: AnswerParts
  readonly #request: AdmittedRequest
  readonly #shared: SharedByAttempts
  #tried: ReadonlySet<number> = none
  #triedKeys: ReadonlySet<number> = none
  #full: Map<number, ReachedLimit> | undefined
  #refusal: AppError | undefined
  #session: { readonly read: Session | undefined } | undefined

  constructor(app: AnswerParts, request: AdmittedRequest, shared: SharedByAttempts) {
    this.#app = app
    this.#request = request
    this.#shared = shared
  }

  /** The error of the last channel whose budgets had no room for the request. */
  get refusal(): AppError | undefined {
    return this.#refusal
  }

  /** The channel and key for the next attempt. */
  next(): Selected {
    const { channels, traffic, options } = this.#app
    const { caller, facts, format, group, inputTokens, storingChannel } = this.#request
    if (caller.pinnedChannel !== 0)
      return selectPinned(channels.current, { id: caller.pinnedChannel, model: facts.model }, traffic)
    if (storingChannel) return selectKey(channels.current, storingChannel)
    const wanted = {
      group,
      model: facts.model,
      format: format.format,
      inputTokens,
      strategy: options.current.GroupRouting[group],
      tried: this.#tried,
      triedKeys: this.#triedKeys,
      full: this.#full,
      session: () => this.#readSession(),
    }
    return selectChannel(channels.current, wanted, traffic)
  }

  /** Runs an attempt and reports its result to the channel's health. `full`: the channel's limits are reached and it was not called. */
  async attempt(
    { channel, choice, considered }: Extract<Selected, { channel: RunningChannel }>,
    trace: AttemptTrace | undefined,
  ): Promise<Attempted | { readonly outcome: 'full' }> {
    const [app, request, shared] = [this.#app, this.#request, this.#shared]
    const { call, facts, inputTokens } = request
    const windows = app.budgets.windowsOfChannel(channel.id)
    const refusal = windows ? await enterChannelBudgets(app, request.hold, windows) : undefined
    if (refusal) {
      this.#refusal = refusal.error
      // The call is pinned to this channel, even when the channel is full.
      if (choice === 'pinned') throw refusal.error
      return this.#leaveOut(channel, { limit: 'budget', waitMs: refusal.waitMs })
    }
    const run = app.traffic.begin(channel, { id: call.id, model: facts.model, inputTokens, isPinned: choice === 'pinned' })
    try {
      const reached = run.refusal && (await this.#queued(run.refusal))
      if (reached) return this.#leaveOut(channel, reached)
      const startedMs = app.steady()
      const attempted = await attemptChannel(app, { request, shared, channel, choice, considered, trace })
      const { outcome, state } = attempted
      if (outcome !== 'answered') this.#noteFailed(channel, outcome)
      else if (this.#session?.read) app.traffic.remember(this.#session.read.key, channel)
      if (call.isAborted) run.abandoned()
      else if (state.brokeOff) run.failed(state.brokeOff)
      else if (outcome === 'answered') run.answered(Math.max(0, (call.firstByteMs || app.steady()) - startedMs))
      else run.failed(outcome)
      return attempted
    } finally {
      run.abandoned()
    }
  }

  #leaveOut({ id }: RunningChannel, reached: ReachedLimit): { readonly outcome: 'full' } {
    this.#full ??= new Map()
    this.#full.set(id, reached)
    return { outcome: 'full' }
  }

  async #queued(refusal: Promise<ReachedLimit | undefined>): Promise<ReachedLimit | undefined> {
    const startedMs = this.#app.steady()
    const reached = await refusal
    this.#request.call.notes.queueMs += Math.max(0, this.#app.steady() - startedMs)
    return reached
  }

  /** After a failure of a key the channel's other keys stay eligible; after any other failure the channel is excluded. */
  #noteFailed(channel: RunningChannel, failure: UpstreamFailure): void {
    if (failure.isFaultOfKey) this.#triedKeys = new Set([...this.#triedKeys, channel.keyId])
    else this.#tried = new Set([...this.#tried, channel.id])
  }

  #readSession(): Session | undefined {
    const { caller, call, body, facts } = this.#request
    this.#session ??= {
      read: readSession({
        owner: `${caller.userId}/${caller.tokenId}`,
        model: facts.model,
        headers: call.request.headers,
        body: body.json,
      }),
    }
    return this.#session.read
  }
}
