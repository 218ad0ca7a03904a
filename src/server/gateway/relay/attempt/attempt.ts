import { noUsage, type Usage } from '../../../../contract/usage.ts'
import { background } from '../../../base/lib/log/logger.ts'
import type { Core } from '../../../base/options/core.ts'
import type { AttemptTrace } from '../../../usage/calls/call-traces.ts'
import { mayBeMissing, withoutEndpoint } from '../../channels/row/missing-endpoints.ts'
import { AnsweredModel } from '../../protocols/answered-model.ts'
import { endingOf } from '../charge/settlement.ts'
import type { ConversationParts } from '../conversations/history.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { isReading } from '../http/half-closed.ts'
import type { UndeliveredReplies } from '../replies/undelivered-replies.ts'
import type { PartialReply, ResponseAdapter, Whole, WrittenFacts } from '../response/adapter.ts'
import type { AttemptState, BegunAttempt } from '../response/attempt-state.ts'
import { moderatedAdapter } from '../response/moderated.ts'
import { repliesIn } from '../response/pass-through.ts'
import { type StreamOutcome, StreamReply } from '../response/stream.ts'
import { tracedAdapter } from '../response/traced.ts'
import { BytesReply, WholeReply } from '../response/whole.ts'
import type { PendingResponses } from '../stored-responses/pending-responses.ts'
import { notingAdapter, runsOn, storeAnswer, withdrawResponse } from '../stored-responses/store-answer.ts'
import type { UpstreamCallParts } from '../upstream/call-upstream.ts'
import { serverStopping, UpstreamFailure, withCleanFacts } from '../upstream/failure.ts'
import { HttpExchange, type Receiver, type Running, type Target } from '../upstream/http-exchange.ts'
import { MultiExchange, type MultiTarget } from '../upstream/multi-exchange.ts'
import { WebSocketExchange } from '../upstream/websocket-exchange.ts'
import { keepAlive } from './keep-alive.ts'
import { type Prepared, type PrepareParts, prepare } from './prepare-attempt.ts'
import { isWorthRetry, missingEndpoint, noteReasoningLeft } from './second-attempt.ts'
import {
  answered,
  brokenOffBy,
  cutFile,
  type Ended,
  endOf,
  leave,
  noReply,
  type SettleParts,
  settle,
  settleReply,
} from './settle-attempt.ts'

type AnyTarget = Target | MultiTarget

/** The parts that sending a prepared request and settling its reply use. */
type ExchangeParts = UpstreamCallParts &
  SettleParts &
  Pick<GatewayParts, 'budgets' | 'callerLog' | 'moderation'> &
  Pick<ConversationParts, 'localResponses'> & { readonly undelivered: UndeliveredReplies }

/** The parts that an attempt uses. */
export type AttemptParts = Core & PrepareParts & ExchangeParts & Pick<GatewayParts, 'endpointMisses'>

/** The end of an attempt on a channel, and its state. */
interface Attempted extends Ended {
  readonly state: AttemptState
}

/** Sends the request to one channel. */
export async function attemptChannel(app: AttemptParts, begun: BegunAttempt): Promise<Attempted> {
  const keptReasoning = !begun.shared.leavesReasoning
  const first = await attemptOnce(app, begun)
  const { failure, state } = first
  const missing = missingEndpoint(app, state, failure)
  if (!missing && !(failure && isWorthRetry(app, state, failure))) return first
  const second = await attemptOnce(app, missing ? { ...begun, channel: withoutEndpoint(begun.channel, missing) } : begun)
  if (keptReasoning && begun.shared.leavesReasoning && !second.failure) noteReasoningLeft(second.state)
  return second
}

async function attemptOnce(app: PrepareParts & ExchangeParts, begun: BegunAttempt): Promise<Attempted> {
  const preparing = prepare(app, begun)
  const prepared = preparing instanceof Promise ? await preparing : preparing
  if (prepared instanceof UpstreamFailure) {
    const neverSent = { upstream: '', asked: begun.request.facts.model }
    return { failure: withCleanFacts(prepared, begun.channel, neverSent), state: stateOf(begun, { upstreamModel: '' }) }
  }
  const state = stateOf(begun, prepared)
  return { ...(await run(app, state, prepared)), state }
}

function stateOf(
  begun: BegunAttempt,
  { upstreamModel, dropped, translation, sentTools, raisedLimit }: WrittenFacts,
): AttemptState {
  const { request, channel } = begun
  const sent = modelSent(channel, upstreamModel)
  const answered = new AnsweredModel({ sent, others: request.facts.otherModels ?? [], key: channel.key })
  return { ...begun, answered, upstreamModel, dropped, translation, sentTools, raisedLimit }
}

/** The model that a name stands for; '' for the name of a deployment, which an admin has chosen freely. */
function modelSent({ provider }: BegunAttempt['channel'], name: string): string {
  return provider.namesDeployments && !provider.models.includes(name) ? '' : name
}

function run(app: ExchangeParts, attempt: AttemptState, prepared: Prepared): Promise<Ended> {
  const { request } = attempt
  const target = notingRepeats(attempt, attempt.trace ? traced(prepared.target, attempt.trace) : prepared.target)
  const own = attempt.trace ? tracedAdapter(prepared.adapter, attempt.trace) : prepared.adapter
  const noting = request.format.continues ? notingAdapter(app, attempt, own) : own
  const { completionRule } = app.moderation
  const adapter = completionRule ? moderatedAdapter(app, completionRule, request, noting) : noting
  if (request.facts.stream && request.format.stream) return attemptStream(app, attempt, target, adapter)
  return repliesIn(request) === 'bytes' ? attemptBytes(app, attempt, target) : attemptWhole(app, attempt, target, adapter)
}

/** When the request is sent again on another connection, the first try is recorded as a failed attempt. */
function notingRepeats({ request, channel, upstreamModel, noteRepeat }: AttemptState, target: AnyTarget): AnyTarget {
  const recorder = request.call.callRecorder?.attempt(channel)
  const repeats = () => noteRepeat(upstreamModel)
  if ('calls' in target) return { ...target, calls: target.calls.map((call) => ({ ...call, repeats, recorder })) }
  return { ...target, repeats, recorder }
}

/** With the headers by which the upstream continues the trace. */
function traced(target: AnyTarget, trace: AttemptTrace): AnyTarget {
  const withTrace = (call: Target): Target => ({ ...call, headers: { ...call.headers, ...trace.headersTo(call.url) } })
  return 'calls' in target ? { ...target, calls: target.calls.map(withTrace) } : withTrace(target)
}

/** Relays a binary reply. Its cost is known from the request, so every piece but the last passes at once. */
async function attemptBytes(
  app: SettleParts & Pick<GatewayParts, 'deadlines'> & { readonly undelivered: UndeliveredReplies },
  attempt: AttemptState,
  target: AnyTarget,
): Promise<Ended> {
  const { request } = attempt
  const { call } = request
  let exchange: Running | undefined
  let reply: BytesReply | undefined
  const outcome = await new Promise<'complete' | UpstreamFailure | 'gone'>((resolve) => {
    reply = new BytesReply(call, { now: app.steady, done: resolve })
    const started = exchangeOf(app, target, reply)
    exchange = started
    reply.attach(started)
    startFor(call, started, resolve)
  })
  call.onAborted(undefined)

  if (outcome === 'gone') return leave(app, attempt, exchange, noReply)
  if (outcome === 'complete') {
    const partial = { ...noReply, usage: exchange?.usage }
    const ending = await endingOf(request, partial)
    if (!(await isReading(call, app.deadlines, () => reply?.sendEarly()))) return leave(app, attempt, exchange, partial)
    if (reply && !call.isCommitted) {
      if (!(await settleReply(app, attempt, ending, reply.unsent))) return answered
    } else await settle(app, attempt, ending)
    reply?.close()
    return answered
  }
  const failure = cleanFailure(attempt, outcome)
  return call.isCommitted ? cutFile(app, attempt, failure) : { failure }
}

async function attemptWhole(
  app: UpstreamCallParts & SettleParts & Pick<ConversationParts, 'localResponses'> & { readonly undelivered: UndeliveredReplies },
  attempt: AttemptState,
  target: AnyTarget,
  adapter: ResponseAdapter,
): Promise<Ended> {
  const { request } = attempt
  const { call } = request
  let exchange: Running | undefined
  let reply: WholeReply | undefined
  const outcome = await new Promise<Whole | UpstreamFailure | 'gone'>((resolve) => {
    reply = new WholeReply(adapter, attempt.answered, resolve)
    const started = exchangeOf(app, target, reply)
    exchange = started
    startFor(call, started, resolve)
  })
  call.onAborted(undefined)

  if (outcome === 'gone') return leave(app, attempt, exchange, reply?.part() ?? noReply)
  if (outcome instanceof UpstreamFailure) {
    const lost = reply?.isBrokenOff ? reply.part() : undefined
    const failure = cleanFailure(attempt, outcome)
    return lost ? { failure, lost } : { failure }
  }

  const running = runsOn(attempt)
  if (running && (await running.catch((error: unknown) => disown(app, attempt, error)))) {
    request.lease?.noteTokens(request.inputTokens)
    call.answer(outcome.contentType, outcome.write(noUsage))
    return answered
  }
  const partial = whole({ ...outcome, usage: exchange?.usage ?? outcome.usage })
  const counting = endOf(request, partial, exchange)
  const ending = counting instanceof Promise ? await counting : counting
  const body = outcome.write(ending.usage)
  const reading = isReading(call, app.deadlines, () => call.answerEarly(outcome.contentType, body))
  if (!(reading instanceof Promise ? await reading : reading)) return leave(app, attempt, exchange, partial)
  const { contentType } = outcome
  const storing = storeAnswer(app, attempt, { whole: body })
  if (storing) await storing
  if (!(await settleReply(app, attempt, ending, { contentType, body }))) return answered
  call.answer(contentType, body)
  return answered
}

async function attemptStream(
  app: UpstreamCallParts & SettleParts & Pick<GatewayParts, 'callerLog'> & Pick<ConversationParts, 'localResponses'>,
  attempt: AttemptState,
  target: AnyTarget,
  adapter: ResponseAdapter,
): Promise<Ended> {
  const { request, channel } = attempt
  const { call } = request
  const { promise: ended, resolve: done, reject: unwritten } = Promise.withResolvers<StreamOutcome | 'gone'>()
  const mayBeFile = repliesIn(request) === 'bytes'
  const reply = new StreamReply(call, { adapter, answered: attempt.answered, mayBeFile, now: app.steady, done, unwritten })
  const exchange = exchangeOf(app, target, reply)
  reply.attach(exchange)
  startFor(call, exchange, (outcome) => {
    reply.abandon()
    done(outcome)
  })
  const { first_byte_timeout_ms: firstMs = 0 } = channel.setting
  const first = firstMs > 0 ? app.deadlines.after(firstMs, () => reply.giveUp()) : undefined
  const beats = keepAlive(app, attempt, { exchange, reply, heartbeat: adapter.heartbeat })
  let outcome: StreamOutcome | 'gone'
  try {
    outcome = await ended
  } catch (error) {
    disown(app, attempt, error)
  } finally {
    if (first) app.deadlines.cancel(first)
    app.deadlines.cancel(beats.deadline)
    call.onAborted(undefined)
  }

  const { arrived } = reply.interceptor
  if (outcome === 'gone') return (await isLeftOpen(app, attempt)) ? answered : leave(app, attempt, exchange, arrived)
  if (outcome === 'complete') return completeStream(app, attempt, { exchange, reply, partial: arrived })
  if (!(outcome instanceof UpstreamFailure))
    return completeStream(app, attempt, { exchange, reply, partial: whole(outcome) }, outcome.write)

  const failure = cleanFailure(attempt, outcome)
  if (reply.isFile && call.isCommitted) return cutFile(app, attempt, failure)
  if (!arrived.hasOutput) {
    await withdrawResponse(app, attempt)
    return { failure }
  }
  if (!(await isLeftOpen(app, attempt))) await settle(app, attempt, await endingOf(request, arrived, brokenOffBy(failure)))
  call.sendError(failure.forCaller({ promptTokens: request.inputTokens, sent: request.body.bytes }), (facts) =>
    reply.interceptor.writeError?.(facts),
  )
  app.callerLog.of(call.client).warn({ request: call.id, channel: channel.id, reason: failure.reason }, 'a stream was cut off')
  return { brokeOff: failure }
}

async function completeStream(
  app: SettleParts & Pick<GatewayParts, 'deadlines'> & Pick<ConversationParts, 'localResponses'>,
  attempt: AttemptState,
  { exchange, reply, partial }: { exchange: Running; reply: StreamReply; partial: PartialReply },
  write = (billed: Usage) => reply.interceptor.ending(billed),
): Promise<Ended> {
  const { request } = attempt
  // The rest of a stopped reply is not read. An upstream that leaves its connection open after the terminal event is cut off.
  if (partial.stopped) exchange.abort()
  else if (!exchange.isOver) app.deadlines.after(1000, () => exchange.abort())
  const counting = endOf(request, partial, exchange)
  const ending = counting instanceof Promise ? await counting : counting
  const last = write(ending.usage)
  const reading = isReading(request.call, app.deadlines, () => request.call.probe())
  if (!(reading instanceof Promise ? await reading : reading)) return leave(app, attempt, exchange, partial)
  const storing = storeAnswer(app, attempt, { last })
  if (storing) await storing
  const chargedMs = app.steady()
  await settle(app, attempt, ending)
  request.call.notes.commitMs = Math.max(0, app.steady() - chargedMs)
  reply.close(last)
  return answered
}

/** The failure without the channel's secrets, with the caller's and the upstream's model names. */
function cleanFailure({ request, channel, upstreamModel }: AttemptState, failure: UpstreamFailure): UpstreamFailure {
  const { format } = request.format
  const endpoint = mayBeMissing(format) ? format.slice(format.indexOf('.') + 1) : undefined
  return withCleanFacts(failure, channel, { upstream: upstreamModel, asked: request.facts.model, endpoint })
}

/**
 * Starts an exchange unless the call is aborted. When the call is aborted, aborts the exchange and calls `over` with the outcome of
 * the attempt.
 */
function startFor(call: ClientExchange, exchange: Running, over: (outcome: 'gone' | UpstreamFailure) => void): void {
  call.onAborted(() => {
    exchange.abort()
    over(call.isDisconnected ? 'gone' : serverStopping())
  })
  if (!call.isAborted) exchange.start()
}

function exchangeOf({ deadlines }: Pick<GatewayParts, 'deadlines'>, target: AnyTarget, receiver: Receiver): Running {
  if ('calls' in target) return new MultiExchange(deadlines, target, receiver)
  return target.framing === 'websocket'
    ? new WebSocketExchange(deadlines, target, receiver)
    : new HttpExchange(deadlines, target, receiver)
}

/** A response whose row could not be stored has no owner: its id was not sent, and it is cancelled at the upstream. */
function disown(
  app: UpstreamCallParts & Pick<GatewayParts, 'logger'> & { readonly pendingResponses: PendingResponses },
  attempt: AttemptState,
  error: unknown,
): never {
  background(app.logger, 'withdraw a response', withdrawResponse(app, attempt))
  throw error
}

/** A background response continues without its stream and is charged when it ends. When that is not possible, it is charged now. */
async function isLeftOpen(app: Pick<GatewayParts, 'logger'>, attempt: AttemptState): Promise<boolean> {
  try {
    return await runsOn(attempt)
  } catch (error) {
    app.logger.error({ error, request: attempt.request.call.id }, 'a response in the background is charged before its end')
    return false
  }
}

function whole({ usage, text }: Pick<Whole, 'usage' | 'text'>): PartialReply {
  return { usage, isComplete: () => true, text: () => text }
}
