import { completionTokens, noUsage, promptTokens } from '../../../../contract/usage.ts'
import type { Snapshot } from '../../../base/lib/collections/snapshot.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Core } from '../../../base/options/core.ts'
import type { CallLedger } from '../../../money/ledger/ledger.ts'
import { findUsedKey } from '../../channels/index/find-used-key.ts'
import type { ChannelIndex, RunningChannel } from '../../channels/index/model-index.ts'
import { AnsweredModel } from '../../protocols/answered-model.ts'
import { countTokens } from '../../protocols/count-tokens.ts'
import type { StoredFormat } from '../../protocols/format.ts'
import { formats, storedFormOf } from '../../protocols/index.ts'
import { hasBothSides, withSides } from '../../protocols/usage-sides.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import type { HoldShares } from '../admission/hold-shares.ts'
import { type AnsweredParts, noteAnswered } from '../charge/answered.ts'
import { chargeFor, type Ending } from '../charge/charge-row.ts'
import { learnCost, plausibleEnding } from '../charge/settlement.ts'
import { type AboutResponse, askAbout, itemIdsIn, type UpstreamResponses } from '../conversations/upstream-responses.ts'
import type { UpstreamCallParts } from '../upstream/call-upstream.ts'
import { parseObject, UpstreamFailure } from '../upstream/failure.ts'
import type { PendingResponse, PendingResponses } from './pending-responses.ts'

/** The parts that charging a pending response uses. */
export interface PendingChargeParts extends AnsweredParts, Pick<Core, 'now' | 'options' | 'steady'> {
  readonly holdShares: HoldShares
  readonly ledger: CallLedger
  readonly pendingResponses: PendingResponses
  readonly upstreamResponses: UpstreamResponses
}

/** The parts that polling pending responses uses. */
interface PollParts extends PendingChargeParts, UpstreamCallParts, Core {
  readonly channels: Snapshot<ChannelIndex>
}

/** A response that runs longer is abandoned: its prompt is charged, and the site pays for its output. */
const agesSecondsMax = 24 * 60 * 60

/**
 * Polls the pending responses that are due and leased by this node, and charges those that have ended. Returns how many were closed.
 */
export async function settlePendingResponses(app: PollParts, signal: AbortSignal): Promise<number> {
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
export async function settleIfEnded(app: PendingChargeParts, asked: PendingResponse, response: JsonObject): Promise<boolean> {
  const format = formatOf(asked)
  const end = storedFormOf(format).readEnd(response)
  if (!end) return false
  const open = { ...asked, bill: { ...asked.bill, answeredModel: otherModelIn(response, asked.bill.sentModel) } }
  const { state, usage } = end
  const items = itemIdsIn(response.output)
  const text = usage && hasBothSides(usage) ? '' : formats[format].wire.replyText(response)
  if (usage && text === '') await settle(app, open, { usage, isEstimated: false }, items)
  else if (state === 'failed' && !(usage && promptTokens(usage) + completionTokens(usage) > 0)) await closeFree(app, open)
  else {
    const own = { ...noUsage, input: open.bill.inputTokens, output: await countTokens(text, open.bill.model) }
    const counted = { usage: usage ? withSides(usage, own) : own, isEstimated: true }
    await settle(app, open, state === 'cancelled' ? { ...counted, interrupted: 'client' } : counted, items)
  }
  return true
}

async function askFor(app: PollParts, open: PendingResponse): Promise<boolean> {
  try {
    const channel = await findUsedKey(app, open)
    const answer = channel && (await askAbout(app, channel, 'read', aboutOf(open)))
    if (answer && !(answer instanceof UpstreamFailure) && (await settleIfEnded(app, open, parseObject(answer.body)))) return true
    if (await giveUp(app, open, answer instanceof UpstreamFailure ? answer : undefined, channel)) return true
  } catch (error) {
    app.logger.warn({ error, request: open.hold.requestId }, 'an open response could not be settled yet')
  }
  await app.pendingResponses.askLater(open)
  return false
}

/** The format of a response; rows of Responses, and of older versions, have none. */
function formatOf({ bill }: Pick<PendingResponse, 'bill'>): StoredFormat {
  return bill.format?.format === 'gemini.interactions' ? 'gemini.interactions' : 'openai.responses'
}

function aboutOf(open: PendingResponse): AboutResponse {
  return { format: formatOf(open), id: open.id, model: open.bill.upstreamModel, caller: {} }
}

/** A response that the upstream no longer knows costs nothing; one that never ends is charged for its prompt. */
async function giveUp(
  app: PendingChargeParts,
  open: PendingResponse,
  failure: UpstreamFailure | undefined,
  channel: RunningChannel | undefined,
): Promise<boolean> {
  if (failure?.status === 404 && open.asked >= lostAfter) {
    await closeFree(app, open)
    return true
  }
  const isOld = seconds(app.now()) - open.createdAt > agesSecondsMax
  if (!isOld && channel) return false
  if (!isOld && open.asked < lostAfter) return false
  await settle(app, open, { usage: { ...noUsage, input: open.bill.inputTokens }, isEstimated: true, interrupted: 'upstream' })
  return true
}

const lostAfter = 5

/** Closes a response that costs nothing. */
async function closeFree(app: PendingChargeParts, { hold }: PendingResponse): Promise<void> {
  app.holdShares.ended(hold.userId, hold.requestId)
  await app.pendingResponses.close(hold.requestId)
}

function otherModelIn(response: JsonObject, sent = ''): string | undefined {
  const answered = new AnsweredModel({ sent, others: [], key: '' })
  answered.readReply(response)
  return answered.other
}

async function settle(
  app: PendingChargeParts,
  { id, channelId, keyId, hold, bill }: PendingResponse,
  ending: Ending,
  items: readonly string[] = [],
): Promise<void> {
  const known = plausibleEnding(ending, bill.bound, bill.promptPolicy)
  const charge = chargeFor(
    app,
    { ...bill, hold },
    { channel: { id: channelId, keyId }, upstreamModel: bill.upstreamModel },
    known,
  )
  learnCost(app, { ...bill, hold }, known, charge)
  noteAnswered(app, { bill, channelId, sent: bill.upstreamModel }, { usage: known.usage, charge })
  await app.ledger.settle(hold, charge)
  const { userId, tokenId } = bill.caller
  const key = storedFormOf(formatOf({ bill })).keyOf(id)
  const kept = { id: key, items, userId, tokenId, channelId, keyId, model: bill.model, tokens: charge.rollup.tokens }
  await app.upstreamResponses.keep(kept)
  await app.pendingResponses.close(hold.requestId)
}
