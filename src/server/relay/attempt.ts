import type { RunningChannel } from '../channels/model-index.ts'
import type { StreamFormat } from '../protocols/wire-format.ts'
import { type Came, endingOf, owedSoFar } from './ending.ts'
import { Exchange } from './exchange.ts'
import { UpstreamFailure, withCleanFacts } from './failure.ts'
import { prepare } from './prepare.ts'
import { chargeFor, type Ending } from './record.ts'
import type { RelayParts, Work } from './relay-parts.ts'
import { type StreamOutcome, StreamReply } from './stream-reply.ts'
import { type Whole, WholeReply } from './whole-reply.ts'

/** One try on one channel. */
interface Try {
  readonly app: RelayParts
  readonly work: Work
  readonly channel: RunningChannel
  readonly upstreamModel: string
}

type Result = 'answered' | UpstreamFailure

/**
 * Tries one channel. `answered`: the caller has their answer and the charge is durable, or the caller left and what was used is
 * charged. A failure: nothing was produced and nothing is charged, so another channel may try while nothing was sent.
 */
export function attempt(app: RelayParts, work: Work, channel: RunningChannel): Promise<Result> {
  const stream = work.facts.stream ? work.format.stream : null
  return stream ? attemptStream(app, work, channel, stream) : attemptWhole(app, work, channel)
}

async function attemptWhole(app: RelayParts, work: Work, channel: RunningChannel): Promise<Result> {
  const { call, facts } = work
  const { target, upstreamModel } = prepare(app, work, channel)
  const running = { app, work, channel, upstreamModel }
  let exchange: Exchange | undefined
  const outcome = await new Promise<Whole | UpstreamFailure | 'gone'>((resolve) => {
    const started = new Exchange(app.deadlines, target, new WholeReply(work.format, resolve))
    exchange = started
    call.whenGone(() => {
      started.abort()
      resolve('gone')
    })
    if (!call.isGone) started.start()
  })
  call.whenGone(undefined)

  if (outcome === 'gone') return settleGone(running, exchange, noReply)
  if (outcome instanceof UpstreamFailure) return withCleanFacts(outcome, channel)

  await settle(running, await endingOf(work, whole(outcome)))
  call.answer(outcome.contentType, upstreamModel === facts.model ? outcome.body : outcome.renamed(facts.model))
  return 'answered'
}

async function attemptStream(app: RelayParts, work: Work, channel: RunningChannel, format: StreamFormat): Promise<Result> {
  const { call, facts } = work
  const { target, upstreamModel, hidesUsage } = prepare(app, work, channel)
  const running = { app, work, channel, upstreamModel }
  let finish: (outcome: StreamOutcome | 'gone') => void = () => {}
  const ended = new Promise<StreamOutcome | 'gone'>((resolve) => {
    finish = resolve
  })
  const renameTo = upstreamModel === facts.model ? undefined : facts.model
  const reply = new StreamReply(call, {
    format: work.format,
    stream: format,
    hideUsage: hidesUsage,
    renameTo,
    now: app.now,
    done: finish,
  })
  const exchange = new Exchange(app.deadlines, target, reply)
  reply.attach(exchange)
  call.whenGone(() => {
    exchange.abort()
    finish('gone')
  })
  if (!call.isGone) exchange.start()
  const beats = keepAlive(running, exchange, reply, format)
  const outcome = await ended
  app.deadlines.cancel(beats.deadline)
  call.whenGone(undefined)

  if (outcome === 'gone') return settleGone(running, exchange, reply.tap)
  if (outcome === 'complete')
    return completeStream(running, exchange, reply, reply.tap, reply.tap.terminal ?? format.terminalText)
  if (!(outcome instanceof UpstreamFailure)) return completeStream(running, exchange, reply, whole(outcome), outcome.events)

  const failure = withCleanFacts(outcome, channel)
  if (!reply.tap.hasOutput) return failure
  await settle(running, await endingOf(work, reply.tap, 'upstream'))
  call.sendError(failure.forCaller())
  app.logger.warn({ request: call.id, channel: channel.id, reason: failure.reason }, 'a stream was cut off by the upstream')
  return 'answered'
}

async function completeStream(running: Try, exchange: Exchange, reply: StreamReply, came: Came, last: string): Promise<Result> {
  const { app, work } = running
  // An upstream that leaves its socket open behind the terminal event keeps nobody waiting.
  if (!exchange.isOver) app.deadlines.after(1000, () => exchange.abort())
  await settle(running, await endingOf(work, came))
  reply.close(last)
  return 'answered'
}

/**
 * The caller left: what the upstream may bill is charged, the prompt and the output that had come. A request that never reached the
 * upstream costs nothing.
 */
async function settleGone(running: Try, exchange: Exchange | undefined, came: Came): Promise<Result> {
  const { app, work } = running
  if (exchange?.wasSent) await settle(running, await endingOf(work, came, 'client'))
  else await app.ledger.release(work.hold)
  return 'answered'
}

function settle({ app, work, channel, upstreamModel }: Try, ending: Ending): Promise<void> {
  return app.ledger.settle(work.hold, chargeFor(app, work, channel, upstreamModel, ending))
}

const noReply: Came = { usage: undefined, isComplete: () => false, text: () => '' }

function whole({ usage, text }: Pick<Whole, 'usage' | 'text'>): Came {
  return { usage, isComplete: () => true, text: () => text }
}

/**
 * Every five seconds: a heartbeat after ten silent ones, a note of what the stream owes so far should this process die, and a look at
 * the caller. Who has taken nothing for minutes has left, whatever their connection says.
 */
function keepAlive({ app, work, channel, upstreamModel }: Try, exchange: Exchange, reply: StreamReply, format: StreamFormat) {
  const { call } = work
  const beat = () => {
    if (call.isGone) return
    const silentMs = app.now() - call.lastWriteMs
    if (call.isBlocked && silentMs >= blockedMaxMs) return call.drop()
    if (!call.isBlocked && silentMs >= heartbeatAfterMs) reply.heartbeat(format.heartbeat)
    if (exchange.wasSent) checkpoint()
    app.deadlines.refresh(beats.deadline, checkpointEveryMs)
  }
  const checkpoint = () => {
    try {
      app.ledger.checkpoint(work.hold, chargeFor(app, work, channel, upstreamModel, owedSoFar(work, reply.tap)))
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
