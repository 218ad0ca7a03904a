import { billOf, chargeFor } from '../charge/charge-row.ts'
import { boundOf, owedSoFar, plausibleEnding } from '../charge/settlement.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { AttemptState } from '../response/attempt-state.ts'
import type { StreamReply } from '../response/stream.ts'
import type { Running } from '../upstream/http-exchange.ts'

/** A running stream. */
interface Flowing {
  readonly exchange: Running
  readonly reply: StreamReply
  readonly heartbeat: string
}

/**
 * Every five seconds: a heartbeat after ten seconds without output, a checkpoint of the cost so far in case this process dies, and
 * a check of the caller. A caller that has read nothing for minutes is disconnected.
 */
export function keepAlive(
  app: Pick<GatewayParts, 'deadlines' | 'ledger' | 'logger' | 'now' | 'options' | 'steady'>,
  attempt: AttemptState,
  { exchange, reply, heartbeat }: Flowing,
) {
  const { request, channel } = attempt
  const { call } = request
  const { first_byte_timeout_ms: firstMs = 0 } = channel.setting
  const isAwaited = request.toStore?.isBackground !== true
  // A heartbeat commits the answer: there is none while another channel may still take over from a slow one.
  const silenceMaxMs = () => (reply.interceptor.arrived.hasOutput ? heartbeatAfterMs : Math.max(heartbeatAfterMs, firstMs))
  const beat = () => {
    if (call.isDisconnected) return
    const silentMs = app.steady() - call.lastWriteMs
    if (call.isBlocked && silentMs >= blockedMaxMs) return call.drop()
    if (!call.isBlocked && isAwaited && silentMs >= silenceMaxMs()) reply.heartbeat(heartbeat)
    // A response that continues at the upstream has a row that charges it when this process dies.
    if (exchange.wasSent && !attempt.response?.written) checkpoint()
    app.deadlines.refresh(beats.deadline, checkpointEveryMs)
  }
  const checkpoint = () => {
    try {
      const owed = plausibleEnding(owedSoFar(request, reply.interceptor.arrived), boundOf(attempt), channel.promptPolicy)
      app.ledger.checkpoint(request.hold, chargeFor(app, billOf(attempt), attempt, owed))
    } catch (error) {
      // A failed checkpoint does not stop the stream; an error thrown from a timer would end the process.
      app.logger.error({ error, request: call.id }, 'a checkpoint failed')
    }
  }
  const beats = { deadline: app.deadlines.after(checkpointEveryMs, beat) }
  return beats
}

const heartbeatAfterMs = 10_000
const checkpointEveryMs = 5_000
const blockedMaxMs = 300_000
