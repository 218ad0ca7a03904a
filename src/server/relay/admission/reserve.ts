import { type ModelLimits, modelLimitsOf } from '../../../contract/model-limits.ts'
import { completionTokens, noUsage, promptTokens, type Usage } from '../../../contract/usage.ts'
import type { ChannelIndex, RunningChannel } from '../../channels/model-index.ts'
import { resolveModel } from '../../channels/select.ts'
import { promptOf } from '../../channels/system-prompt.ts'
import { upstreamFormat } from '../../channels/upstream-format.ts'
import { AppError, fail } from '../../lib/failure.ts'
import { isHeavy, yieldWithPriority } from '../../lib/yield-to-event-loop.ts'
import { affordableOutput, greatestCost, piecesOf, type TokenKinds } from '../../pricing/greatest-cost.ts'
import { costOf, type Price } from '../../pricing/quote.ts'
import type { UsageBound } from '../../pricing/usage-bound.ts'
import { rulesOf } from '../../protocols/anthropic-messages/models.ts'
import { messagesLimit } from '../../protocols/anthropic-messages/thinking.ts'
import { mostTokens } from '../../protocols/count-tokens.ts'
import type { CallerFormat } from '../../protocols/format.ts'
import { textsBesideMedia } from '../../protocols/media-parts.ts'
import { type RequestBound, readRequestBound } from '../../protocols/request-bound.ts'
import type { RequestFacts } from '../../protocols/wire-format.ts'
import type { BudgetWindow } from '../../wallet/budget-window.ts'
import { type BudgetsLeft, type Hold, isQuotaRefusal, type QuotaRefusal } from '../../wallet/ledger.ts'
import type { StoringChannel } from '../admitted-request.ts'
import type { Body } from '../http/read-body.ts'
import type { RelayParts } from '../relay-parts.ts'

/**
 * Holds the greatest cost of a call, so that no balance goes below zero however many calls run at once. When the balance does not
 * cover the longest answer, a call without an output limit gets one that the balance affords. A prompt whose length only the
 * upstream knows holds the cost of the model's whole context, or the whole free balance. See
 * docs/decisions/0023-holds-cover-the-cost.md.
 */

/** The hold of a call and the bounds of its usage. */
export interface Reserved {
  readonly hold: Hold
  /** The upper bound of its usage; undefined where the price does not depend on tokens. */
  readonly bound: UsageBound | undefined
  /** The output limit of each completion that is sent upstream because the balance affords no more. */
  readonly outputLimit: number | undefined
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
  const { facts, price } = asked
  const { callsMax: calls = 1, requestedTier: tier, hostedTools = [] } = facts
  const pieces = piecesOf(price, { calls, hostedTools, ...(tier ? { tier } : {}) })
  if (facts.most) return hold(app, asked, knownPlan(price, { ...facts.most, ...pieces }))
  if (price.fixedUsd >= 0) return hold(app, asked, { amount: costOf(price, { ...noUsage, ...pieces }) })
  return isHeavy(asked.body.bytes.length)
    ? yieldWithPriority().then(() => holdBound(app, asked, pieces))
    : holdBound(app, asked, pieces)
}

type ReserveParts = Pick<RelayParts, 'channels' | 'ledger' | 'options'>

function hold(app: ReserveParts, { requestId, caller, budgets }: HoldRequest, plan: Plan): Promise<Reserved> | Reserved {
  const { bound, outputLimit, ...wanted } = plan
  const held = { requestId, userId: caller.userId, tokenId: caller.tokenId, ...wanted, budgets }
  const reservedBy = (budgetsLeft: BudgetsLeft) => ({ hold: held, bound, outputLimit, budgetsLeft })
  const holding = app.ledger.hold(held)
  return holding instanceof Promise ? holding.then(reservedBy) : reservedBy(holding)
}

/** Holds for a call whose price depends on its tokens. Synchronous unless the ledger is remote or the balance is low. */
function holdBound(app: ReserveParts, asked: HoldRequest, pieces: Partial<Usage>): Promise<Reserved> | Reserved {
  const call = new BoundedCall(app, asked, pieces)
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
}

function knownPlan(price: Price, most: Usage): Plan {
  const bound = { promptTokens: promptTokens(most), outputTokens: completionTokens(most) }
  return { amount: costOf(price, most), bound }
}

/** A call whose price depends on its tokens. */
class BoundedCall {
  readonly #asked: HoldRequest
  readonly #bound: RequestBound
  readonly #kinds: TokenKinds
  readonly #limits: ChannelLimits
  /** The sum over all completions. */
  readonly #outputTokens: number
  /** Upper bound of the text tokens that needs no counting. */
  readonly #bytes: number
  readonly #leastLimit: number

  constructor(app: Pick<RelayParts, 'channels' | 'options'>, asked: HoldRequest, pieces: Partial<Usage>) {
    const { caller, facts, body, group, storingChannel } = asked
    const channelId = storingChannel?.channelId ?? (caller.pinnedChannel === 0 ? undefined : caller.pinnedChannel)
    const candidates = { model: facts.model, group, channelId }
    const bytes = body.form ? Buffer.from(JSON.stringify(body.json)) : body.bytes
    this.#asked = asked
    this.#bound = readRequestBound({ facts, body: body.json, bytes })
    this.#kinds = { ...this.#bound, pieces }
    this.#limits = channelLimits(app.channels.current, candidates)
    this.#bytes = this.#bound.textTokens + this.#beside
    const declared = facts.outputTokensMax
    const longest = this.#limits.outputTokensMax * this.#completions
    if (declared !== undefined) this.#outputTokens = this.#limits.ignoresLimits ? Math.max(declared, longest) : declared
    else this.#outputTokens = Math.max(this.#writtenLimit(app, candidates) ?? longest, app.options.current.PreConsumedQuota)
    this.#leastLimit = this.#bound.thinkingBudget > 0 ? this.#bound.thinkingBudget + limitMin : limitMin
  }

  /** A plan without counting, for balances that are far above it. */
  plan(): Plan {
    const amount = this.#isUnbounded ? this.#costOfContext() : this.#cost(this.#bytes, this.#outputTokens)
    const isExact = this.#isUnbounded || this.#bytes <= countedFrom
    return { amount, needs: isExact ? amount : amount * 10, bound: this.#usageBound(this.#outputTokens) }
  }

  /**
   * A plan for the free balance that the refusal reports: first with the text counted, then with an output limit. Throws when no plan is
   * affordable.
   */
  async planWithin(refusal: QuotaRefusal): Promise<Plan> {
    const { have } = refusal.params
    const textTokens = await this.#countText()
    const whole = this.#cost(textTokens, this.#outputTokens)
    if (have >= whole && !this.#isUnbounded) return { amount: whole, bound: this.#usageBound(this.#outputTokens) }
    if (this.#asked.facts.outputTokensMax !== undefined || this.#limits.ignoresLimits) {
      if (have < whole) throw refusalFor(refusal, whole)
      return { ...this.#allOf(have), bound: this.#usageBound(this.#outputTokens) }
    }

    const outputLimit = this.#affordableLimit(textTokens, refusal)
    const outputTokens = outputLimit * this.#completions
    const held = this.#isUnbounded ? this.#allOf(have) : { amount: this.#cost(textTokens, outputTokens) }
    return { ...held, outputLimit, bound: this.#usageBound(outputTokens) }
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
  #writtenLimit(app: Pick<RelayParts, 'channels' | 'options'>, candidates: Candidates): number | undefined {
    const { facts, format } = this.#asked
    const thinks = facts.reasoningEffort !== undefined || this.#bound.thinkingBudget > 0 || facts.model.endsWith('-thinking')
    if (thinks || this.#limits.ignoresLimits) return undefined
    const claudeDefaultMaxTokens = app.options.current['claude.default_max_tokens']
    const each = limitSetUpstream(app.channels.current, candidates, { format, claudeDefaultMaxTokens })
    return each === undefined ? undefined : each * this.#completions
  }

  get #isUnbounded(): boolean {
    return (
      this.#bound.unbounded.length > 0 || (this.#asked.storingChannel !== undefined && this.#asked.storingChannel.tokens === 0)
    )
  }

  get #completions(): number {
    return this.#asked.facts.completions ?? 1
  }

  /** Tokens of the conversation that the upstream stores, and of the system prompts of channels. */
  get #beside(): number {
    return (this.#asked.storingChannel?.tokens ?? 0) + this.#limits.promptBytes
  }

  async #countText(): Promise<number> {
    const { body, facts } = this.#asked
    if (isHeavy(body.bytes.length)) await yieldWithPriority()
    const { texts, listedNumbers } = textsBesideMedia(body.json)
    const counted = (await mostTokens(texts, facts.model)) + listedNumbers + this.#bound.templateTokens + this.#beside
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
    return { promptTokens: Math.min(contextTokens, this.#bytes + imageTokens + audioTokens), outputTokens, ...kept }
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

/** The upper limits over all channels that may answer a request. */
interface ChannelLimits extends ModelLimits {
  /** Some channel exceeds the output limit of a request. */
  readonly ignoresLimits: boolean
  /** Length in bytes of the longest system prompt that a channel adds. */
  readonly promptBytes: number
}

const known = new WeakMap<ChannelIndex, Map<string, ChannelLimits>>()
/** A channel that serves a pattern has any number of model names. */
const knownMax = 2_000

/** The channels that may answer: those that serve a model to a group, or a single one. */
interface Candidates {
  readonly model: string
  readonly group: string
  readonly channelId: number | undefined
}

/** The limits of a model over the channels that serve it to a group, or over a single channel. Cached until a channel changes. */
function channelLimits(index: ChannelIndex, candidates: Candidates): ChannelLimits {
  const { model, group, channelId } = candidates
  const ofIndex = known.get(index) ?? new Map<string, ChannelLimits>()
  // The length keeps keys distinct when groups or models have spaces in their names.
  const key = `${channelId ?? 0} ${group.length} ${group} ${model}`
  const kept = ofIndex.get(key)
  if (kept) return kept
  const limits = limitsOver(channelsOf(index, candidates), model)
  if (ofIndex.size >= knownMax) ofIndex.clear()
  known.set(index, ofIndex.set(key, limits))
  return limits
}

function channelsOf(index: ChannelIndex, { model, group, channelId }: Candidates): readonly RunningChannel[] {
  return channelId === undefined ? index.candidates(group, model).flat() : index.keysOf(channelId)
}

/**
 * The output limit that the gateway itself writes for a request without one, when every channel gets it: channels that are called in
 * Messages from another format. Undefined when some channel is called without a limit.
 */
function limitSetUpstream(
  index: ChannelIndex,
  candidates: Candidates,
  {
    format,
    claudeDefaultMaxTokens,
  }: { readonly format: CallerFormat; readonly claudeDefaultMaxTokens: Readonly<Record<string, number>> },
): number | undefined {
  const channels = channelsOf(index, candidates)
  const limits = channels.map((channel) => {
    const model = resolveModel(channel, candidates.model)
    const target = format === 'anthropic.messages' ? undefined : upstreamFormat(channel, { format, model })
    return target === 'anthropic.messages'
      ? messagesLimit([candidates.model, model], { claudeDefaultMaxTokens }, rulesOf(model))
      : Number.POSITIVE_INFINITY
  })
  const most = Math.max(0, ...limits)
  return most > 0 && Number.isFinite(most) ? most : undefined
}

function limitsOver(channels: readonly RunningChannel[], model: string): ChannelLimits {
  const models = channels.length === 0 ? [model] : [...new Set(channels.map((channel) => resolveModel(channel, model)))]
  const each = models.map(modelLimitsOf)
  return {
    contextTokens: Math.max(...each.map(({ contextTokens }) => contextTokens)),
    outputTokensMax: Math.max(...each.map(({ outputTokensMax }) => outputTokensMax)),
    ignoresLimits: channels.some(({ setting }) => setting.ignores_limits === true || setting.reasoning_beside_limit === true),
    promptBytes: Math.max(0, ...channels.map(({ setting }) => Buffer.byteLength(promptOf(setting).text))),
  }
}
