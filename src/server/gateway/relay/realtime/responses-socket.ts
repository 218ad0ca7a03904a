import type { WebSocket } from 'ws'
import { shapeOf } from '../../../base/lib/bytes/json-shape.ts'
import { toByteText } from '../../../base/lib/bytes/sse.ts'
import { AppError, fail } from '../../../base/lib/failure.ts'
import { newRequestId, randomText } from '../../../base/lib/secrets/ids.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { ownError } from '../../protocols/error-body.ts'
import { readEvent } from '../../protocols/openai-realtime/events.ts'
import { inputItems, outputAsInput } from '../../protocols/openai-responses/history.ts'
import { warmUpEvents } from '../../protocols/openai-responses/warm-up.ts'
import { arrayAt, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import { isVisible, turnStateHeader } from '../../providers/passed-headers.ts'
import { authorizeModel } from '../admission/admit-request.ts'
import { authenticateCall, type CallerParts } from '../admission/authenticate.ts'
import { asAppError, type EndParts, noteEndOfCall } from '../charge/end-of-call.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { ClientExchange } from '../http/client-exchange.ts'
import { DetachedRequest } from '../http/detached-request.ts'
import type { RelayEndpoint } from '../http/endpoints.ts'
import { FrameAnswer } from '../http/frame-answer.ts'
import { SocketPeer } from '../http/socket-peer.ts'
import type { Handshake, Stoppable } from './handshake.ts'

/** The parts that a connection uses. */
type SocketParts = CallerParts & EndParts & Pick<GatewayParts, 'callTracer' | 'callerLog' | 'catalog' | 'channels' | 'deadlines'>

/**
 * Responses over a WebSocket: each `response.create` is a request like one over HTTP, native or translated, with its own id, limits, hold
 * and charge; its events are sent as messages. Requests with the same `stream_id` are answered one after the other, others concurrently. A
 * request may continue an answer of this connection whether an upstream stores it or not.
 */
export async function handleResponsesSocket(app: SocketParts, handshake: Handshake, answer: AnswerCall): Promise<void> {
  await authenticateCall(app, { from: 'token' }, handshake.call)
  const client = await handshake.accept()
  const session = new ResponsesSession(app, client, { call: handshake.call, answer })
  handshake.runs(session)
  await session.over
}

/** Answers one relay request: `handleRelay`, with the parts that the router gives it. */
type AnswerCall = (endpoint: RelayEndpoint, call: ClientExchange) => Promise<void>

const endpoint: RelayEndpoint = {
  path: '/v1/responses',
  kind: 'relay',
  format: 'openai.responses',
  dialect: 'openai',
  from: 'token',
}
const waitingMax = 32
const togetherMax = 8
const restartCode = 1012
const shapeMax = { depth: 100, parts: 250_000, entries: 2_000_000 } as const

class ResponsesSession implements Stoppable {
  readonly over: Promise<void>
  readonly #app: SocketParts
  readonly #call: ClientExchange
  readonly #answerCall: AnswerCall
  readonly #peer: SocketPeer
  /** By `stream_id`, a promise that resolves when the last request of the stream has ended. */
  readonly #queues = new Map<string, Promise<void>>()
  readonly #running = new Set<ClientExchange>()
  readonly #remembered = new RememberedTurns()
  readonly #seen = new SeenResponses()
  #waiting = 0
  #isStopping = false
  #isCut = false
  #isGone = false
  #over: () => void = () => {}
  #roomLeft: (() => void) | undefined

  constructor(
    app: SocketParts,
    client: WebSocket,
    { call, answer }: { readonly call: ClientExchange; readonly answer: AnswerCall },
  ) {
    this.#app = app
    this.#call = call
    this.#answerCall = answer
    this.over = new Promise((resolve) => {
      this.#over = resolve
    })
    this.#peer = new SocketPeer(client, app.deadlines, {
      message: (text) => this.#take(text),
      closed: () => this.#closed(),
      failed: (error) => this.#tell(asAppError(app, call, error)),
    })
  }

  stop(): void {
    this.#isStopping = true
    if (this.#waiting === 0) this.#peer.close(restartCode, 'The server is restarting')
  }

  cut(): void {
    this.#isCut = true
    for (const call of this.#running) call.abort()
  }

  /** Returns a promise while too many requests are queued. */
  async #take(text: string): Promise<void> {
    const event = typeof shapeOf(Buffer.from(text), shapeMax) === 'string' ? undefined : readEvent(text)
    const streamId = textAt(event ?? {}, 'stream_id')
    if (event && isSteering(event)) return void this.#peer.send(JSON.stringify(steeringFailed(event, this.#seen)))
    if (event?.type !== 'response.create' || this.#isStopping || streamId.length > 200) return this.#refuse(event, streamId)
    this.#waiting++
    const before = this.#queues.get(streamId) ?? Promise.resolve()
    const run = before.then(() => this.#answer(event, streamId)).finally(() => this.#ended(streamId, run))
    this.#queues.set(streamId, run)
    if (this.#waiting >= waitingMax || this.#queues.size > togetherMax) await this.#room()
  }

  #refuse(event: JsonObject | undefined, streamId: string): void {
    const field = event?.type === 'response.create' ? 'stream_id' : 'type'
    const unknown = new AppError('field_invalid', { field, reason: { zh: '不支持', en: 'is not supported here' } })
    const known = event ? unknown : new AppError('bad_json', { reason: { zh: '事件须为对象', en: 'an event must be an object' } })
    this.#tell(event && this.#isStopping ? new AppError('server_stopping') : known, streamId)
  }

  async #answer(event: JsonObject, streamId: string): Promise<void> {
    if (this.#isGone) return
    if (this.#isCut) return this.#tell(new AppError('server_stopping'), streamId)
    const { type: _type, stream_id: _id, generate, ...asked } = event
    const body = { ...this.#remembered.expand(asked), stream: true }
    const answer = this.#answerTo(body, streamId)
    const request = new DetachedRequest(endpoint.path, { ...this.#call.request.headers, ...turnStateIn(body) }, body)
    const { now, steady, callTracer } = this.#app
    const { format } = endpoint
    const startedMs = steady()
    const call = new ClientExchange(answer, {
      id: newRequestId(now()),
      dialect: 'openai',
      language: 'en',
      client: this.#call.client,
      startedMs,
      request,
      trace: callTracer?.begin({ headers: request.headers, format, startedMs }),
    })
    this.#running.add(call)
    let outcome = '200'
    try {
      await (generate === false ? this.#warmUp(body, call) : this.#answerCall(endpoint, call))
      outcome = String(call.status)
    } catch (error) {
      const appError = asAppError(this.#app, call, error)
      outcome = appError.code
      call.sendError(appError)
    }
    await answer.over
    this.#running.delete(call)
    noteEndOfCall(this.#app, call, endpoint)
    this.#app.metrics.relayRequests.count(format, outcome)
  }

  #answerTo(body: JsonObject, streamId: string): FrameAnswer {
    const note = new AnswerNote()
    const inStream = streamId === '' ? {} : { stream_id: streamId }
    return new FrameAnswer(this.#peer, {
      opening: (headers) => turnStateEvent(headers, inStream),
      event: (data) => {
        this.#seen.note(data)
        const answer = note.take(data)
        // A stored response can be continued by its id; only others are remembered.
        if (answer && (body.store === false || answer.response.store === false))
          this.#remembered.remember(body, answer.response, answer.output)
        return streamId === '' ? data : `${data.trimEnd().slice(0, -1)},"stream_id":${JSON.stringify(streamId)}}`
      },
      error: (status, text) => JSON.stringify({ type: 'error', status, ...readEvent(text), ...inStream }),
    })
  }

  /** Calls no upstream and charges nothing. */
  async #warmUp(body: JsonObject, call: ClientExchange): Promise<void> {
    const caller = await authenticateCall(this.#app, endpoint, call)
    const model = textAt(body, 'model')
    if (model === '') fail('model_required')
    authorizeModel(this.#app, caller, { model, format: endpoint.format })
    const newId = (prefix: string) => `${prefix}${randomText(24)}`
    const events = warmUpEvents(body, { id: call.id, createdAt: seconds(call.startedMs), model, newId })
    call.begin({ 'content-type': 'text/event-stream; charset=utf-8' })
    call.end(toByteText(events))
  }

  #ended(streamId: string, run: Promise<void>): void {
    this.#waiting--
    if (this.#queues.get(streamId) === run) this.#queues.delete(streamId)
    this.#roomLeft?.()
    if (this.#waiting > 0) return
    if (this.#isGone) this.#over()
    else if (this.#isStopping) this.#peer.close(restartCode, 'The server is restarting')
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#roomLeft = () => {
        if (this.#waiting >= waitingMax || this.#queues.size > togetherMax) return
        this.#roomLeft = undefined
        resolve()
      }
    })
  }

  /** The connection has closed: its running requests are charged as those of callers that disconnect. */
  #closed(): void {
    this.#isGone = true
    for (const call of this.#running) call.drop()
    if (this.#waiting === 0) this.#over()
  }

  #tell(error: AppError, streamId = ''): void {
    const { status, message, type, code, param } = ownError(error)
    const errorEvent = { type: 'error', status, error: { type, code, message: message.en, param } }
    void this.#peer.send(JSON.stringify(streamId === '' ? errorEvent : { ...errorEvent, stream_id: streamId }))
  }
}

/** Codex sends the state of its turn in the metadata of an event, and over HTTP in a header. */
function turnStateIn(body: JsonObject): Record<string, string> {
  const state = textAt(objectAt(body, 'client_metadata') ?? {}, turnStateHeader)
  return isVisible.test(state) ? { [turnStateHeader]: state } : {}
}

/** The event that returns this state to Codex over a WebSocket. Source: the published client, 0.150 and 0.169. */
function turnStateEvent(headers: Readonly<Record<string, unknown>>, inStream: JsonObject): string | undefined {
  const state = headers[turnStateHeader]
  if (typeof state !== 'string') return undefined
  return JSON.stringify({ type: 'response.metadata', headers: { [turnStateHeader]: state }, ...inStream })
}

/** A conversation up to and including one of its answers. */
interface Conversation {
  /** Id of the answer stored by an upstream that the conversation continues; empty for none. */
  readonly keptId: string
  readonly items: readonly unknown[]
  readonly bytes: number
}

/**
 * The conversations of one connection, so that a request can continue an answer that no upstream stores: `store` was false, or the answer
 * was translated. The newest are kept, up to a size, until the connection closes.
 */
class RememberedTurns {
  /** By the id of the answer, in order of age. */
  readonly #known = new Map<string, Conversation>()

  /** Replaces the id of a known answer by the conversation up to it; returns other requests unchanged. */
  expand(body: JsonObject): JsonObject {
    const known = this.#known.get(textAt(body, 'previous_response_id'))
    const items = inputItems(body.input)
    if (!known || !items) return body
    const { previous_response_id: _id, ...rest } = body
    return {
      ...rest,
      ...(known.keptId === '' ? {} : { previous_response_id: known.keptId }),
      input: [...known.items, ...items],
    }
  }

  /** Remembers the answer to a request that was expanded before. */
  remember(sent: JsonObject, response: JsonObject, output: readonly unknown[]): void {
    const id = textAt(response, 'id')
    const items = inputItems(sent.input)
    if (id === '' || !items) return
    const all = [...items, ...outputAsInput(output)]
    const bytes = JSON.stringify(all).length
    if (bytes > bytesMax) return
    this.#known.set(id, { keptId: textAt(sent, 'previous_response_id'), items: all, bytes })
    this.#forgetOldest()
  }

  #forgetOldest(): void {
    let sum = 0
    for (const { bytes } of this.#known.values()) sum += bytes
    for (const [id, { bytes }] of this.#known) {
      if (sum <= bytesMax && this.#known.size <= countMax) return
      this.#known.delete(id)
      sum -= bytes
    }
  }
}

/** Collects the answer to one request from its events. */
class AnswerNote {
  readonly #done: unknown[] = []

  /** The finished response and its output, once its last event was seen. Irrelevant events are not parsed. */
  take(data: string): { response: JsonObject; output: readonly unknown[] } | undefined {
    if (!/"response\.(output_item\.done|completed|incomplete)"/.test(data)) return undefined
    const event = readEvent(data)
    if (!event) return undefined
    if (event.type === 'response.output_item.done') this.#done.push(event.item)
    if (event.type !== 'response.completed' && event.type !== 'response.incomplete') return undefined
    const response = objectAt(event, 'response') ?? {}
    const output = arrayAt(response, 'output')
    // Some hosts send an empty list in the last event.
    return { response, output: output.length > 0 ? output : this.#done }
  }
}

const countMax = 32
const bytesMax = 8 * 1024 * 1024

/**
 * Input for a running response, `response.steer` and `response.inject`: no channel accepts it, and the caller gets it back with the reason,
 * to send it with the next request. Source: types of the official SDK 7.51.
 */
function isSteering({ type }: JsonObject): boolean {
  return type === 'response.steer' || type === 'response.inject'
}

/** The running and the completed responses of one connection. The newest are kept. */
class SeenResponses {
  readonly #isRunning = new Map<string, boolean>()

  /** Reads the data of an event. Only events that begin or end a response are parsed. */
  note(data: string): void {
    if (!/"response\.(?:created|completed|incomplete|failed)"/.test(data)) return
    const event = readEvent(data) ?? {}
    const id = textAt(objectAt(event, 'response') ?? {}, 'id')
    if (id === '') return
    this.#isRunning.delete(id)
    this.#isRunning.set(id, event.type === 'response.created')
    const [oldest] = this.#isRunning.keys()
    if (this.#isRunning.size > seenMax && oldest !== undefined) this.#isRunning.delete(oldest)
  }

  stateOf(id: string): 'running' | 'done' | 'unknown' {
    const isRunning = this.#isRunning.get(id)
    if (isRunning === undefined) return 'unknown'
    return isRunning ? 'running' : 'done'
  }
}

const seenMax = 100

/** The event that returns the input. */
function steeringFailed(event: JsonObject, seen: SeenResponses): JsonObject {
  const { input } = event
  if (event.type === 'response.steer') {
    const id = textAt(event, 'previous_response_id')
    const error = { type: 'invalid_request_error', ...steerErrors[seen.stateOf(id)] }
    return { type: 'response.steer.failed', sequence_number: 0, error, steer: { previous_response_id: id, input } }
  }
  const id = textAt(event, 'response_id')
  return { type: 'response.inject.failed', sequence_number: 0, response_id: id, input, error: injectErrors[seen.stateOf(id)] }
}

const advice = 'send the input with the next response.create'
const done = { code: 'response_already_completed', message: `The response is complete; ${advice}` }
const unknown = { code: 'response_not_found', message: 'No such response was made on this connection' }

const steerErrors = {
  running: { code: 'steering_not_supported', message: `Steering is not offered here; ${advice}` },
  done,
  unknown,
}

/** No code says that steering is unsupported. With this one, clients keep the input for the next response, as they should. */
const injectErrors = {
  running: { ...done, message: `A running response takes no input here; ${advice}` },
  done,
  unknown,
}
