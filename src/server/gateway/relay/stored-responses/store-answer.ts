import { membersOf, memberValue } from '../../../base/lib/bytes/splice-json.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import { fail } from '../../../base/lib/failure.ts'
import { background } from '../../../base/lib/log/logger.ts'
import { withActiveTimeout } from '../../../base/lib/time/active-time.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { candidatesOf } from '../../channels/select/candidates.ts'
import type { CallerFormat, StoredFormat } from '../../protocols/format.ts'
import { formats, storedFormOf } from '../../protocols/index.ts'
import { arrayAt, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import type { Billed } from '../charge/billed.ts'
import { boundOf } from '../charge/settlement.ts'
import type { ConversationParts } from '../conversations/history.ts'
import type { LocalResponse } from '../conversations/local-response.ts'
import { cancelResponse, itemIdsIn, keptMessage, type UpstreamResponse } from '../conversations/upstream-responses.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ResponseAdapter, StreamObserver } from '../response/adapter.ts'
import type { AttemptState, NotedResponse } from '../response/attempt-state.ts'
import { replyShapeOf } from '../response/pass-through.ts'
import { parse } from '../response/sse-interceptor.ts'
import type { UpstreamCallParts } from '../upstream/call-upstream.ts'
import { callerHeaders } from '../upstream/request-target.ts'
import type { PendingResponses } from './pending-responses.ts'

/**
 * Stores the answer of a translated turn in the caller's format, before its charge: a whole one, or the last events of a stream. It
 * exists once it is charged. An answer that cannot be stored in time is charged and sent nevertheless.
 */
export function storeAnswer(
  app: Pick<GatewayParts, 'logger'> & Pick<ConversationParts, 'localResponses'>,
  attempt: AttemptState,
  reply: { whole: Buffer } | { last: string },
): Promise<void> | undefined {
  const own = answerToStore(attempt, reply)
  if (!own) return undefined
  const { localResponses } = app
  return inTime(app, attempt.request, own.isBackground ? localResponses.keepEnd(own) : localResponses.keep(own))
}

/** A charge does not wait longer for its response. */
const storeMaxMs = 3000

async function inTime(
  { logger }: Pick<GatewayParts, 'logger'>,
  { call }: AdmittedRequest,
  storing: Promise<void>,
): Promise<void> {
  try {
    await withActiveTimeout(storeMaxMs, storing, () => fail('database_unavailable'))
  } catch (error) {
    logger.error({ error, request: call.id }, 'a response could not be stored before its charge')
  }
}

/** The turn to store for an answer; undefined for one that this server does not store. */
export function answerToStore(
  { request, translation }: AttemptState,
  reply: { whole: Buffer } | { last: string },
): LocalResponse | undefined {
  if (!request.toStore || !translation) return undefined
  const { format } = request.format
  const response = 'whole' in reply ? parse(reply.whole.toString()) : lastResponse(format, reply.last)
  return response && localResponseOf(request, response)
}

/** Converts a response to its stored form. */
export function localResponseOf({ call, caller, facts, hold, toStore }: AdmittedRequest, response: JsonObject): LocalResponse {
  const id = textAt(response, 'id')
  return {
    userId: caller.userId,
    id,
    tokenId: caller.tokenId,
    model: facts.model,
    thread: toStore?.thread || id,
    previousId: toStore?.previousId ?? '',
    isBackground: toStore?.isBackground ?? false,
    createdAt: seconds(call.startedMs),
    requestId: hold.requestId,
    input: toStore?.input ?? [],
    response,
  }
}

function lastResponse(format: CallerFormat, events: string): JsonObject | undefined {
  const form = storedFormOf(format)
  const last = eventsIn(events).findLast(({ data }) => form.isTerminalEvent(data))
  return last && form.answerIn(parse(last.data) ?? {})
}

/**
 * Returns an adapter that records the ids under which an upstream stores its answer, so that the caller can continue from it: a response
 * and its items, or a message of a thread. A background response gets its row as soon as its id is read: from then on it is charged even if
 * the caller disconnects or this process dies.
 */
export function notingAdapter(
  app: Pick<GatewayParts, 'budgets' | 'logger'> &
    Pick<ConversationParts, 'upstreamResponses'> & { readonly pendingResponses: PendingResponses },
  attempt: AttemptState,
  adapter: ResponseAdapter,
): ResponseAdapter {
  if (attempt.translation || !isKept(attempt.request)) return adapter
  return {
    ...adapter,
    readWhole(body, contentType) {
      const whole = adapter.readWhole(body, contentType)
      note(app, attempt, answerIn(body))
      return whole
    },
    openObserver: () => observerOf(attempt, (answer) => note(app, attempt, answer)),
    readReplay(body) {
      const replay = adapter.readReplay(body)
      note(app, attempt, answerIn(body))
      return replay
    },
  }
}

function isKept({ format, body }: AdmittedRequest): boolean {
  return formats[format.format].storesAnswer?.(body.json) === true
}

/**
 * Whether the upstream continues the response after this attempt, so that it is charged later. Rejects when its row could not be
 * written.
 */
export function runsOn({ response }: AttemptState): Promise<true> | false {
  return response?.written ? response.written.then(() => true) : false
}

/**
 * Cancels a background response after its attempt failed before any output: another channel may answer, and this one must not be charged.
 */
export async function withdrawResponse(
  app: UpstreamCallParts & Pick<GatewayParts, 'logger'> & { readonly pendingResponses: PendingResponses },
  attempt: AttemptState,
): Promise<void> {
  const { request, response, channel, upstreamModel } = attempt
  delete attempt.response
  if (!response?.written) return
  const about = { format: storedFormatOf(request), id: response.name, model: upstreamModel, caller: callerHeaders(request) }
  const cancelling = cancelResponse(app, channel, about)
  background(app.logger, 'cancel a response that nobody waits for', cancelling)
  await response.written.catch(() => {})
  await app.pendingResponses.withdraw(request.hold.requestId)
}

/** Only the members that the charge needs. */
function billedFacts({ stream, reasoningEffort, requestedTier, hostedTools }: AdmittedRequest['facts']): Billed['facts'] {
  return {
    ...{ stream, reasoningEffort },
    ...(requestedTier ? { requestedTier } : {}),
    ...(hostedTools ? { hostedTools } : {}),
  }
}

/** After the charge was queued: records where the response is stored, and closes its row as a pending response. */
export async function noteSettled(
  app: Pick<GatewayParts, 'logger'> &
    Pick<ConversationParts, 'upstreamResponses'> & { readonly pendingResponses: PendingResponses },
  attempt: AttemptState,
  tokens: number,
  settled: Promise<void>,
) {
  const { response, request } = attempt
  const { hold } = request
  const kept = keptOf(attempt, tokens)
  if (!response || !kept) return settled
  const keeping = app.upstreamResponses.keep(kept).catch((error: unknown) => {
    app.logger.error({ error, request: hold.requestId }, 'where a response lies could not be written down')
  })
  // A place that is stored already only gets its tokens now.
  await (response.placed ? settled : Promise.all([settled, keeping]))
  if (!response.written) return
  await response.written.catch(() => {})
  background(app.logger, 'close a charged response', app.pendingResponses.close(hold.requestId))
}

/** The parts of an attempt that its stored response needs. */
interface Keeper {
  readonly request: {
    readonly caller: Pick<AdmittedRequest['caller'], 'userId' | 'tokenId'>
    readonly facts: Pick<AdmittedRequest['facts'], 'model'>
  }
  readonly channel: { readonly id: number; readonly keyId: number }
  readonly response?: NotedResponse | undefined
}

/** The record of the response that the vendor stores; undefined when the vendor stores none. */
export function keptOf({ response, request, channel }: Keeper, tokens: number): UpstreamResponse | undefined {
  if (!response) return undefined
  const { caller, facts } = request
  const { userId, tokenId } = caller
  const { id, items } = response
  return { id, items, userId, tokenId, channelId: channel.id, keyId: channel.keyId, model: facts.model, tokens }
}

function note(
  app: Pick<GatewayParts, 'budgets' | 'logger'> &
    Pick<ConversationParts, 'upstreamResponses'> & { readonly pendingResponses: PendingResponses },
  attempt: AttemptState,
  answer: JsonObject | undefined,
): void {
  const { request, failed, channel, choice, considered, upstreamModel } = attempt
  const name = textAt(answer ?? {}, 'id')
  const id = name === '' ? '' : keyOf(request, name)
  if (!answer || id === '' || attempt.response?.id === id) return
  const items = itemIdsIn(answer.output)
  if (request.body.json.background !== true || !formats[request.format.format].stored?.isRunning(answer)) {
    attempt.response = { id, name, items }
    const kept = keptOf(attempt, request.inputTokens)
    if (kept) attempt.response = { id, name, items, placed: inTime(app, request, app.upstreamResponses.keep(kept)) }
    return
  }
  const { call, caller, facts, group, price, hold, inputTokens } = request
  const { userId, tokenId, username, tokenName } = caller
  const ofChannel = app.budgets.windowsOfChannel(channel.id)
  const counted = ofChannel ? { ...hold, budgets: [...(hold.budgets ?? []), ...ofChannel] } : hold
  const place = { channelId: channel.id, keyId: channel.keyId }
  const format = storedFormatOf(request)
  const bill = {
    call: { id: call.id, startedMs: call.startedMs, firstByteMs: call.firstByteMs, client: { address: call.client.address } },
    caller: { userId, tokenId, username, tokenName },
    facts: billedFacts(facts),
    ...(request.leftOut ? { leftOut: request.leftOut } : {}),
    ...(format === 'openai.responses' ? {} : { format: { format } }),
    ...{ group, price, attempts: failed, choice, model: facts.model, upstreamModel, inputTokens },
    candidates: considered && candidatesOf(considered),
    ...{ bound: boundOf(attempt), kind: request.kind, promptPolicy: channel.promptPolicy },
    ...(attempt.sentTools ? { sentTools: attempt.sentTools } : {}),
    ...{ sentModel: attempt.answered.sent, replaces: request.replaces },
  }
  const halves = [
    app.pendingResponses.open({ ...place, id: name, hold: counted, bill }),
    app.upstreamResponses.keep({ ...place, id, userId, tokenId, model: facts.model, tokens: inputTokens }),
  ]
  // Both writes are awaited even if one fails, so that no write follows a withdrawal.
  const written = Promise.allSettled(halves)
    .then(() => Promise.all(halves))
    .then(
      () => {},
      (cause: unknown) => fail('database_unavailable', {}, { cause }),
    )
  // Callers that depend on the write await it and get the error.
  written.catch(() => {})
  attempt.response = { id, name, items, written }
}

/** The key of a vendor's id among the stored ones: those of threads and of each format are apart. */
function keyOf({ format }: AdmittedRequest, name: string): string {
  return format.continues === 'thread' ? keptMessage(name) : storedFormOf(format.format).keyOf(name)
}

/** Only these formats have answers in the background. */
function storedFormatOf({ format: { format } }: AdmittedRequest): StoredFormat {
  return format === 'gemini.interactions' ? format : 'openai.responses'
}

/** The response in a whole body or in the events of a stream. */
function answerIn(body: Buffer): JsonObject | undefined {
  if (replyShapeOf(body) === 'events') {
    const events = body.toString('latin1')
    const answer = firstAnswer(events)
    return answer && { ...answer, output: itemsIn(events) }
  }
  const members = membersOf(body)
  return members && Object.fromEntries(['id', 'status', 'output'].map((key) => [key, memberValue(body, members, key)]))
}

function firstAnswer(block: string): JsonObject | undefined {
  for (const { data } of eventsIn(block)) {
    const event = parse(data) ?? {}
    const answer = objectAt(event, 'response') ?? objectAt(event, 'message') ?? objectAt(event, 'interaction')
    if (answer) return answer
  }
  return undefined
}

/** The items that a block of a stream completes. */
function itemsDone(block: string): readonly unknown[] {
  if (!block.includes(itemDone)) return []
  return eventsIn(block).flatMap(({ data }) => (data.includes(itemDone) ? [parse(data)?.item] : []))
}

/** The items that an event completes. Hosts without an event for each item list them in the terminal event. */
function itemsIn(block: string): readonly unknown[] {
  const done = itemsDone(block)
  if (done.length > 0 || !block.includes(ended)) return done
  const last = eventsIn(block).findLast(({ data }) => data.includes(ended))
  return arrayAt(objectAt(parse(last?.data ?? '') ?? {}, 'response') ?? {}, 'output')
}

const itemDone = '"response.output_item.done"'
const ended = '"response.completed"'

/**
 * Parses events until one contains the id of the answer; after that, only events that complete items. A caller that has received
 * the id of a background response is charged for it: the stream waits until its row is durable.
 */
function observerOf(attempt: AttemptState, note: (answer: JsonObject) => void): StreamObserver {
  let isNoted = false
  return (block) => {
    const answer = isNoted ? undefined : firstAnswer(block)
    if (answer) {
      isNoted = true
      note(answer)
    }
    const { items = [], written } = attempt.response ?? {}
    items.push(...itemIdsIn(items.length > 0 ? itemsDone(block) : itemsIn(block)))
    return answer && written
  }
}
