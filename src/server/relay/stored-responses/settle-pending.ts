import { noUsage } from '../../../contract/usage.ts'
import { findUsedKey } from '../../channels/find-used-key.ts'
import type { RunningChannel } from '../../channels/model-index.ts'
import { seconds } from '../../lib/clock.ts'
import { countTokens } from '../../protocols/count-tokens.ts'
import { wireFormats } from '../../protocols/index.ts'
import { readEnd } from '../../protocols/openai-responses/states.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import { chargeFor, type Ending } from '../charge/charge-row.ts'
import { plausibleEnding } from '../charge/settlement.ts'
import type { RelayParts } from '../relay-parts.ts'
import { parseObject, UpstreamFailure } from '../upstream/failure.ts'
import type { PendingResponse } from './pending-responses.ts'
import { itemIdsIn } from './store-answer.ts'
import { askAbout } from './upstream-calls.ts'

/** The parts that charging a pending response uses. */
export type PendingChargeParts = Pick<
  RelayParts,
  'ledger' | 'now' | 'options' | 'pendingResponses' | 'steady' | 'upstreamResponses'
>

/** A response that runs longer is given up: its prompt is charged, its output is the operator's loss. */
const agesSecondsMax = 24 * 60 * 60

/**
 * Polls the pending responses that are due and leased by this node, and charges those that have ended. Returns how many were closed.
 */
export async function settlePendingResponses(app: RelayParts, signal: AbortSignal): Promise<number> {
  const claimed = await app.pendingResponses.claim()
  let closed = 0
  for (let at = 0; at < claimed.length && !signal.aborted; at += togetherMax) {
    const ends = await Promise.all(claimed.slice(at, at + togetherMax).map((open) => askFor(app, open)))
    closed += ends.filter((isClosed) => isClosed).length
  }
  await app.pendingResponses.sweep()
  return closed
}

const togetherMax = 10

/**
 * Charges a pending response that has ended; false while it runs. The charge is unique by its request, so that repeats do not charge twice.
 */
export async function settleIfEnded(app: PendingChargeParts, open: PendingResponse, response: JsonObject): Promise<boolean> {
  const end = readEnd(response)
  if (!end) return false
  const { state, usage } = end
  const items = itemIdsIn(response.output)
  if (usage) await settle(app, open, { usage, isEstimated: false }, items)
  else if (state === 'failed') await app.pendingResponses.close(open.hold.requestId)
  else {
    const output = await countTokens(wireFormats['openai.responses'].replyText(response), open.bill.model)
    const counted = { usage: { ...noUsage, input: open.bill.inputTokens, output }, isEstimated: true }
    await settle(app, open, state === 'cancelled' ? { ...counted, interrupted: 'client' } : counted, items)
  }
  return true
}

async function askFor(app: RelayParts, open: PendingResponse): Promise<boolean> {
  try {
    const channel = await findUsedKey(app, open)
    const answer = channel && (await askAbout(app, channel, 'read', { id: open.id, model: open.bill.upstreamModel, caller: {} }))
    if (answer && !(answer instanceof UpstreamFailure) && (await settleIfEnded(app, open, parseObject(answer.body)))) return true
    if (await giveUp(app, open, answer instanceof UpstreamFailure ? answer : undefined, channel)) return true
  } catch (error) {
    app.logger.warn({ error, request: open.hold.requestId }, 'an open response could not be settled yet')
  }
  await app.pendingResponses.askLater(open)
  return false
}

/** A response that the upstream no longer knows costs nothing; one that never ends is charged for its prompt. */
async function giveUp(
  app: PendingChargeParts,
  open: PendingResponse,
  failure: UpstreamFailure | undefined,
  channel: RunningChannel | undefined,
): Promise<boolean> {
  if (failure?.status === 404 && open.asked >= lostAfter) {
    await app.pendingResponses.close(open.hold.requestId)
    return true
  }
  const isOld = seconds(app.now()) - open.createdAt > agesSecondsMax
  if (!isOld && channel) return false
  if (!isOld && open.asked < lostAfter) return false
  await settle(app, open, { usage: { ...noUsage, input: open.bill.inputTokens }, isEstimated: true, interrupted: 'upstream' })
  return true
}

const lostAfter = 5

async function settle(
  app: PendingChargeParts,
  { id, channelId, keyId, hold, bill }: PendingResponse,
  ending: Ending,
  items: readonly string[] = [],
): Promise<void> {
  const charge = chargeFor(app, bill, { id: channelId, keyId }, bill.upstreamModel, plausibleEnding(ending, bill.bound))
  await app.ledger.settle(hold, charge)
  const { userId, tokenId } = bill.caller
  const kept = { id, items, userId, tokenId, channelId, keyId, model: bill.model, tokens: charge.rollup.tokens }
  await app.upstreamResponses.keep(kept)
  await app.pendingResponses.close(hold.requestId)
}
