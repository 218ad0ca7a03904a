import { isDatabaseFailure } from '../db/open.ts'
import { AppError } from '../lib/failure.ts'
import type { Call } from './call.ts'
import type { RelayParts } from './relay-parts.ts'

/** What the caller is told of an error that no step expected: its request id, nothing else. */
export function asAppError(app: RelayParts, call: Call, error: unknown): AppError {
  if (error instanceof AppError) return error
  if (isDatabaseFailure(error)) return new AppError('database_unavailable', {}, { cause: error })
  app.callerLog.of(call.client).error({ error, request: call.id }, 'relay request failed')
  return new AppError('internal', { request: call.id }, { cause: error })
}
