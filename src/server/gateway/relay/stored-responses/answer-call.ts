import { noUsage } from '../../../../contract/usage.ts'
import { membersOf, spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import { fail } from '../../../base/lib/failure.ts'
import { requireModel } from '../../../people/tokens/authenticate.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import { resolveModel } from '../../channels/select/select.ts'
import type { StoredFormat } from '../../protocols/format.ts'
import { formats, ownStoredForm, storedFormOf } from '../../protocols/index.ts'
import type { StoredForm } from '../../protocols/stored-form.ts'
import type { JsonObject, RequestFacts } from '../../protocols/wire-format.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import { authenticateCall, type CallerParts } from '../admission/authenticate.ts'
import { enterLimits, withinLimits } from '../admission/limits.ts'
import type { ConversationParts } from '../conversations/history.ts'
import { type AboutResponse, askAbout, callAbout, type UpstreamResponse } from '../conversations/upstream-responses.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { Endpoint } from '../http/endpoints.ts'
import type { ResponseAdapter, Whole } from '../response/adapter.ts'
import { moderatedAdapter } from '../response/moderated.ts'
import { replyAsStream } from '../response/pass-through.ts'
import { parse, StreamInterceptor } from '../response/sse-interceptor.ts'
import { type StreamOutcome, StreamReply } from '../response/stream.ts'
import { targetOf, type UpstreamCallParts } from '../upstream/call-upstream.ts'
import { errorInReply, parseObject, serverStopping, UpstreamFailure, withCleanFacts } from '../upstream/failure.ts'
import { HttpExchange } from '../upstream/http-exchange.ts'
import { callerHeaders } from '../upstream/request-target.ts'
import type { BackgroundRuns } from './background-run.ts'
import { answerLocal } from './local-calls.ts'
import type { PendingResponse } from './pending-responses.ts'
import { type PendingChargeParts, settleIfEnded } from './settle-pending.ts'

type ResponseEndpoint = Extract<Endpoint, { kind: 'response' }>

/** One call about a response that an upstream stores for the caller. */
interface About {
  readonly call: ClientExchange
  readonly kept: UpstreamResponse
  readonly channel: RunningChannel
  readonly open: PendingResponse | undefined
  readonly at: AboutResponse
  readonly adapter: ResponseAdapter
}

/** The parts that answering a call about a response uses. */
type ResponseCallParts = CallerParts &
  UpstreamCallParts &
  PendingChargeParts &
  Pick<GatewayParts, 'callerLog' | 'channels' | 'limits' | 'moderation'> &
  Pick<ConversationParts, 'localResponses'> & { readonly backgroundRuns: BackgroundRuns }

/**
 * Reads, cancels or deletes a response, or lists its input items: at the channel and with the key that made it, or from the responses that
 * this server stores. Responses of other users are unknown. The call is free; a background response that is found to have ended is charged
 * before its caller gets it.
 */
export async function handleResponse(app: ResponseCallParts, endpoint: ResponseEndpoint, call: ClientExchange): Promise<void> {
  const caller = await authenticateCall(app, { from: 'token' }, call)
  const lease = app.limits.leaseOf(caller, call.id)
  if (lease) await withinLimits(app, { call, lease }, () => answer(app, endpoint, { call, caller, lease }))
  else await answer(app, endpoint, { call, caller, lease })
}

async function answer(
  app: ResponseCallParts,
  { action, id, stored }: ResponseEndpoint,
  { call, caller, lease }: Pick<AdmittedRequest, 'call' | 'caller' | 'lease'>,
): Promise<void> {
  const group = caller.tokenGroup || caller.userGroup
  if (lease) await enterLimits(app, call, lease, { group, inputTokens: 0, outputTokens: 0 })
  const form = storedFormOf(stored)
  const kept = await app.upstreamResponses.find(caller.userId, form.keyOf(id))
  const isOwn = !kept && ownStoredForm(id) === form
  const own = isOwn ? await app.localResponses.find({ userId: caller.userId, id }) : undefined
  const model = kept?.model ?? own?.model
  if (model === undefined)
    return fail(app.localResponses.isOn ? 'response_unknown' : 'response_not_kept', { id: id.slice(0, 100) })
  call.notes.asked = { model }
  requireModel(caller, model)
  const query = queryOf(call, form)
  if (own) return answerLocal(app, call, own, { action, query })
  if (!kept) return
  const keys = app.channels.current.keysOf(kept.channelId)
  const channel = keys.find(({ keyId }) => keyId === kept.keyId) ?? keys[0]
  if (!channel) fail('no_channel', { model, group })

  const about: About = {
    call,
    kept,
    channel,
    open: await app.pendingResponses.find(caller.userId, id),
    at: { format: stored, id, model: resolveModel(channel, model), caller: callerHeaders({ call }), query },
    adapter: adapterFor(app, { call, model, channel, stored }),
  }
  if (action === 'delete') await remove(app, about)
  else if (action === 'read' && query.get('stream') === 'true') await streamResponse(app, about)
  else await relayWhole(app, about, action)
}

async function relayWhole(
  app: UpstreamCallParts & PendingChargeParts,
  about: About,
  action: 'read' | 'cancel' | 'items',
): Promise<void> {
  const { call, channel, open, at, adapter } = about
  const answer = await askAbout(app, channel, action, at)
  if (answer instanceof UpstreamFailure) return tell(about, answer)
  if (action === 'items') return call.answer('application/json', answer.body)
  if (open) await settleIfEnded(app, open, parseObject(answer.body))
  const whole = adapter.readWhole(answer.body, answer.contentType)
  call.answer(whole.contentType, whole.write(noUsage))
}

/** A running response is not deleted: nothing could be charged for it afterwards. */
async function remove(app: UpstreamCallParts & PendingChargeParts, about: About): Promise<void> {
  const { call, kept, channel, open, at } = about
  if (open) {
    const now = await askAbout(app, channel, 'read', { ...at, query: new URLSearchParams() })
    if (now instanceof UpstreamFailure) return tell(about, now)
    if (!(await settleIfEnded(app, open, parseObject(now.body)))) fail('response_running')
  }
  const answer = await askAbout(app, channel, 'delete', at)
  const isGone = answer instanceof UpstreamFailure && answer.status === 404
  if (!(answer instanceof UpstreamFailure) || isGone) await app.upstreamResponses.forget(kept)
  if (answer instanceof UpstreamFailure) return tell(about, answer)
  call.answer('application/json', answer.body)
}

/** An id that the upstream no longer knows is reported as unknown. */
function tell({ call, at }: About, failure: UpstreamFailure): void {
  if (failure.status === 404) fail('response_unknown', { id: at.id.slice(0, 100) })
  call.sendError(failure.forCaller())
}

/** Restores the caller's model name and filters listed words, as for an immediate answer. */
function adapterFor(
  app: Pick<GatewayParts, 'callerLog' | 'moderation'>,
  { call, model, channel, stored }: Pick<About, 'call' | 'channel'> & { readonly model: string; readonly stored: StoredFormat },
): ResponseAdapter {
  const format = formats[stored].wire
  const { stream } = format
  if (!stream) throw new Error('Stored answers are streamed')
  const facts: RequestFacts = {
    model,
    stream: true,
    outputTokensMax: undefined,
    mediaParts: 0,
    reasoningEffort: undefined,
    wantsUsage: true,
    streamOptions: undefined,
  }
  const edit = { hideUsage: false, renameTo: model }
  const adapter: ResponseAdapter = {
    readWhole: (body) => wholeOf(body, model, channel, storedFormOf(stored)),
    openInterceptor: () => new StreamInterceptor(stream, edit),
    readReplay(body) {
      const reply = parseObject(body)
      return { usage: format.readUsage(reply, facts), text: '', write: () => replyAsStream(stream, { ...reply, model }, edit) }
    },
    heartbeat: stream.heartbeat,
  }
  const { completionRule } = app.moderation
  return completionRule ? moderatedAdapter(app, completionRule, { call, format, facts }, adapter) : adapter
}

/** The answer for a response of any status, also failed or running. The error of a failed one is told as that of a call. */
function wholeOf(body: Buffer, model: string, channel: RunningChannel, form: StoredForm): Whole {
  const changed = {
    ...(membersOf(body)?.some(({ key }) => key === 'model') ? { model: JSON.stringify(model) } : {}),
    ...toldError(parseObject(body), channel, form),
  }
  const told = Object.keys(changed).length > 0 ? spliceMembers(body, changed) : body
  return { contentType: 'application/json', usage: undefined, text: '', write: () => told }
}

function toldError(response: JsonObject, channel: RunningChannel, form: StoredForm): Record<string, string> {
  const told = form.readFailure(response)
  if (!told) return {}
  const { message, code, type } = withCleanFacts(errorInReply(told), channel).forCaller()
  const members = form.failureMembers({ code: code ?? type, message: message.en })
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]))
}

/** Passes only the query parameters that the vendor knows. */
function queryOf({ request }: ClientExchange, { queryNames }: StoredForm): URLSearchParams {
  const url = request.url ?? ''
  const at = url.indexOf('?')
  const all = new URLSearchParams(at < 0 ? '' : url.slice(at))
  return new URLSearchParams([...all].filter(([name]) => queryNames.has(name)))
}

/** Streams a stored response, from its beginning or after a given event. */
interface StreamedResponse {
  readonly call: ClientExchange
  readonly channel: RunningChannel
  readonly open: PendingResponse | undefined
  readonly at: AboutResponse
  readonly adapter: ResponseAdapter
}

/** Passes the events of a response on; the last one waits until a pending response is charged. */
async function streamResponse(app: UpstreamCallParts & PendingChargeParts, streamed: StreamedResponse): Promise<void> {
  const { call, channel, at, adapter } = streamed
  const target = await targetOf(app, channel, {
    ...callAbout('read', at),
    accept: 'text/event-stream',
    timeoutMs: silenceMs,
    totalMs,
  })
  if (target instanceof UpstreamFailure) return call.sendError(withCleanFacts(target, channel).forCaller())

  const { promise: ended, resolve: finish, reject: unwritten } = Promise.withResolvers<StreamOutcome | 'gone'>()
  const reply = new StreamReply(call, { adapter, now: app.steady, done: finish, unwritten })
  const exchange = new HttpExchange(app.deadlines, target, reply)
  reply.attach(exchange)
  call.onAborted(() => {
    exchange.abort()
    reply.abandon()
    finish(call.isDisconnected ? 'gone' : serverStopping())
  })
  if (!call.isAborted) exchange.start()
  const beat = () => {
    if (call.isBlocked && app.steady() - call.lastWriteMs >= blockedMaxMs) return call.drop()
    if (!call.isBlocked) reply.heartbeat(adapter.heartbeat)
    app.deadlines.refresh(beats, beatMs)
  }
  const beats = app.deadlines.after(beatMs, beat)
  const outcome = await ended
  app.deadlines.cancel(beats)
  call.onAborted(undefined)
  if (outcome !== 'gone') await end(app, streamed, reply, outcome)
}

async function end(
  app: PendingChargeParts,
  streamed: StreamedResponse,
  reply: StreamReply,
  outcome: StreamOutcome,
): Promise<void> {
  const { call, channel, open, at } = streamed
  if (outcome instanceof UpstreamFailure) {
    const failure = withCleanFacts(outcome, channel)
    if (failure.status === 404 && !call.isCommitted) fail('response_unknown', { id: at.id.slice(0, 100) })
    return call.sendError(failure.forCaller(), (facts) => reply.interceptor.writeError?.(facts))
  }
  const usage = outcome === 'complete' ? reply.interceptor.arrived.usage : outcome.usage
  const last = outcome === 'complete' ? reply.interceptor.ending(usage ?? noUsage) : outcome.write(usage ?? noUsage)
  if (open) await settleStreamed(app, open, { last, form: storedFormOf(at.format) })
  reply.close(last)
}

/** The last event contains the whole response. */
async function settleStreamed(
  app: PendingChargeParts,
  open: PendingResponse,
  { last, form }: { readonly last: string; readonly form: StoredForm },
): Promise<void> {
  for (const { data } of eventsIn(last)) {
    const response = form.answerIn(parse(data) ?? {})
    if (response) await settleIfEnded(app, open, response)
  }
}

const silenceMs = 300_000
const totalMs = 3_600_000
const beatMs = 10_000
const blockedMaxMs = 300_000
