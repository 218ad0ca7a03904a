import { completionTokens, noUsage, promptTokens, type Usage } from '../../../../contract/usage.ts'
import { AppError, fail } from '../../../base/lib/failure.ts'
import { isHeavy, yieldWithPriority } from '../../../base/lib/time/yield-to-event-loop.ts'
import type { BudgetWindow } from '../../../money/ledger/budget-window.ts'
import { type BudgetsLeft, type Hold, isQuotaRefusal, type QuotaRefusal } from '../../../money/ledger/ledger.ts'
import { affordableOutput, greatestCost, outputUnits, piecesOf, type TokenKinds } from '../../../money/pricing/greatest-cost.ts'
import { dearestCost, type Price } from '../../../money/pricing/quote.ts'
import type { UsageBound } from '../../../money/pricing/usage-bound.ts'
import {
  type Candidates,
  type ChannelLimits,
  channelLimits,
  isCalledWithBudgets,
  limitSetUpstream,
} from '../../channels/select/channel-limits.ts'
import { type OverriddenRequest, overriddenRequest } from '../../channels/select/overridden-request.ts'
import { raisedForThinking } from '../../protocols/anthropic-messages/thinking.ts'
import type { CallerFormat } from '../../protocols/format.ts'
import { textsBesideMedia } from '../../protocols/media-parts.ts'
import { outputTokensMin } from '../../protocols/openai-responses/models.ts'
import { greatestReplyFees } from '../../protocols/reply-fees.ts'
import { type RequestBound, readRequestBound } from '../../protocols/request-bound.ts'
import type { RequestFacts } from '../../protocols/wire-format.ts'
import type { StoringChannel } from '../conversations/history.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { Body } from '../http/read-body.ts'
import type { CallKind, HoldShares, Sample } from './hold-shares.ts'
import type { PromptCounter } from './prompt-counter.ts'

/**
 * Holds the greatest cost of a call, so that no balance goes below zero however many calls run at once. When the balance does not
 * cover it, the text is counted and what calls of its kind really use is held; a call without an output limit gets one that the balance
 * affords. A prompt whose length only the
 * upstream knows holds the cost of the model's whole context, or the whole free balance. See
 * docs/decisions/0023-holds-cover-the-cost.md and 0047-learnt-holds.md.
 */

/** The hold of a call and the bounds of its usage. */
export interface Reserved {
  readonly hold: Hold
  /** The upper bound of its usage; undefined where the price does not depend on tokens. */
  readonly bound: UsageBound | undefined
  /** The output limit of each completion that is sent upstream because the balance affords no more. */
  readonly outputLimit: number | undefined
  /** The kind of the call, to learn what calls like it use; undefined where the cost is known before. */
  readonly kind: CallKind | undefined
  /** The remainder of its budgets. */
  readonly budgetsLeft: BudgetsLeft
}

interface HoldRequest {
  readonly requestId: string
  readonly caller: { readonly userId: number; readonly tokenId: number; readonly pinnedChannel: number }
  readonly format: CallerFormat
  readonly facts: RequestFacts
  readonly body: Body
  readonly group: string
  readonly price: Price
  /** For a request that continues a conversation stored by an upstream. */
  readonly storingChannel: StoringChannel | undefined
  /** The budget windows that count the call. */
  readonly budgets: readonly BudgetWindow[] | undefined
}

/**
 * Reserves the greatest cost of a call. Throws `quota_insufficient`, `token_quota_insufficient`, `budget_exceeded` or
 * `output_unaffordable` when balance or budgets do not cover it, and `database_unavailable`; then nothing is held.
 */
export function reserve(app: ReserveParts, asked: HoldRequest): Promise<Reserved> | Reserved {
  const { price, body } = asked
  const limits = channelLimits(app.channels.current, candidatesOf(asked))
  const sent = limits.overriding.length === 0 ? undefined : overriddenRequest(limits.overriding, overridable(asked))
  const facts = sent?.facts ?? asked.facts
  const { callsMax: calls = 1, requestedTier: tier, hostedTools = [] } = facts
  const fees = greatestReplyFees(facts.model, body.json)
  const pieces = piecesOf(price, { calls, hostedTools, fees, ...(tier ? { tier } : {}) })
  if (facts.most) return hold(app, asked, knownPlan(price, { ...facts.most, ...pieces }))
  if (price.fixedUsd >= 0) return hold(app, asked, { amount: dearestCost(price, { ...noUsage, ...pieces }) })
  const bounded = { asked, facts, pieces, limits, sent }
  return isHeavy(body.bytes.length) ? yieldWithPriority().then(() => holdBound(app, bounded)) : holdBound(app, bounded)
}

function candidatesOf({ caller, facts, group, storingChannel }: HoldRequest): Candidates {
  const channelId = storingChannel?.channelId ?? (caller.pinnedChannel === 0 ? undefined : caller.pinnedChannel)
  return { model: facts.model, group, channelId }
}

function overridable({ format, facts, body }: HoldRequest) {
  return { format, facts, body: body.json }
}

/** A call whose price depends on its tokens: as it was asked, and as the overrides of channels may send it. */
interface Bounded {
  readonly asked: HoldRequest
  readonly facts: RequestFacts
  readonly pieces: Partial<Usage>
  readonly limits: ChannelLimits
  readonly sent: OverriddenRequest | undefined
}

type ReserveParts = Pick<GatewayParts, 'channels' | 'ledger' | 'options'> & {
  readonly holdShares: HoldShares
  readonly promptCounter: PromptCounter
}

function hold(app: ReserveParts, { requestId, caller, budgets }: HoldRequest, plan: Plan): Promise<Reserved> | Reserved {
  const { bound, outputLimit, kind, ...wanted } = plan
  const held = { requestId, userId: caller.userId, tokenId: caller.tokenId, ...wanted, budgets }
  const reservedBy = (budgetsLeft: BudgetsLeft) => ({ hold: held, bound, outputLimit, kind, budgetsLeft })
  const holding = app.ledger.hold(held)
  return holding instanceof Promise ? holding.then(reservedBy) : reservedBy(holding)
}

/** Holds for a call whose price depends on its tokens. Synchronous unless the ledger is remote or the balance is low. */
function holdBound(app: ReserveParts, bounded: Bounded): Promise<Reserved> | Reserved {
  const { asked } = bounded
  const call = new BoundedCall(app, bounded)
  try {
    const holding = hold(app, asked, call.plan())
    return holding instanceof Promise ? holding.catch((error) => holdWithin(app, asked, call, error)) : holding
  } catch (error) {
    return holdWithin(app, asked, call, error)
  }
}

/** Holds the amount that the balance affords, after a larger hold was refused. */
async function holdWithin(app: ReserveParts, asked: HoldRequest, call: BoundedCall, refused: unknown): Promise<Reserved> {
  let error = refused
  for (let refusals = 1; ; refusals++) {
    // Each plan is based on the balance of a moment ago, which other calls may have reduced since.
    if (!isQuotaRefusal(error)) throw error
    if (refusals === refusalsMax) throw error.params.have < error.params.need ? error : new AppError('server_busy')
    const plan = await call.planWithin(error)
    try {
      return await hold(app, asked, plan)
    } catch (next) {
      app.holdShares.ended(asked.caller.userId, asked.requestId)
      error = next
    }
  }
}

const refusalsMax = 8

/** The amount to hold, and the usage that it allows. */
interface Plan {
  readonly amount: number
  readonly needs?: number
  readonly takesAll?: boolean
  readonly bound?: UsageBound
  readonly outputLimit?: number
  readonly kind?: CallKind
}

function knownPlan(price: Price, most: Usage): Plan {
  const bound = { promptTokens: promptTokens(most), outputTokens: completionTokens(most) }
  return { amount: dearestCost(price, most), bound }
}

/** A call whose price depends on its tokens. */
class BoundedCall {
  readonly #app: { readonly holdShares: HoldShares; readonly promptCounter: PromptCounter }
  readonly #asked: HoldRequest
  /** With what the overrides of channels add. */
  readonly #facts: RequestFacts
  readonly #bound: RequestBound
  /** Members whose length only the upstream knows. */
  readonly #unbounded: readonly string[]
  readonly #addedBytes: number
  readonly #kinds: TokenKinds
  readonly #limits: ChannelLimits
  /** The sum over all completions. */
  readonly #outputTokens: number
  /** Upper bound of the text tokens that needs no counting. */
  readonly #bytes: number
  readonly #leastLimit: number

  constructor(app: ReserveParts, { asked, facts, pieces, limits, sent }: Bounded) {
    const { body } = asked
    const bytes = body.form ? Buffer.from(JSON.stringify(body.json)) : body.bytes
    this.#app = app
    this.#asked = asked
    this.#facts = facts
    this.#limits = limits
    this.#addedBytes = sent?.bytes ?? 0
    this.#bound = readRequestBound({ facts, body: body.json, bytes, models: limits.models })
    this.#unbounded = sent ? [...new Set([...this.#bound.unbounded, ...sent.unbounded])] : this.#bound.unbounded
    this.#kinds = { ...this.#bound, pieces }
    this.#bytes = this.#bound.textTokens + this.#beside
    const declared = facts.outputTokensMax
    const longest = this.#limits.outputTokensMax * this.#completions
    if (declared !== undefined) {
      const sent = Math.max(declared, this.#raisedLimit(app, declared / this.#completions) * this.#completions)
      this.#outputTokens = this.#limits.ignoresLimits ? Math.max(sent, longest) : sent
    } else this.#outputTokens = Math.max(this.#writtenLimit(app) ?? longest, app.options.current.PreConsumedQuota)
    this.#leastLimit = this.#bound.thinkingBudget > 0 ? this.#bound.thinkingBudget + limitMin : limitMin
  }

  /** A plan without counting, for balances that are far above it. */
  plan(): Plan {
    const amount = this.#isUnbounded ? this.#costOfContext() : this.#cost(this.#bytes, this.#outputTokens)
    const isExact = this.#isUnbounded || this.#bytes <= countedFrom
    return {
      amount,
      needs: isExact ? amount : amount * 10,
      bound: this.#usageBound(this.#outputTokens),
      kind: this.#kindOf(amount),
    }
  }

  /**
   * A plan for the free balance that the refusal reports: with the text counted and what is usual for calls of its kind, else with an
   * output limit. Throws when no plan is affordable.
   */
  async planWithin(refusal: QuotaRefusal): Promise<Plan> {
    const { have } = refusal.params
    const textTokens = await this.#countText()
    const whole = this.#cost(textTokens, this.#outputTokens)
    const learnt = this.#learntPlan(textTokens, have)
    if (learnt) return learnt
    const kind = this.#kindOf(this.plan().amount)
    if (have >= whole && !this.#isUnbounded) return { amount: whole, bound: this.#usageBound(this.#outputTokens), kind }
    if (this.#isLimited) {
      if (have < whole) throw refusalFor(refusal, whole)
      return { ...this.#allOf(have), bound: this.#usageBound(this.#outputTokens), kind }
    }

    const outputLimit = this.#affordableLimit(textTokens, refusal)
    const outputTokens = outputLimit * this.#completions
    const held = this.#isUnbounded ? this.#allOf(have) : { amount: this.#cost(textTokens, outputTokens) }
    return { ...held, outputLimit, bound: this.#usageBound(outputTokens), kind }
  }

  /**
   * Holds what calls of this kind use, as far as that is known and leaves the user's risk within its bound: up to a quarter of what is
   * free where the greatest cost is more. A declared output limit is held in full. Undefined when nothing is learnt, or it is not affordable.
   */
  #learntPlan(textTokens: number, have: number): Plan | undefined {
    const { caller, price, requestId } = this.#asked
    const kind = this.#kindOf(this.plan().amount)
    const share = this.#app.holdShares.shareOf(kind.name, caller.userId)
    if (!share) return undefined
    const sent = this.#learntLimit(textTokens, have)
    const outputTokens = sent === undefined ? this.#outputTokens : sent * this.#completions
    const most = this.#cost(this.#isUnbounded ? this.#limits.contextTokens : textTokens, outputTokens)
    const least = Math.min(most, this.#leastHeld(kind, share))
    const riskLeft = this.#app.holdShares.riskLeft(caller.userId, price.quotaPerUnit)
    const amount = Math.max(least, Math.min(most, Math.floor(have / 4)), most - riskLeft)
    if (amount > have) return undefined
    // In the same step as the check above, so that calls at the same time cannot pass it together.
    this.#app.holdShares.began(caller.userId, requestId, most - amount)
    return {
      amount,
      bound: this.#usageBound(outputTokens),
      ...(sent === undefined ? {} : { outputLimit: sent }),
      kind: { ...kind, isLearnt: true },
    }
  }

  #leastHeld(kind: CallKind, share: Sample): number {
    const output = this.#isLimited ? kind.output : kind.output * share.output
    return Math.ceil(kind.prompt * share.prompt + output)
  }

  /** The output limit of a call without one whose longest answer the balance does not cover: what all that is free affords. */
  #learntLimit(textTokens: number, have: number): number | undefined {
    if (this.#isLimited || have >= this.#cost(textTokens, this.#outputTokens)) return undefined
    const completions = this.#completions
    const affords = affordableOutput(this.#asked.price, this.#kinds, { textTokens, completions, units: have })
    return Math.min(Math.max(affords, this.#leastLimit), Math.ceil(this.#outputTokens / completions))
  }

  /** The answer has a limit that is not for us to lower. */
  get #isLimited(): boolean {
    return this.#facts.outputTokensMax !== undefined || this.#limits.ignoresLimits
  }

  /** `amount` is the greatest cost of the call. Short and long texts are kinds of their own, since a template is a large part of a short one. */
  #kindOf(amount: number): CallKind {
    const { facts, format, price } = this.#asked
    const { imageTokens, audioTokens } = this.#bound
    const size = this.#isUnbounded ? 'open' : 32 - Math.clz32(this.#bytes)
    const media = `${imageTokens > 0 ? 'image' : ''}${audioTokens > 0 ? 'audio' : ''}`
    const limit = this.#isLimited ? 'limit' : ''
    const output = Math.min(amount, outputUnits(price, this.#kinds, this.#outputTokens))
    const name = `${format} ${this.#unbounded.join()} ${media} ${limit} ${this.#completions} ${size} ${facts.model}`
    return { name, prompt: amount - output, output }
  }

  /** The whole free balance, at most the cost of the model's context: with less than that, a call without a bound runs alone. */
  #allOf(have: number): Pick<Plan, 'amount' | 'takesAll'> {
    const most = this.#costOfContext()
    return have < most ? { amount: have, takesAll: true } : { amount: most }
  }

  /**
   * A quarter of the free balance, so that other calls may run at the same time; at least 4,096 tokens where the whole free balance
   * affords them.
   */
  #affordableLimit(textTokens: number, refusal: QuotaRefusal): number {
    const { price } = this.#asked
    const { have } = refusal.params
    const completions = this.#completions
    const affords = affordableOutput(price, this.#kinds, { textTokens, completions, units: have })
    const least = () => refusalFor(refusal, this.#cost(textTokens, this.#leastLimit * completions))
    if (affords < 0) throw least()
    if (affords < this.#leastLimit && refusal.code === 'budget_exceeded') throw least()
    if (affords < this.#leastLimit) fail('output_unaffordable', { tokens: affords, least: this.#leastLimit })
    const wanted = Math.max(Math.floor(affords / 4), usualLimit, this.#leastLimit)
    return Math.min(wanted, affords, Math.ceil(this.#outputTokens / completions))
  }

  /** The output limit that the gateway writes for a request without one; undefined for a request with reasoning, which gets more. */
  #writtenLimit(app: Pick<GatewayParts, 'channels' | 'options'>): number | undefined {
    const { format } = this.#asked
    if (this.#thinks || this.#limits.ignoresLimits) return undefined
    const claudeDefaultMaxTokens = app.options.current['claude.default_max_tokens']
    const each = limitSetUpstream(app.channels.current, candidatesOf(this.#asked), { format, claudeDefaultMaxTokens })
    return each === undefined ? undefined : each * this.#completions
  }

  /** The most to which a limit of one answer is raised on its way: to the vendor's least one, and above a budget for thinking. */
  #raisedLimit(app: Pick<GatewayParts, 'channels'>, limit: number): number {
    const { format } = this.#asked
    const least = Math.max(limit, outputTokensMin)
    const { current } = app.channels
    if (!this.#thinks || !isCalledWithBudgets(current, candidatesOf(this.#asked), format)) return least
    return Math.max(least, Math.min(raisedForThinking(limit, this.#bound.thinkingBudget), this.#limits.outputTokensMax))
  }

  get #thinks(): boolean {
    const { reasoningEffort, model } = this.#asked.facts
    return reasoningEffort !== undefined || this.#bound.thinkingBudget > 0 || model.endsWith('-thinking')
  }

  get #isUnbounded(): boolean {
    return (
      this.#unbounded.length > 0 ||
      this.#limits.addsToPrompts ||
      (this.#asked.storingChannel !== undefined && this.#asked.storingChannel.tokens === 0)
    )
  }

  get #completions(): number {
    return this.#facts.completions ?? 1
  }

  /** Tokens of the conversation that the upstream stores, and of what channels and upstreams add to the request. */
  get #beside(): number {
    const { promptBytes, addedTokens } = this.#limits
    return (this.#asked.storingChannel?.tokens ?? 0) + promptBytes + addedTokens + this.#addedBytes
  }

  async #countText(): Promise<number> {
    const { body, caller } = this.#asked
    if (isHeavy(body.bytes.length)) await yieldWithPriority()
    const { texts, listedNumbers } = textsBesideMedia(body.json)
    const tokens = await this.#app.promptCounter.most(caller.userId, texts, this.#limits.models)
    const counted = tokens + listedNumbers + this.#bound.templateTokens + this.#beside
    return Math.min(this.#bytes, counted)
  }

  #cost(textTokens: number, outputTokens: number): number {
    const { contextTokens } = this.#limits
    return greatestCost(this.#asked.price, this.#kinds, { textTokens: Math.min(textTokens, contextTokens), outputTokens })
  }

  #costOfContext(): number {
    return this.#cost(this.#limits.contextTokens, this.#outputTokens)
  }

  #usageBound(outputTokens: number): UsageBound {
    const { imageTokens, audioTokens, cacheLifetime } = this.#bound
    const { contextTokens } = this.#limits
    const kept = cacheLifetime ? { cacheLifetime } : {}
    // A vendor's hosted tools read the prompt again in each of their steps.
    if (this.#isUnbounded) return { promptTokens: contextTokens * stepsMax, outputTokens: outputTokens * stepsMax, ...kept }
    const promptTokens = Math.min(contextTokens, this.#bytes + imageTokens + audioTokens)
    return { promptTokens, promptTokensOpen: contextTokens * stepsMax, outputTokens, ...kept }
  }
}

/** The error of a refusal, with `need` as the units that the call needs. */
function refusalFor({ code, params }: QuotaRefusal, need: number): AppError {
  return new AppError(code, { ...params, need })
}

/** Counting a text of fewer tokens saves nothing. */
const countedFrom = 2_000
/** The least useful output limit. */
const limitMin = 256
const usualLimit = 4_096
const stepsMax = 16
