import { noUsage } from '../../../contract/usage.ts'
import type { RunningChannel } from '../../channels/model-index.ts'
import { fail } from '../../lib/failure.ts'
import { eventsIn } from '../../lib/sse.ts'
import { objectAt } from '../../protocols/wire-format.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { RelayParts } from '../relay-parts.ts'
import type { ResponseAdapter } from '../response/adapter.ts'
import { parse } from '../response/sse-interceptor.ts'
import { type StreamOutcome, StreamReply } from '../response/stream.ts'
import { stoppedHere, UpstreamFailure, withCleanFacts } from '../upstream/failure.ts'
import { HttpExchange } from '../upstream/http-exchange.ts'
import { targetOf } from '../upstream/request-target.ts'
import type { PendingResponse } from './pending-responses.ts'
import { settleIfEnded } from './settle-pending.ts'
import { type AboutResponse, callAbout } from './upstream-calls.ts'

/** A response that is read as a stream, from its beginning or from an event on. */
export interface StreamedResponse {
  readonly call: ClientExchange
  readonly channel: RunningChannel
  readonly open: PendingResponse | undefined
  readonly at: AboutResponse
  readonly adapter: ResponseAdapter
}

/** Passes the events of a response on as they come; the last one waits for the charge, where there is one to come. */
export async function streamResponse(app: RelayParts, streamed: StreamedResponse): Promise<void> {
  const { call, channel, at, adapter } = streamed
  const target = await targetOf(app, channel, {
    ...callAbout('read', at),
    accept: 'text/event-stream',
    timeoutMs: silenceMs,
    totalMs,
  })
  if (target instanceof UpstreamFailure) return call.sendError(withCleanFacts(target, channel).forCaller())

  let finish: (outcome: StreamOutcome | 'gone') => void = () => {}
  let unwritten: (error: unknown) => void = () => {}
  const ended = new Promise<StreamOutcome | 'gone'>((resolve, reject) => {
    finish = resolve
    unwritten = reject
  })
  const reply = new StreamReply(call, { adapter, now: app.steady, done: finish, unwritten })
  const exchange = new HttpExchange(app.deadlines, target, reply)
  reply.attach(exchange)
  call.whenOver(() => {
    exchange.abort()
    reply.abandon()
    finish(call.isGone ? 'gone' : stoppedHere())
  })
  if (!call.isOver) exchange.start()
  const beat = () => {
    if (call.isBlocked && app.steady() - call.lastWriteMs >= blockedMaxMs) return call.drop()
    if (!call.isBlocked) reply.heartbeat(adapter.heartbeat)
    app.deadlines.refresh(beats, beatMs)
  }
  const beats = app.deadlines.after(beatMs, beat)
  const outcome = await ended
  app.deadlines.cancel(beats)
  call.whenOver(undefined)
  if (outcome !== 'gone') await end(app, streamed, reply, outcome)
}

async function end(app: RelayParts, streamed: StreamedResponse, reply: StreamReply, outcome: StreamOutcome): Promise<void> {
  const { call, channel, open, at } = streamed
  if (outcome instanceof UpstreamFailure) {
    const failure = withCleanFacts(outcome, channel)
    if (failure.status === 404 && !call.isCommitted) fail('response_unknown', { id: at.id.slice(0, 100) })
    return call.sendError(failure.forCaller(), (told) => reply.interceptor.writeError?.(told))
  }
  const usage = outcome === 'complete' ? reply.interceptor.usage : outcome.usage
  const last = outcome === 'complete' ? reply.interceptor.ending(usage ?? noUsage) : outcome.write(usage ?? noUsage)
  if (open) await settleStreamed(app, open, last)
  reply.close(last)
}

/** The last event holds the whole response. */
async function settleStreamed(app: RelayParts, open: PendingResponse, last: string): Promise<void> {
  for (const { data } of eventsIn(last)) {
    const response = objectAt(parse(data) ?? {}, 'response')
    if (response) await settleIfEnded(app, open, response)
  }
}

const silenceMs = 300_000
const totalMs = 3_600_000
const beatMs = 10_000
const blockedMaxMs = 300_000
