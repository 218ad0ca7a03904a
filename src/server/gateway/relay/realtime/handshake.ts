import type { WebSocket } from 'ws'
import { noUsage } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import { replacementOf } from '../../channels/index/model-replacements.ts'
import type { RateLimitLease } from '../../limits/rate-limit-lease.ts'
import { authorizeModel } from '../admission/admit-request.ts'
import { authenticateCall, type CallerParts } from '../admission/authenticate.ts'
import { enterLimits, withinLimits } from '../admission/limits.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { type BillParts, longestAnswer, RealtimeBill } from './charges.ts'
import { type ConnectParts, connectRealtime } from './connect.ts'
import { RealtimeSession } from './session.ts'

/** A WebSocket handshake that is not accepted yet: until `accept` it can be refused with an HTTP response. */
export interface Handshake {
  readonly call: ClientExchange
  readonly query: URLSearchParams
  /** The subprotocols that the caller offers. */
  readonly offered: readonly string[]
  accept(): Promise<WebSocket>
  /** Registers the session, so that it is stopped with the server. */
  runs(session: Stoppable): void
}

/** A running session: `stop` announces that the server stops, `cut` ends a session that has not ended in time. */
export interface Stoppable {
  stop(): void
  cut(): void
}

/** The parts that a realtime session uses. */
type RealtimeParts = CallerParts & BillParts & ConnectParts & Pick<GatewayParts, 'deadlines'>

/**
 * A realtime session, from the caller's handshake to its last charge: authenticate, admit, price, hold, connect to a channel, and only then
 * accept the caller. A refusal is an HTTP response to the handshake.
 */
export async function handleRealtime(app: RealtimeParts, handshake: Handshake): Promise<void> {
  const { call } = handshake
  const caller = await authenticateCall(app, { from: 'token' }, call)
  const lease = app.limits.leaseOf(caller, call.id)
  let wasAccepted = false
  const run = () =>
    serve(app, handshake, { caller, lease }, () => {
      wasAccepted = true
    })
  if (lease) await withinLimits(app, { call, lease, answered: () => wasAccepted }, run)
  else await run()
}

async function serve(
  app: RealtimeParts,
  handshake: Handshake,
  { caller, lease }: { readonly caller: RelayCaller; readonly lease: RateLimitLease | undefined },
  accepted: () => void,
) {
  const { call, query, offered } = handshake
  const asked = query.get('model') ?? ''
  if (query.has('call_id')) fail('not_implemented')
  if (asked === '') fail('model_required')
  if (asked.length > 255) fail('field_invalid', { field: 'model', reason: 'at most 255 characters' })
  const model = replacementOf(app, asked) ?? asked
  const replaces = model === asked ? undefined : asked
  call.notes.asked = { model }
  const group = authorizeModel(app, caller, { model, format: 'openai.realtime', replaces })
  if (lease) await enterLimits(app, call, lease, { group, inputTokens: 0, outputTokens: 0 })
  const price = app.catalog.priceOf({ model, group, acceptsUnpriced: caller.acceptsUnpriced })
  call.notes.group = group
  const { id, client, notes } = call
  const bill = new RealtimeBill(app, { id, address: client.address, notes, caller, model, group, price, replaces })
  await bill.hold({ ...noUsage, input: firstInput, audioOutput: longestAnswer(model, app.options.current.PreConsumedQuota) })

  let run: { answered(ms: number): void } | undefined
  let handshakeMs = 0
  try {
    const isBeta =
      offered.includes('openai-beta.realtime-v1') || /realtime=v1/.test(String(call.request.headers['openai-beta'] ?? ''))
    const passed = new URLSearchParams([...query].filter(([name]) => name === 'intent'))
    const enterChannel = (channelId: number) => bill.enterChannel(channelId)
    const connected = await connectRealtime(app, { call, caller, model, group, query: passed, enterChannel, isBeta })
    if (!('socket' in connected)) return call.sendError(connected)
    run = connected.run
    handshakeMs = connected.handshakeMs
    bill.goesTo(connected)
    const client = await handshake.accept().catch((error: unknown) => {
      connected.socket.terminate()
      throw error
    })
    accepted()
    const stillAllowed = () => authenticateCall(app, { from: 'token' }, call)
    const session = new RealtimeSession(app, client, { call, caller, model, connected, bill, stillAllowed })
    handshake.runs(session)
    await session.over
  } finally {
    run?.answered(handshakeMs)
    await bill.end()
  }
}

/** Input tokens to hold for the first answer: the instructions of a session are unknown before it begins. */
const firstInput = 1_000
