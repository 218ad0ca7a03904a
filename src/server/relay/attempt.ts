import { noUsage, type Usage } from '../../contract/usage.ts'
import type { RunningChannel } from '../channels/model-index.ts'
import { countTokens, estimateText } from '../protocols/count-tokens.ts'
import type { StreamFormat } from '../protocols/wire-format.ts'
import { Exchange } from './exchange.ts'
import { UpstreamFailure, withoutSecrets } from './failure.ts'
import { prepare } from './prepare.ts'
import { chargeFor, type Ending } from './record.ts'
import type { RelayParts, Work } from './relay-parts.ts'
import { type StreamOutcome, StreamReply } from './stream-reply.ts'
import { type Whole, WholeReply } from './whole-reply.ts'

/**
 * Tries one channel. `answered`: the caller has their answer and the charge is durable, or the caller left and what was used is
 * charged. A failure: nothing was sent and nothing is charged, so another channel may try.
 */
export function attempt(app: RelayParts, work: Work, channel: RunningChannel): Promise<'answered' | UpstreamFailure> {
  const stream = work.facts.stream ? work.format.stream : null
  return stream ? attemptStream(app, work, channel, stream) : attemptWhole(app, work, channel)
}

async function attemptWhole(app: RelayParts, work: Work, channel: RunningChannel): Promise<'answered' | UpstreamFailure> {
  const { call, facts } = work
  const { target, upstreamModel } = prepare(app, work, channel)
  let exchange: Exchange | undefined
  const outcome = await new Promise<Whole | UpstreamFailure | 'gone'>((resolve) => {
    const running = new Exchange(app.deadlines, target, new WholeReply(work.format, resolve))
    exchange = running
    call.whenGone(() => {
      running.abort()
      resolve('gone')
    })
    if (!call.isGone) running.start()
  })
  call.whenGone(undefined)

  if (outcome === 'gone') return settleGone(app, work, channel, upstreamModel, exchange, '')
  if (outcome instanceof UpstreamFailure) return withCleanFacts(outcome, channel)

  const usage = outcome.usage ?? (await countUsage(work, outcome.text()))
  await app.ledger.settle(
    work.hold,
    chargeFor(app, work, channel, upstreamModel, { usage, isEstimated: outcome.usage === undefined }),
  )
  const body = upstreamModel === facts.model ? outcome.body : outcome.renamed(facts.model)
  call.answer(outcome.contentType, body)
  return 'answered'
}

async function attemptStream(
  app: RelayParts,
  work: Work,
  channel: RunningChannel,
  format: StreamFormat,
): Promise<'answered' | UpstreamFailure> {
  const { call, facts } = work
  const { target, upstreamModel, hidesUsage } = prepare(app, work, channel)
  let finish: (outcome: StreamOutcome | 'gone') => void = () => {}
  const ended = new Promise<StreamOutcome | 'gone'>((resolve) => {
    finish = resolve
  })
  const reply = new StreamReply(call, {
    format,
    hideUsage: hidesUsage,
    renameTo: upstreamModel === facts.model ? undefined : facts.model,
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
  const beats = keepAlive(app, work, channel, upstreamModel, reply, format)
  const outcome = await ended
  app.deadlines.cancel(beats.deadline)
  call.whenGone(undefined)

  if (outcome === 'gone') return settleGone(app, work, channel, upstreamModel, exchange, reply.tap.text(), reply.tap.usage)
  if (outcome === 'complete') return completeStream(app, work, channel, upstreamModel, exchange, reply, format)
  if (!call.isCommitted) return withCleanFacts(outcome, channel)

  const failure = withCleanFacts(outcome, channel)
  const ending = await endingOf(work, reply.tap.usage, reply.tap.text(), 'upstream')
  await app.ledger.settle(work.hold, chargeFor(app, work, channel, upstreamModel, ending))
  call.sendError(failure.forCaller())
  app.logger.warn({ request: call.id, channel: channel.id, reason: failure.reason }, 'a stream was cut off by the upstream')
  return 'answered'
}

async function completeStream(
  app: RelayParts,
  work: Work,
  channel: RunningChannel,
  upstreamModel: string,
  exchange: Exchange,
  reply: StreamReply,
  format: StreamFormat,
): Promise<'answered'> {
  const { call } = work
  const ending = await endingOf(work, reply.tap.usage, () => reply.tap.text())
  await app.ledger.settle(work.hold, chargeFor(app, work, channel, upstreamModel, ending))
  call.end(reply.tap.terminal ?? Buffer.from(format.terminalText))
  // An upstream that leaves its socket open behind the terminal event keeps nobody waiting.
  app.deadlines.after(1000, () => exchange.abort())
  return 'answered'
}

/**
 * The caller left: what the upstream may bill is charged, the prompt and the output that had come. A request that never reached the
 * upstream costs nothing.
 */
async function settleGone(
  app: RelayParts,
  work: Work,
  channel: RunningChannel,
  upstreamModel: string,
  exchange: Exchange | undefined,
  text: string,
  usage?: Usage,
): Promise<'answered'> {
  if (!exchange?.wasSent) {
    await app.ledger.release(work.hold)
    return 'answered'
  }
  const ending = await endingOf(work, usage, text, 'client')
  await app.ledger.settle(work.hold, chargeFor(app, work, channel, upstreamModel, ending))
  return 'answered'
}

/** The upstream's numbers when it gave any; else a count of what was read and produced. */
async function endingOf(
  work: Work,
  usage: Usage | undefined,
  text: string | (() => string),
  interrupted?: Ending['interrupted'],
): Promise<Ending> {
  if (usage && !interrupted) return { usage, isEstimated: false }
  const counted = await countUsage(work, typeof text === 'string' ? text : text())
  const best = usage ? { ...usage, output: Math.max(usage.output, counted.output) } : counted
  return { usage: best, isEstimated: true, ...(interrupted ? { interrupted } : {}) }
}

async function countUsage(work: Work, output: string): Promise<Usage> {
  const { format, facts, body } = work
  const prompt = format.promptText(body.json).join('\n')
  return { ...noUsage, input: (await countTokens(prompt, facts.model)) + 3, output: await countTokens(output, facts.model) }
}

/** Heartbeats after ten silent seconds; and every five seconds a note of what the stream owes so far, should this process die. */
function keepAlive(
  app: RelayParts,
  work: Work,
  channel: RunningChannel,
  upstreamModel: string,
  reply: StreamReply,
  format: StreamFormat,
) {
  const { call } = work
  const beat = () => {
    if (call.isGone) return
    if (app.now() - call.lastWriteMs >= heartbeatAfterMs) reply.heartbeat(format.heartbeat)
    checkpoint()
    app.deadlines.refresh(beats.deadline, checkpointEveryMs)
  }
  const checkpoint = () => {
    const counted = { ...noUsage, input: work.inputTokens, output: Math.ceil(estimateText(reply.tap.text())) }
    const usage = reply.tap.usage ? { ...reply.tap.usage, output: Math.max(reply.tap.usage.output, counted.output) } : counted
    app.ledger.checkpoint(
      work.hold,
      chargeFor(app, work, channel, upstreamModel, { usage, isEstimated: true, interrupted: 'node' }),
    )
  }
  const beats = { deadline: app.deadlines.after(checkpointEveryMs, beat) }
  return beats
}

const heartbeatAfterMs = 10_000
const checkpointEveryMs = 5_000

function withCleanFacts(failure: UpstreamFailure, channel: RunningChannel): UpstreamFailure {
  const message = withoutSecrets(failure.facts.message, channel)
  return new UpstreamFailure(failure.kind, {
    status: failure.status,
    isMapped: failure.isMapped,
    facts: { ...failure.facts, message },
    retryAfter: failure.retryAfter,
    cause: failure.cause,
  })
}
