import { AppError } from '../../../base/lib/failure.ts'
import type { Charge } from '../../../money/ledger/ledger.ts'
import type { HoldShares } from '../admission/hold-shares.ts'
import type { Calibration } from '../admission/token-estimate.ts'
import { noteAnswered } from '../charge/answered.ts'
import { billOf, chargeFor, type Ending } from '../charge/charge-row.ts'
import { noteCharge } from '../charge/end-of-call.ts'
import { boundOf, endingOf, learnAddition, learnCost, learnFrom, plausibleEnding } from '../charge/settlement.ts'
import type { ConversationParts } from '../conversations/history.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { slotOf, type UndeliveredReplies } from '../replies/undelivered-replies.ts'
import type { PartialReply } from '../response/adapter.ts'
import type { AttemptState } from '../response/attempt-state.ts'
import type { PendingResponses } from '../stored-responses/pending-responses.ts'
import { answerToStore, keptOf, noteSettled } from '../stored-responses/store-answer.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import type { Running } from '../upstream/http-exchange.ts'

/** The parts that charging an attempt uses. */
export type SettleParts = Pick<
  GatewayParts,
  'answeredModels' | 'catalog' | 'ledger' | 'logger' | 'now' | 'options' | 'promptAdditions' | 'steady' | 'traffic'
> &
  Pick<ConversationParts, 'upstreamResponses'> & {
    readonly calibration: Calibration
    readonly holdShares: HoldShares
    readonly pendingResponses: PendingResponses
  }

/**
 * How an attempt ended. Without a failure, the caller has the answer and its charge is durable, or the caller disconnected and the
 * usage is charged.
 */
export interface Ended {
  /** There is no output and no charge: another channel may be tried unless the answer is committed. */
  readonly failure?: UpstreamFailure
  /** Partial reply of which the caller received nothing: charged unless another channel answers. */
  readonly lost?: PartialReply
  /** Failure after the reply had begun: the caller keeps the partial reply, and the channel is at fault. */
  readonly brokeOff?: UpstreamFailure
}

export const answered: Ended = {}

/** The part of a reply of which nothing was read. */
export const noReply: PartialReply = { usage: undefined, isComplete: () => false, text: () => '' }

/** What a complete reply is charged for. A repetition that the vendor sends for free costs what it reports: nothing. */
export function endOf(
  request: AttemptState['request'],
  partial: PartialReply,
  exchange: Running | undefined,
): Promise<Ending> | Ending {
  const { usage } = partial
  return exchange?.isFreeRepetition && usage ? { usage, isEstimated: false } : endingOf(request, partial)
}

/** Charges a partial reply of which the caller received nothing, after every other channel has failed too. */
export async function settleLost(app: SettleParts, attempt: AttemptState, partial: PartialReply): Promise<void> {
  const ending = await endingOf(attempt.request, partial, 'upstream')
  await beginSettling(app, attempt, ending, true).settled
}

/**
 * Charges a request whose caller disconnected: the prompt and the output received so far, which the upstream may bill. A request that
 * never reached the upstream costs nothing.
 */
export async function leave(
  app: SettleParts,
  attempt: AttemptState,
  exchange: Running | undefined,
  partial: PartialReply,
): Promise<Ended> {
  const { request } = attempt
  if (exchange?.wasSent) await settle(app, attempt, await endingOf(request, partial, 'client'))
  else {
    app.holdShares.ended(request.caller.userId, request.hold.requestId)
    await app.ledger.release(request.hold)
  }
  return answered
}

/** Charges a file that was cut off. It must not look complete. */
export async function cutFile(app: SettleParts, attempt: AttemptState, failure: UpstreamFailure): Promise<Ended> {
  const { request } = attempt
  await settle(app, attempt, await endingOf(request, noReply, brokenOffBy(failure)))
  request.call.noteError(failure.forCaller({ promptTokens: request.inputTokens, sent: request.body.bytes }))
  request.call.drop()
  return { brokeOff: failure }
}

/**
 * Charges a whole reply before any of it is sent. False: the charge is not durable in time, the caller got 503, and the reply is kept
 * for a repeat of the request on this node. Throws every error other than `database_unavailable`.
 */
export async function settleReply(
  app: SettleParts & { readonly undelivered: UndeliveredReplies },
  attempt: AttemptState,
  ending: Ending,
  reply: { contentType: string; body: Buffer },
): Promise<boolean> {
  const { call, caller, hold } = attempt.request
  const { charge, settled } = beginSettling(app, attempt, ending)
  const chargedMs = app.steady()
  try {
    await settled
    call.notes.commitMs = Math.max(0, app.steady() - chargedMs)
    return true
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'database_unavailable') throw error
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

/** Charges an attempt; the promise ends when the charge is durable. */
export function settle(app: SettleParts, attempt: AttemptState, ending: Ending): Promise<void> {
  return beginSettling(app, attempt, ending).settled
}

function beginSettling(
  app: SettleParts,
  attempt: AttemptState,
  reported: Ending,
  isLost?: true,
): { charge: Charge; settled: Promise<void> } {
  const { request, channel, upstreamModel } = attempt
  const ending = plausibleEnding(reported, boundOf(attempt), channel.promptPolicy)
  const bill = billOf(attempt, isLost)
  const charge = chargeFor(app, bill, attempt, ending)
  noteAnswered(app, { bill, channelId: channel.id, sent: upstreamModel }, { usage: ending.usage, charge })
  request.lease?.noteTokens(charge.rollup.tokens)
  learnFrom(app, request, ending)
  learnAddition(app, attempt, ending)
  learnCost(app, request, ending, charge)
  app.traffic.used(channel, charge.rollup.tokens - request.inputTokens)
  noteCharge(request.call.notes, charge, ending.usage)
  const placed = attempt.response?.placed
  const settled = placed ? placed.then(() => app.ledger.settle(request.hold, charge)) : app.ledger.settle(request.hold, charge)
  if (!attempt.response) return { charge, settled }
  return { charge, settled: noteSettled(app, attempt, charge.rollup.tokens, settled) }
}

/** By whom a reply was broken off that had begun. */
export function brokenOffBy({ kind }: UpstreamFailure): 'node' | 'upstream' {
  return kind === 'stopped' ? 'node' : 'upstream'
}
