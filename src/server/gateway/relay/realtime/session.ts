import type { WebSocket } from 'ws'
import { noUsage, promptTokens, type Usage } from '../../../../contract/usage.ts'
import { shapeOf } from '../../../base/lib/bytes/json-shape.ts'
import { AppError } from '../../../base/lib/failure.ts'
import { randomText } from '../../../base/lib/secrets/ids.ts'
import type { Deadline } from '../../../base/lib/time/timer-wheel.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import { readSoundUsage } from '../../protocols/direct/transcriptions.ts'
import { ownError } from '../../protocols/error-body.ts'
import { readOpenAiError } from '../../protocols/openai-chat/errors.ts'
import {
  errorEventOf,
  limitConflictIn,
  limitIn,
  readEvent,
  readSession,
  type SessionFacts,
  withSessionModel,
} from '../../protocols/openai-realtime/events.ts'
import { SessionMeter } from '../../protocols/openai-realtime/meter.ts'
import { readRealtimeUsage } from '../../protocols/openai-realtime/usage.ts'
import { upstreamError } from '../../protocols/upstream-failures.ts'
import { withSides } from '../../protocols/usage-sides.ts'
import { type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import { limitError } from '../admission/limits.ts'
import type { Ending } from '../charge/charge-row.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { SocketPeer } from '../http/socket-peer.ts'
import { errorInReply, toldToCallers, withCleanFacts } from '../upstream/failure.ts'
import { longestAnswer, type RealtimeBill } from './charges.ts'
import type { Connected } from './connect.ts'

/** A session whose caller and upstream are both connected. */
interface SessionParts {
  readonly call: Pick<ClientExchange, 'id' | 'noteError'>
  readonly caller: RelayCaller
  /** The model name of the caller's request. */
  readonly model: string
  readonly connected: Connected
  readonly bill: RealtimeBill
  /** Throws when the caller's key may no longer be used. */
  readonly stillAllowed: () => Promise<unknown> | unknown
}

/**
 * Relays the events of a session in both directions, in order. The end of an answer is sent when its charge is durable, and the next answer
 * is held before it is requested. When the balance is used up, the caller gets an error and the session ends.
 */
export class RealtimeSession {
  readonly #app: Pick<GatewayParts, 'deadlines' | 'logger' | 'options' | 'steady'>
  readonly #parts: SessionParts
  readonly #client: SocketPeer
  readonly #upstream: SocketPeer
  readonly #meter = new SessionMeter()
  readonly #checkpoints: Deadline
  /** Start time of each running response. */
  readonly #began = new Map<string, number>()
  #facts: SessionFacts = { outputTokensMax: undefined, transcriptionModel: '', transcriptionPrompt: '', isTextOnly: false }
  /** The settings by which speech is transcribed, once the caller has requested that. */
  #transcribes: Pick<SessionFacts, 'transcriptionModel' | 'transcriptionPrompt'> = this.#facts
  #interrupted: 'client' | 'upstream' | 'node' | undefined
  #isStopping = false
  #isClientGone = false
  #isUpstreamGone = false
  #over: () => void = () => {}
  /** Resolves when both connections are closed and everything is charged. */
  readonly over: Promise<void>

  constructor(app: Pick<GatewayParts, 'deadlines' | 'logger' | 'options' | 'steady'>, client: WebSocket, parts: SessionParts) {
    this.#app = app
    this.#parts = parts
    this.over = new Promise((resolve) => {
      this.#over = resolve
    })
    this.#checkpoints = app.deadlines.after(checkpointMs, () => this.#checkpoint())
    this.#client = new SocketPeer(client, app.deadlines, {
      message: (text) => this.#fromClient(text),
      closed: (code, reason) => this.#clientClosed(code, reason),
      failed: (error) => this.#refuse(error),
    })
    this.#upstream = new SocketPeer(parts.connected.socket, app.deadlines, {
      message: (text) => this.#fromUpstream(text),
      closed: (code, reason) => this.#upstreamClosed(code, reason),
      failed: (error) => this.#broken(error),
    })
  }

  /** The server is stopping: a running response may end, then the caller is to reconnect. */
  stop(): void {
    this.#isStopping = true
    if (this.#began.size === 0) this.#client.close(restartCode, 'The server is restarting')
  }

  cut(): void {
    this.#interrupted ??= 'node'
    void this.#tell(new AppError('server_stopping'))
    this.#client.close(restartCode, 'The server is restarting')
    this.#upstream.terminate()
  }

  async #fromClient(text: string): Promise<void> {
    const shape = shapeOf(Buffer.from(text), shapeMax)
    const event = typeof shape === 'string' ? undefined : readEvent(text)
    if (!event) return this.#tell(new AppError('bad_json', { reason: { zh: '事件须为对象', en: 'an event must be an object' } }))
    const changed = this.#checked(event)
    if (!changed) return
    this.#meter.heard(changed)
    if (changed.type === 'response.create' && !(await this.#admit(changed))) return
    if (!(await this.#admitSpeech())) return
    // The event is serialized again, so that the upstream gets exactly what was checked: a duplicate member could be read in two ways.
    await this.#upstream.send(JSON.stringify(changed))
  }

  /** Returns the event to send, in which the charged model is kept; undefined for an event that is refused. */
  #checked(event: JsonObject): JsonObject | undefined {
    const conflict = limitConflictIn(event)
    if (conflict) {
      this.#tell(conflict)
      return undefined
    }
    if (event.type !== 'session.update') return event
    const { caller, connected } = this.#parts
    const session = objectAt(event, 'session') ?? {}
    const wanted = readSession(session)
    const { transcriptionModel } = wanted
    if (transcriptionModel !== '' && caller.modelLimits && !caller.modelLimits.has(transcriptionModel)) {
      this.#tell(new AppError('token_model_forbidden', { model: transcriptionModel }))
      return undefined
    }
    if (transcriptionModel !== '') this.#transcribe(wanted)
    return withSessionModel(event, connected.upstreamModel)
  }

  /**
   * Takes a hold and a rate-limit lease for the requested answer. False when it is refused; the session continues, or has ended for lack of
   * quota.
   */
  async #admit(event: JsonObject): Promise<boolean> {
    try {
      await this.#parts.stillAllowed()
      const most = this.#most(limitIn(objectAt(event, 'response') ?? {}))
      const refusal = await this.#parts.bill.enter(most)
      if (refusal) {
        await this.#tell(limitError(refusal))
        return false
      }
      await this.#parts.bill.hold(most)
      return true
    } catch (error) {
      this.#refuse(error)
      return false
    }
  }

  /** Audio that was committed before transcription was switched on or off gets no transcript. */
  #transcribe(facts: SessionFacts): void {
    const [was, is] = [this.#transcribes, facts].map(({ transcriptionModel }) => transcriptionModel !== '')
    if (was !== is) this.#meter.forgetCommitted()
    this.#transcribes = facts
  }

  /**
   * Holds the cost of transcribing the audio received so far and some more. False when the hold is refused; the session has then
   * ended.
   */
  async #admitSpeech(): Promise<boolean> {
    const { transcriptionModel: model, transcriptionPrompt: prompt } = this.#transcribes
    const seconds = this.#meter.untranscribedSeconds
    if (model === '' || this.#parts.bill.coversTranscript({ model, prompt, seconds })) return true
    try {
      await this.#parts.bill.holdTranscript({ model, prompt, seconds: seconds + heldAheadSeconds })
      return true
    } catch (error) {
      this.#refuse(error)
      return false
    }
  }

  async #fromUpstream(text: string): Promise<void> {
    const event = readEvent(text)
    if (!event) return
    this.#meter.said(event)
    switch (event.type) {
      case 'session.created':
      case 'session.updated':
      case 'transcription_session.created':
      case 'transcription_session.updated':
        this.#facts = readSession(objectAt(event, 'session') ?? {})
        if (textAt(event, 'type').startsWith('session')) this.#parts.bill.runs(objectAt(event, 'session') ?? {})
        if (this.#facts.transcriptionModel !== '' || textAt(event, 'type').endsWith('updated')) this.#transcribe(this.#facts)
        if (!(await this.#admitSpeech())) return
        return this.#client.send(this.#renamed(event, text))
      case 'response.created':
        await this.#noteBegun(textAt(objectAt(event, 'response') ?? {}, 'id'))
        return this.#client.send(text)
      case 'response.done':
        return this.#passCharged(this.#toldEnd(event, text), () => this.#settle(objectAt(event, 'response') ?? {}))
      case 'conversation.item.input_audio_transcription.failed':
        return this.#client.send(this.#toldError(event))
      case 'conversation.item.input_audio_transcription.completed':
        return this.#passCharged(text, () => this.#settleTranscript(event))
      case 'error':
        return this.#client.send(this.#toldError(event))
      default:
        return this.#client.send(text)
    }
  }

  /** An event with an error of the upstream, as a caller may be told it. */
  #toldError(event: JsonObject): string {
    const error = objectAt(event, 'error') ?? {}
    const failure = withCleanFacts(errorInReply(readOpenAiError(event)), this.#parts.connected.channel, this.#names)
    const { message, type, code, param } = failure.forCaller()
    return JSON.stringify({ ...event, error: { ...ownIds(error), type, code, message: message.en, param } })
  }

  /** The end of an answer; that of a failed one has an error. */
  #toldEnd(event: JsonObject, text: string): string {
    const response = objectAt(event, 'response') ?? {}
    const details = objectAt(response, 'status_details')
    if (!details || !objectAt(details, 'error')) return text
    const { error } = JSON.parse(this.#toldError(details))
    return JSON.stringify({ ...event, response: { ...response, status_details: { ...details, error } } })
  }

  get #names() {
    const { model, connected } = this.#parts
    return { asked: model, upstream: connected.upstreamModel }
  }

  /** Restores the model name of the caller's request. */
  #renamed(event: JsonObject, text: string): string {
    const { model, connected } = this.#parts
    return connected.upstreamModel === model ? text : JSON.stringify(withSessionModel(event, model))
  }

  /** Speech may start an answer without a request for it. */
  async #noteBegun(id: string): Promise<void> {
    if (this.#began.size < runningMax) this.#began.set(id, this.#app.steady())
    try {
      await this.#parts.stillAllowed()
    } catch (error) {
      return this.#refuse(error)
    }
    const refusal = await this.#parts.bill.enter(this.#most())
    if (!refusal) return
    await this.#tell(limitError(refusal))
    await this.#upstream.send(JSON.stringify({ type: 'response.cancel', ...(id === '' ? {} : { response_id: id }) }))
  }

  async #passCharged(text: string, charge: () => Promise<void>): Promise<void> {
    try {
      await charge()
    } catch (error) {
      return this.#refuse(error)
    }
    await this.#client.send(text)
    await this.#holdNext()
  }

  async #settle(response: JsonObject): Promise<void> {
    const id = textAt(response, 'id')
    const usage = readRealtimeUsage(response)
    const estimate = this.#meter.estimate(id)
    const saidSomething = estimate.output + estimate.audioOutput > 0
    const startedMs = this.#began.get(id) ?? this.#app.steady()
    this.#began.delete(id)
    const known = usage && saidSomething ? withSides(usage, estimate) : (usage ?? estimate)
    this.#meter.ended(id, known)
    // A response that failed or was cancelled before any output, and without usage, costs nothing.
    if (!usage && !saidSomething && textAt(response, 'status') !== 'completed') return
    await this.#parts.bill.settle(id, startedMs, { usage: known, isEstimated: known !== usage })
  }

  async #settleTranscript(event: JsonObject): Promise<void> {
    const item = textAt(event, 'item_id')
    const id = `${item}/${String(event.content_index ?? 0)}`
    const spoken = this.#meter.takeSpoken(item)
    const reported = readSoundUsage(event)
    const isReported = reported !== undefined && promptTokens(reported) > 0
    const usage = isReported ? reported : readSoundUsage({ duration: spoken })
    if (!usage) return
    const ending: Ending = { usage, isEstimated: !isReported }
    await this.#parts.bill.settleTranscript(id, this.#transcribes.transcriptionModel, this.#app.steady(), ending)
  }

  /** The next answer is held before it begins. */
  async #holdNext(): Promise<void> {
    if (this.#isStopping && this.#began.size === 0) return this.#client.close(restartCode, 'The server is restarting')
    try {
      await this.#parts.stillAllowed()
      await this.#parts.bill.hold(this.#most())
    } catch (error) {
      return this.#refuse(error)
    }
    await this.#admitSpeech()
  }

  /** The greatest usage of the next answer: the whole conversation as input, and as much output as allowed. */
  #most(limit = this.#facts.outputTokensMax): Usage {
    const { text, audio } = this.#meter.context
    const output = limit ?? longestAnswer(this.#parts.model, this.#app.options.current.PreConsumedQuota)
    const said = this.#facts.isTextOnly ? { output } : { audioOutput: output }
    return { ...noUsage, input: text, audioInput: audio, ...said }
  }

  #tell(error: AppError): Promise<void> | void {
    const { message, type, code, param } = ownError(error)
    return this.#client.send(errorEventOf({ message: message.en, type, code, param }, `event_${randomText(20)}`))
  }

  /**
   * Sends the reason and ends the session: with code 1008 when the balance is used up or the key is no longer valid, with 1011 for an error
   * of this server.
   */
  #refuse(error: unknown): void {
    const appError =
      error instanceof AppError ? error : new AppError('internal', { request: this.#parts.call.id }, { cause: error })
    if (appError.code === 'internal') this.#app.logger.error({ error, request: this.#parts.call.id }, 'a realtime session failed')
    this.#parts.call.noteError(appError)
    void this.#tell(appError)
    this.#client.close(appError.kind.status >= 500 ? failureCode : policyCode, appError.message)
  }

  #broken(error: unknown): void {
    this.#app.logger.warn({ error, request: this.#parts.call.id }, 'an upstream sent what is no event')
    this.#upstream.terminate()
  }

  /** The upstream is disconnected at once; usage that still arrives is charged. */
  #clientClosed(code: number, reason: string): void {
    this.#interrupted ??= 'client'
    this.#isClientGone = true
    this.#upstream.close(code, reason)
    this.#finishWhenClosed()
  }

  #upstreamClosed(code: number, reason: string): void {
    this.#interrupted ??= 'upstream'
    this.#isUpstreamGone = true
    const isLost = code === 1006 || code === 1015
    if (isLost) {
      const lost = upstreamError('interrupted')
      this.#parts.call.noteError(lost)
      void this.#tell(lost)
    }
    this.#client.close(isLost ? failureCode : code, toldToCallers(reason, this.#parts.connected.channel, closeReasonMax))
    this.#finishWhenClosed()
  }

  #finishWhenClosed(): void {
    if (this.#isClientGone && this.#isUpstreamGone) void this.#finish()
  }

  /** Charges an interrupted answer, and releases the rest of the hold. */
  async #finish(): Promise<void> {
    this.#app.deadlines.cancel(this.#checkpoints)
    await Promise.all([this.#client.whenIdle(), this.#upstream.whenIdle()])
    const { bill, call } = this.#parts
    const { id } = call
    try {
      for (const [responseId, startedMs] of this.#began) {
        const usage = this.#meter.estimate(responseId)
        await bill.settle(responseId, startedMs, { usage, isEstimated: true, interrupted: this.#interrupted })
        this.#meter.ended(responseId, usage)
      }
    } catch (error) {
      this.#app.logger.error({ error, request: id }, 'the end of a realtime session is not charged yet')
    }
    await bill.end().catch((error: unknown) => this.#app.logger.error({ error, request: id }, 'a hold is not released yet'))
    this.#over()
  }

  #checkpoint(): void {
    const [first] = this.#began
    try {
      if (first) this.#parts.bill.checkpoint(first[1], this.#meter.estimate(first[0]))
    } catch (error) {
      this.#app.logger.error({ error, request: this.#parts.call.id }, 'a checkpoint failed')
    }
    this.#app.deadlines.refresh(this.#checkpoints, checkpointMs)
  }
}

const checkpointMs = 5_000
const heldAheadSeconds = 60
const runningMax = 64
const shapeMax = { depth: 100, parts: 250_000, entries: 2_000_000 } as const
const policyCode = 1008
const failureCode = 1011
const restartCode = 1012

/** The event of the caller that an error is about. */
function ownIds(error: JsonObject): JsonObject {
  return 'event_id' in error ? { event_id: error.event_id } : {}
}

/** A frame that closes a WebSocket has room for 123 bytes. */
const closeReasonMax = 120
