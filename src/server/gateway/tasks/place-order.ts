import { AppError } from '../../base/lib/failure.ts'
import { background } from '../../base/lib/log/logger.ts'
import type { Core } from '../../base/options/core.ts'
import type { Hold } from '../../money/ledger/ledger.ts'
import type { RelayCaller } from '../../people/tokens/authenticate.ts'
import { disableChannel } from '../channels/health/auto-disable.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import { candidatesOf } from '../channels/select/candidates.ts'
import { resolveModel } from '../channels/select/select.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import {
  type Attempt,
  type ChannelAttempt,
  type TryParts,
  tryChannels,
  type Unanswered,
} from '../relay/try-channels/try-channels.ts'
import { UpstreamFailure } from '../relay/upstream/failure.ts'
import { callerHeaders } from '../relay/upstream/request-target.ts'
import type { AuthorizedOrder } from './authorize-order.ts'
import { callUpstream, type TaskCall } from './call-upstream.ts'
import type { Accepted, Order, QuestionFacts, Refused, Verdict } from './order.ts'
import { keyedChannel } from './videos/vendor-call.ts'

interface Placing {
  readonly call: ClientExchange
  readonly caller: RelayCaller
  readonly order: Order
  readonly admitted: AuthorizedOrder
  readonly hold: Hold
  /** The URL to which the upstream may report; '' for none. */
  readonly hook: string
  /** The model name for which the price was found. */
  readonly priced: string
}

/** The parts that placing an order uses. */
export type PlaceParts = TryParts & Pick<RelayParts, 'accessTokens' | 'budgets' | 'ledger' | 'upstream'>

/** The last outcome of placing an order. */
export type Placed =
  | AcceptedOrder
  /** The upstream's refusal, which the caller gets. */
  | { readonly refused: Refused; readonly channel: RunningChannel }
  | Unanswered

export interface AcceptedOrder extends Pick<Attempt, 'choice' | 'candidates'> {
  readonly accepted: Accepted
  readonly channel: RunningChannel
  readonly attempts: readonly Attempt[]
}

/**
 * Sends an order to a channel, and to another if the first has certainly not accepted it. After a timeout the order may have been
 * accepted: then no other channel is tried.
 */
export async function placeOrder(app: PlaceParts, placing: Placing): Promise<Placed> {
  const { call, caller, order, admitted, hold } = placing
  const { group, model, home } = admitted
  const asked = {
    ...{ call, caller, group, model, home, format: order.format },
    enterBudgets: (channelId: number) => app.budgets.enterChannel(app.ledger, hold, channelId),
    mayTryAnother: isUntaken,
  }
  const tried = await tryChannels(app, asked, (attempt) => ask(app, placing, attempt))
  if (!tried.answer) {
    const { failure } = tried
    return failure instanceof RefusedOrder ? { refused: failure.verdict, channel: failure.channel } : tried
  }
  const { answer, channel, choice, considered, failed: attempts } = tried
  const { verdict } = answer
  if (!verdict.isAccepted) return { refused: verdict, channel }
  return { accepted: verdict, channel, choice, candidates: considered && candidatesOf(considered), attempts }
}

/** An upstream refuses an order that another channel may take. The channel is not at fault. */
class RefusedOrder extends UpstreamFailure {
  readonly verdict: Refused
  readonly channel: RunningChannel

  constructor(verdict: Refused, channel: RunningChannel) {
    super('status', { status: 200 })
    this.verdict = verdict
    this.channel = channel
  }

  override get reason(): string {
    return `code ${this.verdict.code}`
  }
}

function isUntaken(failure: UpstreamFailure): boolean {
  return failure.kind === 'unreachable' || (failure.kind === 'status' && failure.isRetryable)
}

async function ask(
  app: Core & Pick<RelayParts, 'accessTokens' | 'upstream'>,
  { call, order, admitted, hook, priced }: Placing,
  { channel, trace }: ChannelAttempt,
): Promise<{ readonly verdict: Verdict; readonly upstreamModel: string } | UpstreamFailure> {
  const keyed = await keyedChannel(app, channel)
  if (keyed instanceof UpstreamFailure) return keyed
  const facts = { hook, priced, channel, keyed, mapped: (model: string) => resolveModel(channel, model) }
  const question = await questionOf(order, facts)
  if (question instanceof UpstreamFailure) return question
  const answer = await callUpstream(app.upstream, channel, { ...question, caller: callerHeaders({ call }), trace })
  if (answer instanceof UpstreamFailure) return answer
  const verdict = order.read(answer, channel, resolveModel(channel, admitted.model))
  if (!verdict) return new UpstreamFailure('bad-reply', { facts: { message: 'the answer names no task' } })
  if (!verdict.isAccepted && verdict.isOutOfAccounts) noteNoAccount(app, channel)
  if (!verdict.isAccepted && verdict.isChannels) return new RefusedOrder(verdict, channel)
  return { verdict, upstreamModel: resolveModel(channel, admitted.model) }
}

/** An order that this channel cannot take is the caller's mistake. */
async function questionOf(order: Order, facts: QuestionFacts): Promise<TaskCall | UpstreamFailure> {
  try {
    return await order.question(facts)
  } catch (error) {
    if (error instanceof AppError) return new UpstreamFailure('untranslatable', { own: error })
    throw error
  }
}

function noteNoAccount(app: Core, channel: RunningChannel): void {
  if (!app.options.current.AutomaticDisableChannelEnabled || !channel.autoBan) return
  background(app.logger, 'disable a channel without accounts', disableChannel(app, channel, '没有可用的账号 / it has no account'))
}
