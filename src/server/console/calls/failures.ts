import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Envelope } from '../../../contract/envelope.ts'
import type { ErrorCode } from '../../../contract/errors.ts'
import { type Language, languageOf } from '../../../contract/text.ts'
import { isContention } from '../../base/db/contention.ts'
import { isDatabaseFailure } from '../../base/db/failures.ts'
import { AppError } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'

/**
 * Answers a failure as an envelope in the caller's language. Business failures are HTTP 200; some kinds keep their status. Unexpected
 * errors are logged here, once, and the caller gets only the request id.
 */
export function answerFailure(
  core: Core,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  error: unknown,
  send = (failure: AppError) => reply.send(failureEnvelope(failure, request)),
): FastifyReply {
  const failure = toAppError(error, request)
  const { onConsole, status } = failure.kind
  logFailure(core, request, failure)

  if (typeof failure.params.seconds === 'number') reply.header('retry-after', failure.params.seconds)
  reply.status(onConsole === 'status' ? status : 200)
  return send(failure)
}

export function failureEnvelope(failure: AppError, request: FastifyRequest): Envelope {
  return refusalOf(failure, languageOf(request.headers['accept-language']))
}

/** The members of a refusal, for replies that have other members too. */
export function refusalOf(failure: AppError, language: Language) {
  return { success: false, message: failure.text(language), code: failure.code } as const
}

function toAppError(error: unknown, request: FastifyRequest): AppError {
  if (error instanceof AppError) return error
  if (isDatabaseFailure(error) || isContention(error)) return new AppError('database_unavailable', {}, { cause: error })
  return refusedByServer(error, request) ?? new AppError('internal', { request: request.id }, { cause: error })
}

const serverCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'media_type_unsupported',
  FST_ERR_CTP_INVALID_JSON_BODY: 'bad_json',
  FST_ERR_BAD_URL: 'route_unknown',
}

const unparsed = { zh: '无法解析', en: 'it cannot be parsed' }

/** Requests that the HTTP server refuses before a handler runs. */
function refusedByServer(error: unknown, request: FastifyRequest): AppError | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined
  if (typeof error.statusCode !== 'number' || error.statusCode >= 500) return undefined
  const code =
    serverCodes['code' in error ? String(error.code) : ''] ?? (error instanceof SyntaxError ? 'bad_json' : 'bad_request')
  const path = request.url.split('?', 1)[0] ?? ''
  const reason = code === 'bad_json' ? unparsed : error.message
  return new AppError(code, { reason, limit: request.routeOptions?.bodyLimit ?? 0, method: request.method, path })
}

function logFailure({ logger }: Core, request: FastifyRequest, failure: AppError): void {
  const fields = {
    request: request.id,
    route: request.routeOptions?.url,
    code: failure.code,
    // Only unexpected errors are logged with their stack.
    error: failure.cause instanceof Error ? failure.cause.message : failure.cause,
    detail: failure.detail,
  }
  if (failure.code === 'internal') logger.error({ ...fields, error: failure.cause }, 'console call failed')
  else if (failure.kind.status >= 500) logger.warn(fields, 'console call failed')
  else if (failure.cause !== undefined || failure.detail !== undefined) logger.info(fields, 'console call refused')
}
