import { clientClosedStatus } from '../../../../contract/entities/log.ts'
import type { RecordedTiming } from '../../../../contract/entities/recording.ts'
import type { Text } from '../../../../contract/text.ts'
import { promptTokens, type Usage } from '../../../../contract/usage.ts'
import { isDatabaseFailure } from '../../../base/db/failures.ts'
import { AppError } from '../../../base/lib/failure.ts'
import type { Charge } from '../../../money/ledger/ledger.ts'
import { quotaText } from '../../../money/ledger/quota-text.ts'
import type { CallKind, CallNotes, EndedCall } from '../../../usage/calls/ended-calls.ts'
import { statusFor } from '../../protocols/error-body.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'

/** The parts that reporting the end of a call uses. */
export type EndParts = Pick<GatewayParts, 'callObservers' | 'failedCalls' | 'steady'>

/** The endpoint of a call, as the router found it. */
interface CallPlace {
  readonly kind: CallKind
  /** The caller's wire format; 'other' for calls that have none. */
  readonly format: string
}

/** The error to send to the caller. An unexpected error is logged and becomes `internal` with the request id. */
export function asAppError(app: Pick<GatewayParts, 'callerLog' | 'options'>, call: ClientExchange, error: unknown): AppError {
  if (error instanceof AppError) return withAmounts(app, error)
  if (isDatabaseFailure(error)) return new AppError('database_unavailable', {}, { cause: error })
  app.callerLog.of(call.client).error({ error, request: call.id }, 'relay request failed')
  return new AppError('internal', { request: call.id }, { cause: error })
}

/** Replaces quota units in the parameters by amounts as the site displays them. */
function withAmounts(app: Pick<GatewayParts, 'options'>, error: AppError): AppError {
  const { have, need } = error.params
  if (typeof have !== 'number' || typeof need !== 'number') return error
  return new AppError(
    error.code,
    { ...error.params, have: quotaText(app, have, 'down'), need: quotaText(app, need, 'up') },
    error,
  )
}

/** Reports the end of a call to the observers; a call without a known key is only counted. Call it once, as the last step of a call. */
export function noteEndOfCall(app: EndParts, call: ClientExchange, place: CallPlace): void {
  const { failure, notes } = call
  const { caller } = notes
  call.callRecorder?.finish(timingOf(app, call))
  if (!caller) {
    if (failure?.error?.status === 401) app.failedCalls.noteUnknownKey(call.client.address)
    return
  }
  // Who stops following an answer has lost nothing.
  if (notes.isFollowing && failure && !failure.error) return
  // A response in the background reports its own end.
  if (notes.isContinued && !failure) return
  if (app.callObservers.wantsCall(failure !== undefined)) app.callObservers.callEnded(recordOf(app, call, caller, place))
}

/** Adds a charge, and the usage that it is for, to the notes of a call. */
export function noteCharge(notes: CallNotes, { amount, rollup }: Charge, usage: Usage): void {
  const tokensIn = promptTokens(usage)
  notes.usages.push(usage)
  notes.tokensIn += tokensIn
  notes.tokensOut += rollup.tokens - tokensIn
  notes.quota += amount
}

function recordOf(
  app: Pick<GatewayParts, 'steady'>,
  call: ClientExchange,
  caller: EndedCall['caller'],
  { kind, format }: CallPlace,
): EndedCall {
  const { request, failure, firstByteMs, startedMs, notes } = call
  const { asked, group } = notes
  return {
    id: call.id,
    caller,
    group,
    kind,
    dialect: call.dialect,
    format,
    method: request.method ?? '',
    url: request.url ?? '',
    address: call.client.address,
    userAgent: request.headers['user-agent'] ?? '',
    model: typeof asked?.model === 'string' ? asked.model : '',
    stream: asked?.stream === true,
    status: statusOf(call),
    failure: failure && failureOf(call, failure),
    attempts: notes.attempts,
    candidates: notes.candidates,
    startedMs,
    durationMs: Math.max(0, app.steady() - startedMs),
    firstByteMs: firstByteMs > 0 ? Math.max(0, firstByteMs - startedMs) : undefined,
    queueMs: notes.queueMs,
    holdMs: notes.holdMs,
    commitMs: notes.commitMs,
    tokensIn: notes.tokensIn,
    tokensOut: notes.tokensOut,
    usages: notes.usages,
    quota: notes.quota,
    bytesIn: Number(request.headers['content-length'] ?? 0) || 0,
    bytesOut: call.bytesOut,
    trace: call.trace,
  }
}

function timingOf({ steady }: Pick<GatewayParts, 'steady'>, { notes, startedMs, firstByteMs }: ClientExchange): RecordedTiming {
  return {
    queue_ms: Math.round(notes.queueMs),
    hold_ms: Math.round(notes.holdMs),
    commit_ms: Math.round(notes.commitMs),
    first_byte_ms: firstByteMs > 0 ? Math.max(0, Math.round(firstByteMs - startedMs)) : -1,
    duration_ms: Math.max(0, Math.round(steady() - startedMs)),
  }
}

type Failure = NonNullable<ClientExchange['failure']>

function statusOf({ dialect, failure, notes, status }: ClientExchange): number {
  if (failure) return failure.error ? statusFor(dialect, failure.error) : clientClosedStatus
  return notes.isUpgraded ? 101 : status
}

function failureOf(call: ClientExchange, { error }: Failure): NonNullable<EndedCall['failure']> {
  return {
    code: error ? (error.code ?? error.type) : 'client_closed',
    message: error?.message ?? clientClosed,
    inStream: call.isCommitted && (call.firstByteMs > 0 || !error),
    stoppedBy: error?.stoppedBy,
  }
}

const clientClosed: Text = {
  zh: '调用方在回答完成前断开了连接',
  en: 'The caller closed the connection before the answer was complete',
}
