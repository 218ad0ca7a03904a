import { toByteText } from '../../../base/lib/bytes/sse.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { readSession } from '../../channels/select/session.ts'
import type { FormatDeclaration } from '../../protocols/define-format.ts'
import type { Dialogue } from '../../protocols/dialogue.ts'
import type { CallerError } from '../../protocols/error-body.ts'
import { inDialect } from '../../protocols/error-dialect.ts'
import { formats } from '../../protocols/index.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import type { HoldShares } from '../admission/hold-shares.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { PartialReply } from '../response/adapter.ts'
import type { AttemptState, SharedByAttempts } from '../response/attempt-state.ts'
import { errorOf, type TryParts, tryChannels } from '../try-channels/try-channels.ts'
import { type AttemptParts, attemptChannel } from './attempt.ts'
import { settleLost } from './settle-attempt.ts'

/** The parts that answering a request uses. */
export type AnswerParts = AttemptParts & TryParts & Pick<GatewayParts, 'budgets'>

/**
 * Answers a request that holds its quota. `dialogue` is its neutral form, if that exists already. Rethrows an unexpected error
 * after the hold is released.
 */
export async function answerRequest(app: AnswerParts, request: AdmittedRequest, dialogue?: Dialogue): Promise<void> {
  const shared: SharedByAttempts = dialogue ? { dialogue } : {}
  try {
    await answer(app, request, shared)
  } catch (error) {
    await release(app, request)
    throw error
  } finally {
    shared.media?.close()
  }
}

/** A partial reply of which the caller received nothing is charged only if no other channel answers. */
async function answer(app: AnswerParts, request: AdmittedRequest, shared: SharedByAttempts): Promise<void> {
  const { call, caller, body, facts, format, group, hold, inputTokens, storingChannel } = request
  const { model } = facts
  let lost: { readonly state: AttemptState; readonly part: PartialReply } | undefined
  const wanted = {
    ...{ call, caller, group, model, inputTokens, format: format.format, home: storingChannel },
    session: () =>
      readSession({
        owner: `${caller.userId}/${caller.tokenId}`,
        model,
        headers: call.request.headers,
        body: body.json,
      }),
    enterBudgets: (channelId: number) => app.budgets.enterChannel(app.ledger, hold, channelId),
  }
  const tried = await tryChannels(app, wanted, async (attempt) => {
    const { failure, brokeOff, lost: part, state } = await attemptChannel(app, { ...attempt, request, shared })
    if (part) lost = { state, part }
    return failure ?? { upstreamModel: state.upstreamModel, account: shared.account, ...(brokeOff ? { brokeOff } : {}) }
  })
  if (tried.answer) return

  if (lost) await settleLost(app, lost.state, lost.part)
  else await release(app, request)
  const error = errorOf(tried, wanted, { promptTokens: inputTokens, sent: body.bytes })
  const { failedStream } = formats[format.format]
  if (failedStream && isSentInStream(request, error)) failInStream(request, error, failedStream)
  else call.sendError(error, format.stream?.errorEvent)
}

/** Clients that recognize errors in streams compact a conversation that is too long only when an event reports it, not the status. */
function isSentInStream({ facts, toStore }: AdmittedRequest, { known }: CallerError): boolean {
  const isForeground = toStore?.isBackground !== true
  return known?.kind === 'context-too-long' && facts.stream && isForeground
}

function failInStream(
  { call, body, facts, format }: AdmittedRequest,
  callerError: CallerError,
  failedStream: NonNullable<FormatDeclaration['failedStream']>,
): void {
  const { message, ...error } = inDialect(format.dialect, callerError)
  call.noteError(callerError)
  const quoted = `${message.en} (request id: ${call.id})`
  const context = {
    id: call.id,
    createdAt: seconds(call.startedMs),
    model: facts.model,
    newId: (prefix: string) => prefix + call.id,
  }
  if (!call.isCommitted)
    call.begin({ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache, no-transform' })
  call.end(toByteText(failedStream(body.json, { ...error, message: quoted, code: error.code ?? '' }, context)))
}

/** Releases the hold. A release that cannot be written now stays queued; the caller gets the error that came before. */
export async function release(
  app: Pick<GatewayParts, 'ledger' | 'logger'> & { readonly holdShares: HoldShares },
  { hold }: AdmittedRequest,
): Promise<void> {
  app.holdShares.ended(hold.userId, hold.requestId)
  try {
    await app.ledger.release(hold)
  } catch (error) {
    app.logger.error({ error, request: hold.requestId }, 'a hold is not released yet')
  }
}
