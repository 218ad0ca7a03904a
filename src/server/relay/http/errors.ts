import { isDatabaseFailure } from '../../db/open.ts'
import { AppError } from '../../lib/failure.ts'
import { quotaText } from '../../wallet/quota-text.ts'
import type { RelayParts } from '../relay-parts.ts'
import type { ClientExchange } from './client-exchange.ts'

/** The error to send to the caller. An unexpected error is logged and becomes `internal` with the request id. */
export function asAppError(app: Pick<RelayParts, 'callerLog' | 'options'>, call: ClientExchange, error: unknown): AppError {
  if (error instanceof AppError) return withAmounts(app, error)
  if (isDatabaseFailure(error)) return new AppError('database_unavailable', {}, { cause: error })
  app.callerLog.of(call.client).error({ error, request: call.id }, 'relay request failed')
  return new AppError('internal', { request: call.id }, { cause: error })
}

/** Replaces quota units in the parameters by amounts as the site displays them. */
function withAmounts(app: Pick<RelayParts, 'options'>, error: AppError): AppError {
  const { have, need } = error.params
  if (typeof have !== 'number' || typeof need !== 'number') return error
  return new AppError(
    error.code,
    { ...error.params, have: quotaText(app, have, 'down'), need: quotaText(app, need, 'up') },
    error,
  )
}
