import { noUsage, type Usage } from '../../../contract/usage.ts'
import { mayBeMissing, withoutEndpoint } from '../../channels/lacking.ts'
import type { RunningChannel } from '../../channels/model-index.ts'
import { background } from '../../lib/logger.ts'
import type { Charge } from '../../wallet/ledger.ts'
import { chargeFor, type Ending } from '../charge/charge-row.ts'
import { endingOf, learnFrom, owedSoFar, plausibleEnding } from '../charge/settlement.ts'
import type { Call } from '../http/client-exchange.ts'
import { isReading } from '../http/half-closed.ts'
import { isSettled } from '../idempotency/undelivered.ts'
import { type LostAnswer, type RelayParts, repliesIn, type Work } from '../relay-parts.ts'
import type { Came, Passage, Whole } from '../response/adapter.ts'
import { BytesReply } from '../response/bytes.ts'
import { checkedPassage } from '../response/moderated.ts'
import { type StreamOutcome, StreamReply } from '../response/stream.ts'
import { WholeReply } from '../response/whole.ts'
import { noteSettled, notingPassage, runsOn, withdrawResponse } from '../stored-responses/note-upstream-response.ts'
import { keepAnswer } from '../stored-responses/store-answer.ts'
import { stoppedHere, UpstreamFailure, withCleanFacts } from '../upstream/failure.ts'
import { Exchange, type Receiver, type Running, type Target } from '../upstream/http-exchange.ts'
import { ConvertedExchange, type ConvertedTarget } from '../upstream/multi-exchange.ts'
import { SocketExchange } from '../upstream/websocket-exchange.ts'
import { isWorthSecondTry, missingEndpoint } from './adaptive-retry.ts'
import { prepare } from './prepare-attempt.ts'

/** One try on one channel. */
interface Try {
  readonly app: RelayParts
  readonly work: Work
  readonly channel: RunningChannel
  readonly upstreamModel: string
}

type Result = 'answered' | UpstreamFailure
type AnyTarget = Target | ConvertedTarget

/**
 * Tries one channel. `answered`: the caller has their answer and the charge is durable, or the caller left and what was used is
 * charged. A failure: nothing was produced and nothing is charged, so another channel may try while nothing was sent.
 */
export async function attempt(app: RelayParts, work: Work, channel: RunningChannel): Promise<Result> {
  const result = await attemptOnce(app, work, channel)
  const missing = missingEndpoint(app, work, channel, result)
  if (missing) return attemptOnce(app, work, withoutEndpoint(channel, missing))
  if (result === 'answered' || !isWorthSecondTry(app, work, channel, result)) return result
  return attemptOnce(app, work, channel)
}

async function attemptOnce(app: RelayParts, work: Work, channel: RunningChannel): Promise<Result> {
  const prepared = await prepare(app, work, channel)
  if (prepared instanceof UpstreamFailure) return withCleanFacts(prepared, channel)
  const { upstreamModel } = prepared
  const running = { app, work, channel, upstreamModel }
  const target = notingRepeats(running, prepared.target)
  const passage = checkedPassage(app, work, notingPassage(running, prepared.passage))
  if (work.facts.stream && work.format.stream) return attemptStream(running, target, passage)
  return repliesIn(work) === 'bytes' ? attemptBytes(running, target) : attemptWhole(running, target, passage)
}

/** A request that is sent a second time on another connection of its channel counts as an attempt, and stands in the chain of the log row. */
function notingRepeats({ app, work, channel }: Try, target: AnyTarget): AnyTarget {
  const startedMs = app.steady()
  const repeats = () => {
    app.metrics.upstreamAttempts.inc({ outcome: 'unreachable' })
    work.attempts.push({
      channel: channel.id,
      key: channel.keyId,
      status: 0,
      reason: 'kept_connection_closed',
      ms: app.steady() - startedMs,
      choice: work.choice ?? 'only',
    })
  }
  if ('calls' in target) return { ...target, calls: target.calls.map((call) => ({ ...call, repeats })) }
  return { ...target, repeats }
}

/** An answer of bytes: what it costs is known from the request, so that it passes as it comes, all but its last piece. */
async function attemptBytes(running: Try, target: AnyTarget): Promise<Result> {
  const { app, work } = running
  const { call } = work
  let exchange: Running | undefined
  let reply: BytesReply | undefined
  const outcome = await new Promise<'complete' | UpstreamFailure | 'gone'>((resolve) => {
    reply = new BytesReply(call, { now: app.steady, done: resolve })
    const started = exchangeOf(app, target, reply)
    exchange = started
    reply.attach(started)
    startFor(call, started, resolve)
  })
  call.whenOver(undefined)

  if (outcome === 'gone') return settleGone(running, exchange, noReply)
  if (outcome === 'complete') {
    const came = { ...noReply, usage: exchange?.usage }
    const ending = await endingOf(work, came)
    if (!(await isReading(call, app.deadlines, () => reply?.sendEarly()))) return settleGone(running, exchange, came)
    if (reply && !call.isCommitted) {
      if (!(await settleReply(running, ending, reply.unsent))) return 'answered'
    } else await settle(running, ending)
    reply?.close()
    return 'answered'
  }
  const failure = cleanFailure(running, outcome)
  if (!call.isCommitted) return failure
  work.brokeOff = failure
  await settle(running, await endingOf(work, noReply, brokenOffBy(failure)))
  // Half a file must not look like a whole one.
  call.drop()
  return 'answered'
}

async function attemptWhole(running: Try, target: AnyTarget, passage: Passage): Promise<Result> {
  const { app, work, channel, upstreamModel } = running
  const { call } = work
  let exchange: Running | undefined
  let reply: WholeReply | undefined
  const outcome = await new Promise<Whole | UpstreamFailure | 'gone'>((resolve) => {
    reply = new WholeReply(passage, resolve)
    const started = exchangeOf(app, target, reply)
    exchange = started
    startFor(call, started, resolve)
  })
  call.whenOver(undefined)

  if (outcome === 'gone') return settleGone(running, exchange, reply?.part() ?? noReply)
  if (outcome instanceof UpstreamFailure) {
    const came = reply?.isBrokenOff ? reply.part() : undefined
    if (came) work.lost = { channel, upstreamModel, translation: work.translation, came }
    return cleanFailure(running, outcome)
  }

  if (await runsOn(work).catch((error: unknown) => disown(running, error))) {
    work.turn?.used(work.inputTokens)
    call.answer(outcome.contentType, outcome.write(noUsage))
    return 'answered'
  }
  const came = whole({ ...outcome, usage: outcome.usage ?? exchange?.usage })
  const ending = await endingOf(work, came)
  const body = outcome.write(ending.usage)
  const isThere = isReading(call, app.deadlines, () => call.answerEarly(outcome.contentType, body))
  if (!(await isThere)) return settleGone(running, exchange, came)
  const { contentType } = outcome
  if (!(await settleReply(running, ending, { contentType, body }))) return 'answered'
  await keepAnswer(app, work, { whole: body })
  call.answer(contentType, body)
  return 'answered'
}

async function attemptStream(running: Try, target: AnyTarget, passage: Passage): Promise<Result> {
  const { app, work, channel } = running
  const { call } = work
  let finish: (outcome: StreamOutcome | 'gone') => void = () => {}
  let unwritten: (error: unknown) => void = () => {}
  const ended = new Promise<StreamOutcome | 'gone'>((resolve, reject) => {
    finish = resolve
    unwritten = reject
  })
  const reply = new StreamReply(call, { passage, now: app.steady, done: finish, unwritten })
  const exchange = exchangeOf(app, target, reply)
  reply.attach(exchange)
  startFor(call, exchange, (outcome) => {
    reply.abandon()
    finish(outcome)
  })
  const { first_byte_timeout_ms: firstMs = 0 } = channel.setting
  const first = firstMs > 0 ? app.deadlines.after(firstMs, () => reply.giveUp()) : undefined
  call.heartbeat = passage.heartbeat
  const beats = keepAlive(running, exchange, reply, passage.heartbeat)
  const outcome = await ended
    .catch((error: unknown) => disown(running, error))
    .finally(() => {
      if (first) app.deadlines.cancel(first)
      app.deadlines.cancel(beats.deadline)
      call.whenOver(undefined)
    })

  if (outcome === 'gone') return (await isLeftOpen(running)) ? 'answered' : settleGone(running, exchange, reply.tap)
  if (outcome === 'complete') return completeStream(running, exchange, reply, reply.tap)
  if (!(outcome instanceof UpstreamFailure)) return completeStream(running, exchange, reply, whole(outcome), outcome.write)

  const failure = cleanFailure(running, outcome)
  if (!reply.tap.hasOutput) {
    await withdrawResponse(running)
    return failure
  }
  work.brokeOff = failure
  if (!(await isLeftOpen(running))) await settle(running, await endingOf(work, reply.tap, brokenOffBy(failure)))
  call.sendError(failure.forCaller(work.inputTokens), (told) => reply.tap.writeError?.(told))
  app.callerLog.of(call.client).warn({ request: call.id, channel: channel.id, reason: failure.reason }, 'a stream was cut off')
  return 'answered'
}

async function completeStream(
  running: Try,
  exchange: Running,
  reply: StreamReply,
  came: Came,
  write = (billed: Usage) => reply.tap.ending(billed),
): Promise<Result> {
  const { app, work } = running
  // Nobody reads on what was stopped. An upstream that leaves its socket open behind the terminal event keeps nobody waiting.
  if (came.stopped) exchange.abort()
  else if (!exchange.isOver) app.deadlines.after(1000, () => exchange.abort())
  const ending = await endingOf(work, came)
  const last = write(ending.usage)
  if (!(await isReading(work.call, app.deadlines, () => work.call.probe()))) return settleGone(running, exchange, came)
  await settle(running, ending)
  await keepAnswer(app, work, { last })
  reply.close(last)
  return 'answered'
}

/** Charges what came of an answer of which the caller has nothing, because no channel could answer after it. */
export async function settleLost(app: RelayParts, work: Work, { came, translation, ...answered }: LostAnswer): Promise<void> {
  const ending = await endingOf(work, came, 'upstream')
  await settle({ app, work: { ...work, translation, isLost: true }, ...answered }, ending)
}

/**
 * The caller left: what the upstream may bill is charged, the prompt and the output that had come. A request that never reached the
 * upstream costs nothing.
 */
async function settleGone(running: Try, exchange: Running | undefined, came: Came): Promise<Result> {
  const { app, work } = running
  if (exchange?.wasSent) await settle(running, await endingOf(work, came, 'client'))
  else await app.ledger.release(work.hold)
  return 'answered'
}

/** A failure without the channel's secrets, that knows under which names the model goes. */
function cleanFailure({ work, channel, upstreamModel }: Try, failure: UpstreamFailure): UpstreamFailure {
  const { format } = work.format
  const endpoint = mayBeMissing(format) ? format.slice(format.indexOf('.') + 1) : undefined
  return withCleanFacts(failure, channel, { upstream: upstreamModel, asked: work.facts.model, endpoint })
}

/** Starts an exchange, unless the call is over; when it is, the exchange is broken off, and `over` is told what that means for the attempt. */
function startFor(call: Call, exchange: Running, over: (outcome: 'gone' | UpstreamFailure) => void): void {
  call.whenOver(() => {
    exchange.abort()
    over(call.isGone ? 'gone' : stoppedHere())
  })
  if (!call.isOver) exchange.start()
}

function brokenOffBy({ kind }: UpstreamFailure): 'node' | 'upstream' {
  return kind === 'stopped' ? 'node' : 'upstream'
}

function exchangeOf({ deadlines }: RelayParts, target: AnyTarget, receiver: Receiver): Running {
  if ('calls' in target) return new ConvertedExchange(deadlines, target, receiver)
  return target.framing === 'websocket'
    ? new SocketExchange(deadlines, target, receiver)
    : new Exchange(deadlines, target, receiver)
}

/** A response that could not be written down is nobody's: its name was not told, and it is to end. */
function disown(running: Try, error: unknown): never {
  background(running.app.logger, 'withdraw a response', withdrawResponse(running))
  throw error
}

/** A response in the background goes on without its stream, and is charged when it ends; what cannot be left is charged now. */
async function isLeftOpen({ app, work }: Try): Promise<boolean> {
  try {
    return await runsOn(work)
  } catch (error) {
    app.logger.error({ error, request: work.call.id }, 'a response in the background is charged before its end')
    return false
  }
}

/** Settles for a reply that nothing was sent of. False when the caller was told that it cannot be delivered now. */
function settleReply(running: Try, ending: Ending, reply: { contentType: string; body: Buffer }): Promise<boolean> {
  const { app, work, channel } = running
  const { charge, settled } = beginSettling(running, ending)
  return isSettled(app, work, { settled, charge, reply, channel })
}

function settle(running: Try, ending: Ending): Promise<void> {
  return beginSettling(running, ending).settled
}

function beginSettling({ app, work, channel, upstreamModel }: Try, came: Ending): { charge: Charge; settled: Promise<void> } {
  const ending = plausibleEnding(came, work.bound)
  const charge = chargeFor(app, work, channel, upstreamModel, ending)
  work.turn?.used(charge.rollup.tokens)
  learnFrom(app, work, ending)
  app.traffic.used(channel, charge.rollup.tokens - work.inputTokens)
  const settled = app.ledger.settle(work.hold, charge)
  if (!work.response) return { charge, settled }
  return { charge, settled: noteSettled({ app, work, channel }, charge.rollup.tokens, settled) }
}

const noReply: Came = { usage: undefined, isComplete: () => false, text: () => '' }

function whole({ usage, text }: Pick<Whole, 'usage' | 'text'>): Came {
  return { usage, isComplete: () => true, text: () => text }
}

/**
 * Every five seconds: a heartbeat after ten silent ones, a note of what the stream owes so far should this process die, and a look at
 * the caller. Who has taken nothing for minutes has left, whatever their connection says.
 */
function keepAlive({ app, work, channel, upstreamModel }: Try, exchange: Running, reply: StreamReply, heartbeat: string) {
  const { call } = work
  const { first_byte_timeout_ms: firstMs = 0 } = channel.setting
  const isAwaited = work.keeps?.isBackground !== true
  // A heartbeat opens the answer: while another channel may still take over for one that is late, there is none.
  const silenceMaxMs = () => (reply.tap.hasOutput ? heartbeatAfterMs : Math.max(heartbeatAfterMs, firstMs))
  const beat = () => {
    if (call.isGone) return
    const silentMs = app.steady() - call.lastWriteMs
    if (call.isBlocked && silentMs >= blockedMaxMs) return call.drop()
    if (!call.isBlocked && isAwaited && silentMs >= silenceMaxMs()) reply.heartbeat(heartbeat)
    // What runs on is charged by its row when this process dies.
    if (exchange.wasSent && !work.response?.written) checkpoint()
    app.deadlines.refresh(beats.deadline, checkpointEveryMs)
  }
  const checkpoint = () => {
    try {
      const owed = plausibleEnding(owedSoFar(work, reply.tap), work.bound)
      app.ledger.checkpoint(work.hold, chargeFor(app, work, channel, upstreamModel, owed))
    } catch (error) {
      // Without a note the stream goes on; out of a timer the error would end the process.
      app.logger.error({ error, request: call.id }, 'a checkpoint failed')
    }
  }
  const beats = { deadline: app.deadlines.after(checkpointEveryMs, beat) }
  return beats
}

const heartbeatAfterMs = 10_000
const checkpointEveryMs = 5_000
const blockedMaxMs = 300_000
