import { reportFailure } from '../../channels/health.ts'
import type { RunningChannel } from '../../channels/model-index.ts'
import { background } from '../../lib/logger.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { RelayParts } from '../relay-parts.ts'
import type { UpstreamFailure } from './failure.ts'

/** Tells those who watch the channels of a failure that is none of the caller's. */
export function noteFailure(app: RelayParts, call: ClientExchange, channel: RunningChannel, failure: UpstreamFailure): void {
  app.metrics.upstreamAttempts.inc({ outcome: failure.kind })
  if (failure.isCallersMistake || failure.kind === 'stopped') return
  app.callerLog.of(call.client).warn({ request: call.id, channel: channel.id, reason: failure.reason }, 'a channel failed')
  // What an upstream says of a wrong address says nothing of the key.
  if (failure.isLoop) return
  const { message, code, type } = failure.facts
  background(app.logger, 'report a failed channel', reportFailure(app, channel, { status: failure.status, code, type, message }))
}
