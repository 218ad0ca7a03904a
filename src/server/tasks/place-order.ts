import type { Choice } from '../../contract/entities/channel-choice.ts'
import { candidatesOf } from '../channels/candidates.ts'
import type { ReachedLimit } from '../channels/concurrency-slot.ts'
import { disableChannel } from '../channels/health.ts'
import type { RunningChannel } from '../channels/model-index.ts'
import { resolveModel, type Selected, type Selection, selectChannel, selectKey, selectPinned } from '../channels/select.ts'
import type { AppError } from '../lib/failure.ts'
import { background } from '../lib/logger.ts'
import type { Core } from '../options/core.ts'
import { enterChannelBudgets } from '../relay/admission/budgets.ts'
import type { Attempt } from '../relay/charge/billed.ts'
import { noteEndOfAttempt } from '../relay/charge/end-of-call.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { noteFailure, UpstreamFailure } from '../relay/upstream/failure.ts'
import { callerHeaders } from '../relay/upstream/request-target.ts'
import type { RelayCaller } from '../tokens/authenticate.ts'
import type { AttemptTrace } from '../usage/call-traces.ts'
import type { Hold } from '../wallet/ledger.ts'
import type { AuthorizedOrder } from './authorize-order.ts'
import { callUpstream } from './call-upstream.ts'
import type { Order, Verdict } from './order.ts'

export interface Placing {
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

/** The last outcome, and the failed attempts before it. */
export interface Placed {
  readonly outcome:
    | ({ readonly channel: RunningChannel; readonly verdict: Verdict } & Pick<Attempt, 'choice' | 'candidates'>)
    | UpstreamFailure
    | undefined
  readonly attempts: readonly Attempt[]
  /** Milliseconds until a channel may be free again; 0 when waiting does not help. */
  readonly waitMs: number
  /** The refusal of the last channel whose budgets had no room for the order. */
  readonly refusal: AppError | undefined
}

/**
 * Sends an order to a channel, and to another if the first has certainly not accepted it. After a timeout the order may have been
 * accepted: then no other channel is tried.
 */
export async function placeOrder(
  app: Core & Pick<RelayParts, 'budgets' | 'callObservers' | 'callerLog' | 'channels' | 'ledger' | 'traffic' | 'upstream'>,
  placing: Placing,
): Promise<Placed> {
  const { call, caller, admitted } = placing
  const isBound = caller.pinnedChannel !== 0 || admitted.home !== undefined
  const triesMax = isBound ? 1 : app.options.current.RetryTimes + 1
  const tried = new Set<number>()
  const full = new Map<number, ReachedLimit>()
  const attempts: Attempt[] = []
  let refusal: AppError | undefined
  let outcome: Placed['outcome']

  while (attempts.length < triesMax) {
    const next = select(app, placing, { tried, full })
    if (!next.channel) {
      call.notes.candidates = next.considered && candidatesOf(next.considered)
      return { outcome, attempts, waitMs: outcome ? 0 : next.waitMs, refusal }
    }
    const { channel, choice, considered } = next
    const windows = app.budgets.windowsOfChannel(channel.id)
    const refused = windows ? await enterChannelBudgets(app, placing.hold, windows) : undefined
    if (refused) {
      refusal = refused.error
      if (isBound) break
      full.set(channel.id, { limit: 'budget', waitMs: refused.waitMs })
      continue
    }
    const startedMs = app.steady()
    const trace = call.trace?.attempt(channel, startedMs)
    const verdict = await tryChannel(app, placing, { channel, choice, trace }, full)
    if (verdict === 'full') continue
    tried.add(channel.id)
    const isFailure = verdict instanceof UpstreamFailure
    const candidates = considered && candidatesOf(considered)
    outcome = isFailure ? verdict : { channel, verdict, choice, candidates }
    const result = resultOf(verdict)
    const upstreamModel = resolveModel(channel, admitted.model)
    const ended = { channel, choice, candidates, model: admitted.model, upstreamModel, startedMs, failure: result, trace }
    noteEndOfAttempt(app, call, ended)
    if (!result) break
    const { status, reason } = result
    attempts.push({ channel: channel.id, key: channel.keyId, status, reason, ms: app.steady() - startedMs, choice, candidates })
    if (isFailure && !isUntaken(verdict)) break
  }
  return { outcome, attempts, waitMs: 0, refusal }
}

/** The failure of an attempt; undefined for a verdict that is sent to the caller. */
function resultOf(verdict: Verdict | UpstreamFailure): Pick<UpstreamFailure, 'status' | 'reason' | 'isRetryable'> | undefined {
  if (verdict instanceof UpstreamFailure) return verdict
  return verdict.isAccepted || !verdict.isChannels
    ? undefined
    : { status: 200, reason: `code ${verdict.code}`, isRetryable: true }
}

function isUntaken(failure: UpstreamFailure): boolean {
  return failure.kind === 'unreachable' || (failure.kind === 'status' && failure.isRetryable)
}

function select(
  app: Pick<RelayParts, 'channels' | 'options' | 'traffic'>,
  { caller, order, admitted }: Placing,
  tried: Required<Pick<Selection, 'tried' | 'full'>>,
): Selected {
  const { channels, traffic, options } = app
  const { group, model, home } = admitted
  if (home) return selectKey(channels.current, home)
  if (caller.pinnedChannel !== 0) return selectPinned(channels.current, { id: caller.pinnedChannel, model }, traffic)
  const strategy = options.current.GroupRouting[group]
  return selectChannel(
    channels.current,
    { group, model, format: order.format, ...tried, ...(strategy ? { strategy } : {}) },
    traffic,
  )
}

/** `full`: the limits of the channel have no room, and it was not called. */
async function tryChannel(
  app: Core & Pick<RelayParts, 'callerLog' | 'traffic' | 'upstream'>,
  placing: Placing,
  { channel, choice, trace }: { channel: RunningChannel; choice: Choice; trace: AttemptTrace | undefined },
  full: Map<number, ReachedLimit>,
): Promise<Verdict | UpstreamFailure | 'full'> {
  const { call, order, admitted, hook, priced } = placing
  const asked = { id: call.id, model: admitted.model, inputTokens: 0, isPinned: choice === 'pinned' }
  const run = app.traffic.begin(channel, asked)
  try {
    const reached = run.refusal && (await run.refusal)
    if (reached) {
      full.set(channel.id, reached)
      return 'full'
    }
    const startedMs = app.steady()
    const answer = await callUpstream(app.upstream, channel, {
      ...order.question({ hook, priced, mapped: (model) => resolveModel(channel, model) }),
      caller: callerHeaders({ call }),
      trace,
    })
    const read = answer instanceof UpstreamFailure ? answer : order.read(answer)
    const verdict = read ?? new UpstreamFailure('bad-reply', { facts: { message: 'the answer names no task' } })
    if (verdict instanceof UpstreamFailure) {
      run.failed(verdict)
      noteFailure(app, call, channel, verdict)
    } else run.answered(app.steady() - startedMs)
    if (!(verdict instanceof UpstreamFailure) && !verdict.isAccepted && verdict.isOutOfAccounts) noteNoAccount(app, channel)
    return verdict
  } finally {
    run.abandoned()
  }
}

function noteNoAccount(app: Core, channel: RunningChannel): void {
  if (!app.options.current.AutomaticDisableChannelEnabled || !channel.autoBan) return
  background(app.logger, 'disable a channel without accounts', disableChannel(app, channel, '没有可用的账号 / it has no account'))
}
