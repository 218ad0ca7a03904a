import type { StoppedBy } from '../../../contract/entities/log.ts'
import type { Language, Text } from '../../../contract/text.ts'
import type { AppError } from '../../base/lib/failure.ts'
import type { Dialect } from './format.ts'
import type { KnownError } from './known-errors.ts'
import type { ErrorExtra, JsonObject, UpstreamErrorFacts } from './wire-format.ts'

/** An error as the caller of a dialect expects it: status, body and, in a stream, an event. Source: protocols notes 1.0. */
export interface CallerError {
  readonly status: number
  readonly message: Text
  /** OpenAI's `type`. */
  readonly type: string
  readonly code: string | null
  readonly param: string | null
  /** Seconds after which a retry may succeed, at most `waitMaxSeconds`; 0 when nothing is known. */
  readonly retryAfter: number
  /** The same request must not be repeated at once: sent as `x-should-retry: false`. */
  readonly final: boolean
  readonly extra?: ErrorExtra | undefined
  /** Set for an upstream error that is rephrased in the wording of the caller's vendor. */
  readonly known?: KnownError | undefined
  /** The limit that has refused the call, for its log row. */
  readonly stoppedBy?: StoppedBy | undefined
}

const openAiCodes: Readonly<Record<string, string>> = {
  token_missing: 'invalid_api_key',
  token_invalid: 'invalid_api_key',
  token_disabled: 'invalid_api_key',
  token_expired: 'invalid_api_key',
  token_exhausted: 'insufficient_quota',
  quota_insufficient: 'insufficient_quota',
  token_quota_insufficient: 'insufficient_quota',
  too_many_requests: 'rate_limit_exceeded',
  upstream_saturated: 'rate_limit_exceeded',
  untranslatable: 'unsupported_parameter',
  sensitive_words: 'sensitive_words_detected',
  previous_response_unknown: 'previous_response_not_found',
  item_unknown: 'item_not_found',
  rate_limit_requests: 'rate_limit_exceeded',
  rate_limit_successes: 'rate_limit_exceeded',
  rate_limit_tokens: 'rate_limit_exceeded',
  rate_limit_prompt: 'rate_limit_exceeded',
  rate_limit_concurrency: 'rate_limit_exceeded',
}

/** Seconds before a retry, for transient failures. */
const comeAgainSeconds: Readonly<Record<string, number>> = { database_unavailable: 2, server_stopping: 2 }

/** An error of the gateway itself, for a relay caller. */
export function ownError(error: AppError, more: { retryAfter?: number } = {}): CallerError {
  const { status } = error.kind
  return withBoundedWait({
    status,
    message: inOneLanguage(error),
    type: error.kind.type ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
    code: openAiCodes[error.code] ?? error.code,
    param: paramOf(error),
    retryAfter: more.retryAfter ?? Number(error.params.retryAfter ?? comeAgainSeconds[error.code] ?? 0),
    final: error.kind.final === true || isLasting(status),
    extra: extraOf(error),
    stoppedBy: stoppedBy(error),
  })
}

/** Whether a refusal stays the same when the request is repeated: a wrong key, a forbidden or unknown model, an invalid request. */
export function isLasting(status: number): boolean {
  return status >= 400 && status < 500 && !passing.has(status)
}

/** Timeouts, conflicts and limits. */
const passing: ReadonlySet<number> = new Set([408, 409, 425, 429])

/**
 * A longer wait is told in words, and repeating is discouraged: some clients sleep without a word for as long as `retry-after` says, even
 * for days, and others repeat at once.
 */
const waitMaxSeconds = 120

function withBoundedWait(error: CallerError): CallerError {
  const { retryAfter, message } = error
  if (retryAfter <= waitMaxSeconds) return error
  const { zh, en } = waitText(retryAfter)
  const told = { zh: `${message.zh}（需等待约 ${zh}）`, en: `${message.en} (the wait is about ${en})` }
  return { ...error, retryAfter: 0, final: true, message: told }
}

function waitText(seconds: number): Text {
  const [unitSeconds, zh, en] = waitUnits.find(([unit]) => seconds >= 2 * unit) ?? waitUnits[2]
  const count = Math.ceil(seconds / unitSeconds)
  return { zh: `${count} ${zh}`, en: `${count} ${en}` }
}

const waitUnits = [
  [86_400, '天', 'days'],
  [3600, '小时', 'hours'],
  [60, '分钟', 'minutes'],
] as const

function stoppedBy({ code, detail }: AppError): StoppedBy | undefined {
  // Only errors of limits have these codes, and their `detail` is a `StoppedBy`.
  return code === 'budget_exceeded' || code.startsWith('rate_limit_') ? (detail as StoppedBy | undefined) : undefined
}

/** A reason that exists only in English makes the whole message English, not a Chinese sentence with an English reason. */
function inOneLanguage(error: AppError): Text {
  const en = error.text('en')
  return { zh: typeof error.params.reason === 'string' ? en : error.text('zh'), en }
}

/** On these codes the SDK sends the complete conversation, in a new thread or without one. */
function extraOf({ code, params }: AppError): ErrorExtra | undefined {
  const isUnthreaded = code === 'untranslatable' && params.field === 'thread'
  if (code !== 'thread_unknown' && !isUnthreaded) return undefined
  const details = { error_code: isUnthreaded ? 'thread_unsupported_request' : 'thread_not_found' }
  return { dialect: 'anthropic', members: { details } }
}

function paramOf({ code, params }: AppError): string | null {
  if (code === 'field_invalid' || code === 'untranslatable') return String(params.field)
  if (code === 'previous_response_unknown') return 'previous_response_id'
  if (code === 'item_unknown') return 'input'
  return aboutModel.has(code) ? 'model' : null
}

const aboutModel: ReadonlySet<string> = new Set(['model_not_found', 'model_required', 'model_beside_prompt'])

/** An upstream error caused by the caller's request: passed on as reported. */
export function passedError(status: number, facts: UpstreamErrorFacts): CallerError {
  return {
    status,
    message:
      facts.message === ''
        ? { zh: `上游以状态码 ${status} 拒绝了请求`, en: `The upstream refused the request with status ${status}` }
        : { zh: facts.message, en: facts.message },
    type: facts.type === '' ? 'invalid_request_error' : facts.type,
    code: facts.code === '' ? null : facts.code,
    param: facts.param,
    retryAfter: 0,
    final: isLasting(status),
    extra: facts.extra,
  }
}

interface ErrorContext {
  /** Quoted in the message, so that users can refer to it. */
  readonly requestId: string
  readonly language: Language
}

/** The JSON body of an error. */
export function errorBody(dialect: Dialect, error: CallerError, { requestId, language }: ErrorContext): string {
  const text = error.message[language]
  const quoted = { zh: `${text}（请求编号 ${requestId}）`, en: `${text} (request id: ${requestId})` }
  const message = text.includes(requestId) ? text : quoted[language]
  if (dialect === 'anthropic')
    return JSON.stringify({
      type: 'error',
      error: { type: anthropicType(error), message, ...extraFor(dialect, error) },
      request_id: requestId,
    })
  if (dialect === 'gemini')
    return JSON.stringify({
      error: { code: error.status, message, status: geminiStatus(error), ...retryInfo(error), ...extraFor(dialect, error) },
    })
  if (dialect === 'drawing') return JSON.stringify({ code: drawingCode(error), description: message, type: error.type })
  if (dialect === 'music') return JSON.stringify({ code: musicCode(error), message, data: null })
  return JSON.stringify({
    error: { message, type: error.type, param: error.param, code: error.code, ...extraFor(dialect, error) },
  })
}

/** The wait as Gemini's clients read it. */
function retryInfo({ retryAfter }: CallerError): JsonObject {
  if (retryAfter <= 0) return {}
  return { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${Math.ceil(retryAfter)}s` }] }
}

function extraFor(dialect: Dialect, { extra }: CallerError): JsonObject {
  return extra?.dialect === dialect ? extra.members : {}
}

/** The same error as the last event of a stream that has begun. */
export function errorEvent(dialect: Dialect, error: CallerError, telling: ErrorContext): string {
  const body = errorBody(dialect, error, telling)
  if (dialect === 'anthropic') return `event: error\ndata: ${body}\n\n`
  if (dialect === 'gemini') return `data: ${body}\r\n\r\n`
  return `data: ${body}\n\n`
}

/** Headers that SDKs read: the request id, by dialect, and whether and when to retry. */
export function errorHeaders(dialect: Dialect, error: CallerError, requestId: string): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    [dialect === 'anthropic' ? 'request-id' : 'x-request-id']: requestId,
    ...(error.retryAfter > 0 ? { 'retry-after': String(Math.ceil(error.retryAfter)) } : {}),
    ...(error.final ? { 'x-should-retry': 'false' } : {}),
  }
}

/** Anthropic reports overload with status 529, which its clients distinguish from 503. */
export function statusFor(dialect: Dialect, error: CallerError): number {
  return dialect === 'anthropic' && error.status === 503 && anthropicType(error) === 'overloaded_error' ? 529 : error.status
}

const anthropicTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  409: 'conflict_error',
  413: 'request_too_large',
  415: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

function anthropicType(error: CallerError): string {
  const { status, type } = error
  if (type === 'insufficient_quota' || type === 'budget_exceeded') return 'billing_error'
  if (isLastingFailure(error)) return type
  return anthropicTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}

/** A failure of the upstream that a repeated request meets again: its type is that of a refusal, in each dialect. */
function isLastingFailure({ status, type, final }: CallerError): boolean {
  return final && status >= 500 && lastingTypes.has(type)
}

const lastingTypes: ReadonlySet<string> = new Set(['insufficient_quota', 'permission_error', 'invalid_request_error'])

const geminiStatuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

function geminiStatus(error: CallerError): string {
  const { status } = error
  if (isLastingFailure(error)) return 'FAILED_PRECONDITION'
  return geminiStatuses[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
}

/** Codes of the drawing proxies: 30 for too many requests, 4 for an invalid request, 5 for a failure of the service. */
function drawingCode({ status }: CallerError): number {
  if (status === 429) return 30
  return status >= 500 ? 5 : 4
}

const musicCodes: ReadonlyMap<string, string> = new Map([
  ['insufficient_quota', 'quota_not_enough'],
  ['task_prompt_required', 'prompt_empty'],
  ['task_action_invalid', 'invalid_action'],
])

/** A name instead of a number, since the music API also reports success by name. */
function musicCode({ code, type }: CallerError): string {
  return musicCodes.get(code ?? '') ?? code ?? type
}
