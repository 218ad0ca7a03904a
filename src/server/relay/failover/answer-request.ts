import { seconds } from '../../lib/clock.ts'
import { AppError, fail } from '../../lib/failure.ts'
import { toByteText } from '../../lib/sse.ts'
import { type CallerError, ownError } from '../../protocols/error-body.ts'
import { inWordsOf } from '../../protocols/error-words.ts'
import { failedStream } from '../../protocols/openai-responses/failed-stream.ts'
import type { RelayParts, Work } from '../relay-parts.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import { noteFailure } from '../upstream/note-failure.ts'
import { settleLost } from './attempt.ts'
import { Route } from './channel-attempts.ts'

/** Answers a request that holds its quota. Throws what nobody expected, and then nothing is held any more. */
export async function answerWork(app: RelayParts, work: Work): Promise<void> {
  try {
    await attemptUntilAnswered(app, work)
  } catch (error) {
    await release(app, work)
    throw error
  } finally {
    work.media?.close()
  }
}

/**
 * Tries channels until one answers. Never again on a channel that failed while another is left; never after the first byte. A channel that
 * is full was not tried.
 */
async function attemptUntilAnswered(app: RelayParts, work: Work): Promise<void> {
  const { call, attempts } = work
  const isBound = work.caller.pinnedChannel !== 0 || work.home !== undefined
  const triesMax = isBound ? 1 : app.options.current.RetryTimes + 1
  const route = new Route(app, work)
  let last: UpstreamFailure | undefined
  let waitMs = 0

  while (attempts.length < triesMax) {
    const next = route.next()
    if (!next.channel) {
      waitMs = next.waitMs
      break
    }
    const { channel, choice } = next
    work.choice = choice
    const startedMs = app.steady()
    const result = await route.attempt(channel, choice)
    if (result === 'full') continue
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
      ms: app.steady() - startedMs,
      choice,
    })
    noteFailure(app, call, channel, result)
    if (!result.isRetryable || call.isCommitted || call.isOver) break
  }

  if (work.lost) await settleLost(app, work, work.lost)
  else await release(app, work)
  if (!last) {
    if (waitMs === 0) fail('no_channel', { model: work.facts.model, group: work.group })
    call.sendError(ownError(new AppError('upstream_saturated'), { retryAfter: Math.min(Math.ceil(waitMs / 1000), 3600) }))
    return
  }
  // Who has been tried for on several channels must not multiply that by tries of their own.
  const told = last.forCaller(work.inputTokens)
  if (isToldInStream(work, told)) return failInStream(work, told)
  call.sendError(attempts.length > 1 ? { ...told, final: true } : told, work.format.stream?.errorEvent)
}

/** Clients of Responses compact a conversation that is too long when a stream says so, and not when a status does. */
function isToldInStream({ format, facts, keeps }: Work, { known }: CallerError): boolean {
  const isForeground = keeps?.isBackground !== true
  return known?.kind === 'context-too-long' && format.format === 'openai.responses' && facts.stream && isForeground
}

function failInStream(work: Work, told: CallerError): void {
  const { call, body, facts } = work
  const { message, ...error } = inWordsOf('openai', told)
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

/** Ends the hold without a charge. What cannot be written now stays queued; the caller is told what went wrong before. */
export async function release(app: RelayParts, { hold }: Work): Promise<void> {
  try {
    await app.ledger.release(hold)
  } catch (error) {
    app.logger.error({ error, request: hold.requestId }, 'a hold is not released yet')
  }
}
