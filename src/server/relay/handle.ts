import { reportFailure } from '../channels/health.ts'
import type { RunningChannel } from '../channels/model-index.ts'
import { AppError, fail } from '../lib/failure.ts'
import { background } from '../lib/logger.ts'
import { spliceMembers } from '../lib/splice-json.ts'
import type { Turn } from '../limits/turn.ts'
import { estimateOf, freePrice } from '../pricing/quote.ts'
import { ownError } from '../protocols/error-body.ts'
import { wireFormats } from '../protocols/index.ts'
import type { RelayCaller } from '../tokens/authenticate.ts'
import { admit } from './admit.ts'
import { settleLost } from './attempt.ts'
import type { Call } from './call.ts'
import { checkPrompt } from './check-prompt.ts'
import type { Endpoint } from './endpoints.ts'
import { estimatePrompt } from './estimate.ts'
import type { UpstreamFailure } from './failure.ts'
import { authenticateCall } from './identify.ts'
import { enterLimits, withinLimits } from './limits.ts'
import { readPlayground } from './playground.ts'
import { type Body, readBody } from './read-body.ts'
import type { RelayParts, Work } from './relay-parts.ts'
import { homeOf, namesHistory } from './response-home.ts'
import { Route } from './route.ts'

export type RelayEndpoint = Extract<Endpoint, { kind: 'relay' }>

/** The straight line of a relay request: authenticate, read, admit, quote, hold, attempt until answered, settle. */
export async function handleRelay(app: RelayParts, endpoint: RelayEndpoint, call: Call): Promise<void> {
  const caller = await authenticateCall(app, endpoint, call)
  const turn = app.limits.turnOf(caller, call.id)
  if (turn) await withinLimits(app, call, turn, () => answerCaller(app, endpoint, call, caller, turn))
  else await answerCaller(app, endpoint, call, caller, undefined)
}

async function answerCaller(
  app: RelayParts,
  endpoint: RelayEndpoint,
  call: Call,
  arrived: RelayCaller,
  turn: Turn | undefined,
): Promise<void> {
  const sent = withSaidModel(await readBody(call.request), endpoint)
  const { caller, body } = endpoint.from === 'session' ? readPlayground(app, arrived, sent) : { caller: arrived, body: sent }

  const work = await openWork(app, endpoint, { call, caller, body, turn })
  try {
    await attemptUntilAnswered(app, work)
  } catch (error) {
    await release(app, work)
    throw error
  }
}

/** Where OpenAI's address names the model, the body names it from here on. */
function withSaidModel(body: Body, { dialect, said }: RelayEndpoint): Body {
  if (dialect !== 'openai' || said?.model === undefined) return body
  const { model } = said
  return { ...body, json: { ...body.json, model }, bytes: spliceMembers(body.bytes, { model: JSON.stringify(model) }) }
}

/** Ends the hold without a charge. What cannot be written now stays queued; the caller is told what went wrong before. */
async function release(app: RelayParts, { hold }: Work): Promise<void> {
  try {
    await app.ledger.release(hold)
  } catch (error) {
    app.logger.error({ error, request: hold.requestId }, 'a hold is not released yet')
  }
}

/** What came from the caller. */
type Asked = Pick<Work, 'call' | 'caller' | 'body' | 'turn'>

/** Admits, prices and holds. Everything that may refuse the request happens here, before any upstream byte. */
async function openWork(app: RelayParts, endpoint: RelayEndpoint, asked: Asked): Promise<Work> {
  const { call, caller, body, turn } = asked
  const format = wireFormats[endpoint.format]
  const facts = format.readRequest(body.json, endpoint.said, body.form?.files)
  const asksFor = { model: facts.model, format: endpoint.format, body: body.json }
  const admitted = admit(app, caller, asksFor)
  const home = namesHistory(endpoint.format, body.json) ? await homeOf(app, caller, asksFor) : undefined
  const group = home?.group ?? admitted
  const { callsMax = 1 } = facts
  const prompt = format.promptText(body.json)
  const estimate = estimatePrompt(app, { facts, body: body.json, prompt, keptTokens: home?.tokens ?? 0 })
  const inputTokens = estimate.tokens
  const outputTokens = facts.outputTokensMax ?? app.options.current.PreConsumedQuota
  if (turn) await enterLimits(app, call, turn, { group, inputTokens, outputTokens })
  const checking = checkPrompt(app, call, prompt)
  if (checking) await checking
  const price = format.isFree
    ? freePrice(facts.model, group)
    : app.catalog.priceOf({ model: facts.model, group, acceptsUnpriced: caller.acceptsUnpriced })
  // What was learnt of a model is right for most prompts, and too little for some.
  const heldTokens = Math.max(inputTokens, estimate.plain)
  const amount = estimateOf(price, { inputTokens: heldTokens, outputTokensMax: outputTokens, calls: callsMax })
  const hold = { requestId: call.id, userId: caller.userId, tokenId: caller.tokenId, amount }
  await app.ledger.hold(hold)
  return { call, caller, body, format, facts, group, price, inputTokens, estimate, hold, turn, attempts: [], home }
}

/** Tries channels until one answers. Never again on a channel that failed while another is left; never after the first byte. */
async function attemptUntilAnswered(app: RelayParts, work: Work): Promise<void> {
  const { call, attempts } = work
  const isBound = work.caller.pinnedChannel !== 0 || work.home !== undefined
  const triesMax = isBound ? 1 : app.options.current.RetryTimes + 1
  const route = new Route(app, work)
  let last: UpstreamFailure | undefined
  let waitMs = 0

  for (let tries = 0; tries < triesMax; tries++) {
    const next = route.next()
    if (!next.channel) {
      waitMs = next.waitMs
      break
    }
    const { channel, choice } = next
    work.choice = choice
    const startedMs = app.now()
    const result = await route.attempt(channel)
    if (result === 'answered') {
      app.metrics.upstreamAttempts.inc({ outcome: 'answered' })
      return
    }
    last = result
    attempts.push({
      channel: channel.id,
      key: channel.keyId,
      status: result.status,
      reason: result.reason,
      ms: app.now() - startedMs,
      choice,
    })
    noteFailure(app, call, channel, result)
    if (!result.isRetryable || call.isCommitted || call.isGone) break
  }

  if (work.lost) await settleLost(app, work, work.lost)
  else await release(app, work)
  if (!last) {
    if (waitMs === 0) fail('no_channel', { model: work.facts.model, group: work.group })
    call.sendError(ownError(new AppError('upstream_saturated'), { retryAfter: Math.min(Math.ceil(waitMs / 1000), 3600) }))
    return
  }
  // Who has been tried for on several channels must not multiply that by tries of their own.
  const told = last.forCaller()
  call.sendError(attempts.length > 1 ? { ...told, final: true } : told, work.format.stream?.errorEvent)
}

/** Tells those who watch the channels of a failure that is none of the caller's. */
export function noteFailure(app: RelayParts, call: Call, channel: RunningChannel, failure: UpstreamFailure): void {
  app.metrics.upstreamAttempts.inc({ outcome: failure.kind })
  if (failure.isCallersMistake) return
  app.logger.warn({ request: call.id, channel: channel.id, reason: failure.reason }, 'a channel failed')
  const { message, code, type } = failure.facts
  background(app.logger, 'report a failed channel', reportFailure(app, channel, { status: failure.status, code, type, message }))
}

/** What the caller is told of an error that no step expected: its request id, nothing else. */
export function asAppError(app: RelayParts, call: Call, error: unknown): AppError {
  if (error instanceof AppError) return error
  app.logger.error({ error, request: call.id }, 'relay request failed')
  return new AppError('internal', { request: call.id }, { cause: error })
}
