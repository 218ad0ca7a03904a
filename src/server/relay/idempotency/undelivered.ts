import { AppError } from '../../lib/failure.ts'
import { sha256 } from '../../lib/secrets.ts'
import { isHeavy, yieldWithPriority } from '../../lib/yield-to-event-loop.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'
import type { Charge } from '../../wallet/ledger.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { AttemptState, RelayParts } from '../relay-parts.ts'
import { answerToStore, keptOf } from '../stored-responses/store-answer.ts'
import { fingerprintOf } from './claim-key.ts'

/**
 * A whole reply whose charge is not durable in time is not delivered: its caller gets 503, and the reply is kept for a repeat of the request
 * on this node, with the same idempotency key or, without one, with the same body and token.
 */

/**
 * Waits for the charge of a reply before any of it is sent. False: the charge is not durable, the reply is kept and the caller got an
 * error. Throws every error other than `database_unavailable`.
 */
export async function isSettled(
  app: Pick<RelayParts, 'undelivered'>,
  attempt: AttemptState,
  { settled, charge, reply }: Undeliverable,
): Promise<boolean> {
  try {
    await settled
    return true
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'database_unavailable') throw error
    const { call, caller, hold } = attempt.request
    const content = {
      ...reply,
      own: answerToStore(attempt, { whole: reply.body }),
      kept: keptOf(attempt, charge.rollup.tokens),
    }
    app.undelivered.keep({ slot: await slotOf(call, caller), hold, charge, content })
    call.sendError(error)
    return false
  }
}

interface Undeliverable {
  readonly settled: Promise<void>
  readonly charge: Charge
  readonly reply: { readonly contentType: string; readonly body: Buffer }
}

/** Charges and sends the undelivered reply to a repeat of its request. False when there is none. Throws `database_unavailable`. */
export async function deliverKept(
  app: Pick<RelayParts, 'localResponses' | 'logger' | 'undelivered' | 'upstreamResponses'>,
  call: ClientExchange,
  caller: RelayCaller,
): Promise<boolean> {
  const { undelivered } = app
  const entry = undelivered.take(await slotOf(call, caller))
  if (!entry) return false
  if (call.isDisconnected) {
    undelivered.putBack(entry)
    return true
  }
  const content = await undelivered.charge(entry)
  if (!content) return false

  const { own, kept, contentType, body } = content
  const writing = [...(own ? [app.localResponses.keep(own)] : []), ...(kept ? [app.upstreamResponses.keep(kept)] : [])]
  for (const { reason } of (await Promise.allSettled(writing)).filter((result) => result.status === 'rejected'))
    app.logger.error({ error: reason, request: call.id }, 'a response could not be kept')
  call.setHeader('x-sluice-original-request-id', entry.hold.requestId)
  call.answer(contentType, body)
  return true
}

/** The key under which a repeat finds the undelivered reply: user, token, idempotency key and request fingerprint. */
async function slotOf(call: ClientExchange, { userId, tokenId, pinnedChannel }: RelayCaller): Promise<string> {
  const { method = '', url = '', headers } = call.request
  const key = headers['idempotency-key']
  const body = await call.readBody()
  if (isHeavy(body.bytes.length)) await yieldWithPriority()
  const fingerprint = fingerprintOf({ method, url, pinnedChannel, body })
  return `${userId} ${tokenId} ${key === undefined ? '' : sha256(String(key))} ${fingerprint}`
}
