import { modelLimitsOf } from '../../../../contract/model-limits.ts'
import { completionTokens, noUsage, promptTokens, type Usage } from '../../../../contract/usage.ts'
import { type Charge, type Hold, isQuotaRefusal } from '../../../money/ledger/ledger.ts'
import { dearestCost, type Price } from '../../../money/pricing/quote.ts'
import type { UsageBound } from '../../../money/pricing/usage-bound.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { CallNotes } from '../../../usage/calls/ended-calls.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import type { ChannelRefusal } from '../../limits/budgets.ts'
import type { RateLimitLease } from '../../limits/rate-limit-lease.ts'
import type { Refusal } from '../../limits/rule.ts'
import { AnsweredModel } from '../../protocols/answered-model.ts'
import { mostHeard } from '../../protocols/direct/transcriptions.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import { noteAnswered } from '../charge/answered.ts'
import type { Billed } from '../charge/billed.ts'
import { chargeFor, type Ending } from '../charge/charge-row.ts'
import { noteCharge } from '../charge/end-of-call.ts'
import { plausibleEnding } from '../charge/settlement.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { Attempt } from '../try-channels/try-channels.ts'

/** The parts that charging a session uses. */
export type BillParts = Pick<
  GatewayParts,
  'answeredModels' | 'budgets' | 'catalog' | 'ledger' | 'limits' | 'now' | 'options' | 'steady' | 'traffic'
>

/** Output tokens to hold for an answer without a limit; at least `PreConsumedQuota`. */
export function longestAnswer(model: string, least: number): number {
  return Math.max(least, modelLimitsOf(model).outputTokensMax)
}

/** The part of a bill that all charges of a session share. */
interface SessionBill {
  readonly id: string
  readonly address: string
  /** The notes of the call, for the record of the session. */
  readonly notes: CallNotes
  readonly caller: RelayCaller
  readonly model: string
  readonly group: string
  readonly price: Price
  /** The ended model that the caller has named, where another one is set in its place. */
  readonly replaces?: string | undefined
}

/** The channel, known once an upstream has accepted the session. */
interface SessionPlace {
  readonly channel: RunningChannel
  readonly upstreamModel: string
  readonly choice: Attempt['choice']
  readonly candidates: Attempt['candidates']
  readonly attempts: readonly Attempt[]
}

/**
 * The charges of a realtime session: there is always one hold for the next answer, and each answer is charged once, under a request id of
 * its own. A response that ends settles the hold; the next one is held before any further event is sent. Where speech is transcribed, it is
 * held before it is sent.
 */
export class RealtimeBill {
  readonly #app: BillParts
  readonly #bill: SessionBill
  /** Ids of charged responses and items: an upstream may send an end event twice. */
  readonly #charged = new Set<string>()
  #place: SessionPlace | undefined
  #answered: AnsweredModel | undefined
  #hold: Hold | undefined
  #transcript: HeldTranscript | undefined
  #lease: RateLimitLease | undefined
  #count = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(app: BillParts, bill: SessionBill) {
    this.#app = app
    this.#bill = bill
  }

  goesTo(place: SessionPlace): void {
    this.#place = place
    this.#answered = new AnsweredModel({ sent: place.upstreamModel, others: [], key: '' })
  }

  /** Reads which model the upstream says that it runs the session with. */
  runs(session: JsonObject): void {
    this.#answered?.readReply(session)
  }

  /**
   * Counts the hold of the first answer in the budgets of a channel, before the channel is called. Returns the refusal of a budget
   * without room.
   */
  enterChannel(channelId: number): Promise<ChannelRefusal | undefined> {
    return this.#alone(async () => this.#hold && this.#app.budgets.enterChannel(this.#app.ledger, this.#hold, channelId))
  }

  /**
   * Holds the greatest cost of the next answer, or the whole free balance where that covers the prompt and a short answer: a voice
   * session cannot get another output limit between two answers. An answer that costs more is charged at its hold; hard budgets need room
   * for the greatest cost. An existing hold that suffices is reused. Throws as `hold` of the ledger does; then nothing is held.
   */
  hold(most: Usage): Promise<void> {
    const { price, caller } = this.#bill
    const { userId, tokenId } = caller
    const amount = dearestCost(price, bounded(most))
    const least = dearestCost(price, bounded(shortAnswer(most)))
    const budgets = this.#budgets()
    const isExact = budgets?.some(({ limit }) => limit < Number.MAX_SAFE_INTEGER) === true
    const take = async (units: number) => {
      const hold = { requestId: this.#nextId(), userId, tokenId, amount: units, budgets }
      await this.#app.ledger.hold(hold)
      this.#hold = hold
    }
    return this.#alone(async () => {
      if (this.#hold && this.#hold.amount >= amount) return
      await this.#release()
      try {
        await take(amount)
      } catch (error) {
        if (isExact || !isQuotaRefusal(error) || error.params.have < least) throw this.#app.budgets.explain(error)
        await take(error.params.have)
      }
    })
  }

  /** Whether the current hold covers the transcription of this speech. */
  coversTranscript({ model, seconds }: Speech): boolean {
    return this.#transcript !== undefined && this.#transcript.model === model && this.#transcript.seconds >= seconds
  }

  /**
   * Holds the greatest cost of the transcripts of speech. An existing hold that suffices is reused. Throws as `hold` does; then the
   * existing hold stays.
   */
  holdTranscript(speech: Speech): Promise<void> {
    return this.#alone(async () => {
      if (this.coversTranscript(speech)) return
      const { model, seconds, prompt } = speech
      const price = this.#priceOf(model)
      // The upstream may report in seconds or in tokens.
      const most = mostHeard('', seconds, prompt)
      const bound = { promptTokens: promptTokens(most), outputTokens: most.output }
      const output = { ...noUsage, output: bound.outputTokens }
      const amount = Math.max(
        dearestCost(price, { ...output, input: bound.promptTokens }),
        dearestCost(price, { ...output, audioInput: bound.promptTokens }),
      )
      const { userId, tokenId } = this.#bill.caller
      const hold = { requestId: this.#nextId(), userId, tokenId, amount, budgets: this.#budgets([model, price.model]) }
      try {
        await this.#app.ledger.hold(hold)
      } catch (error) {
        throw this.#app.budgets.explain(error)
      }
      await this.#releaseTranscript()
      this.#transcript = { hold, price, bound, model, seconds }
    })
  }

  /** Acquires a rate-limit lease for the next answer, unless it has one. Returns the refusal. */
  enter(most: Usage): Promise<Refusal | undefined> {
    return this.#alone(async () => {
      const lease = this.#lease ? undefined : this.#app.limits.leaseOf(this.#bill.caller, this.#nextId(), { isPart: true })
      if (!lease) return undefined
      const need = { group: this.#bill.group, inputTokens: promptTokens(most), outputTokens: completionTokens(most) }
      const refusal = await lease.acquire(need)
      if (!refusal) this.#lease = lease
      return refusal
    })
  }

  /** Charges an answer; durable when it resolves. `id` is the upstream's id of it. */
  settle(id: string, startedMs: number, ending: Ending): Promise<void> {
    return this.#alone(async () => {
      if (this.#wasCharged(id)) return
      const { price } = this.#bill
      const hold = this.#hold ?? (await this.#holdAfterwards(this.#nothingHeld(), price, ending))
      this.#hold = undefined
      const bill = this.#billOf(hold, price, startedMs, this.#answered?.other)
      const charge = this.#chargeFor(bill, ending)
      this.#lease?.noteTokens(charge.rollup.tokens)
      this.#lease?.release(true)
      this.#lease = undefined
      this.#app.traffic.used(this.#placed().channel, charge.rollup.tokens)
      noteCharge(this.#bill.notes, charge, ending.usage)
      await this.#app.ledger.settle(hold, charge)
      const { channel, upstreamModel: sent } = this.#placed()
      noteAnswered(this.#app, { bill, channelId: channel.id, sent }, { usage: ending.usage, charge })
    })
  }

  /**
   * Charges a transcription, at the price of its own model where that has one, and at most what is held for speech. The hold of the next
   * answer stays.
   */
  settleTranscript(id: string, model: string, startedMs: number, ending: Ending): Promise<void> {
    return this.#alone(async () => {
      if (this.#wasCharged(id)) return
      const held = this.#transcript
      this.#transcript = undefined
      const price = held?.price ?? this.#priceOf(model)
      const heard = plausibleEnding(ending, held?.bound)
      const hold = held?.hold ?? (await this.#holdAfterwards(this.#nothingHeld([model, price.model]), price, heard))
      const charge = this.#chargeFor(this.#billOf(hold, price, startedMs), heard)
      noteCharge(this.#bill.notes, charge, ending.usage)
      await this.#app.ledger.settle(hold, charge)
    })
  }

  /** Writes the checkpoint of the running answer. */
  checkpoint(startedMs: number, usage: Usage): void {
    if (!this.#hold) return
    const ending = { usage, isEstimated: true, interrupted: 'node' } as const
    const bill = this.#billOf(this.#hold, this.#bill.price, startedMs, this.#answered?.other)
    this.#app.ledger.checkpoint(this.#hold, this.#chargeFor(bill, ending))
  }

  /** Ends the session and releases the remaining hold. */
  end(): Promise<void> {
    return this.#alone(() => {
      this.#lease?.release(false)
      this.#lease = undefined
      return Promise.all([this.#release(), this.#releaseTranscript()]).then(() => {})
    })
  }

  async #release(): Promise<void> {
    const hold = this.#hold
    this.#hold = undefined
    if (hold) await this.#app.ledger.release(hold)
  }

  async #releaseTranscript(): Promise<void> {
    const held = this.#transcript
    this.#transcript = undefined
    if (held) await this.#app.ledger.release(held.hold)
  }

  /** Events of caller and upstream arrive concurrently; their charges are written one after the other. */
  #alone<Value>(work: () => Promise<Value>): Promise<Value> {
    const next = this.#last.then(work)
    this.#last = next.catch(() => {})
    return next
  }

  #wasCharged(id: string): boolean {
    if (id === '') return false
    if (this.#charged.has(id)) return true
    const [oldest] = this.#charged
    if (this.#charged.size >= chargedMax && oldest !== undefined) this.#charged.delete(oldest)
    this.#charged.add(id)
    return false
  }

  #billOf(hold: Hold, price: Price, startedMs: number, answeredModel?: string): Billed {
    const { address, caller, group, replaces } = this.#bill
    const { choice, candidates, attempts } = this.#placed()
    const call = { id: hold.requestId, startedMs, firstByteMs: startedMs, client: { address } }
    const facts = { stream: true, reasoningEffort: undefined }
    return { call, caller, facts, group, price, attempts, choice, candidates, hold, replaces, answeredModel }
  }

  #chargeFor(bill: Billed, ending: Ending): Charge {
    const { channel, upstreamModel } = this.#placed()
    return chargeFor(this.#app, bill, { channel, upstreamModel }, plausibleEnding(ending, undefined))
  }

  /**
   * Holds the cost of an answer that an upstream began by itself before the next hold was taken, or what is free of it: the site bears the
   * rest, so that no balance goes below zero. Nothing is held while the database is down.
   */
  async #holdAfterwards(nothing: Hold, price: Price, ending: Ending): Promise<Hold> {
    const bill = this.#billOf({ ...nothing, amount: Number.MAX_SAFE_INTEGER }, price, this.#app.steady())
    const cost = this.#chargeFor(bill, ending).amount
    let amount = cost
    // Other calls may take what was free in between.
    for (let tries = 0; amount > 0 && tries < lateHoldsMax; tries++) {
      const hold = { ...nothing, amount }
      try {
        await this.#app.ledger.hold(hold)
        return hold
      } catch (error) {
        if (!isQuotaRefusal(error)) return nothing
        amount = Math.min(error.params.have, amount - 1)
      }
    }
    return nothing
  }

  #priceOf(model: string): Price {
    const { catalog } = this.#app
    const { caller, group, price } = this.#bill
    if (model === '' || !catalog.modelPriceOf(model)) return price
    return catalog.priceOf({ model, group, acceptsUnpriced: caller.acceptsUnpriced })
  }

  #nothingHeld(models?: readonly string[]): Hold {
    const { userId, tokenId } = this.#bill.caller
    return { requestId: this.#nextId(), userId, tokenId, amount: 0, budgets: this.#budgets(models) }
  }

  #budgets(models: readonly string[] = [this.#bill.model, this.#bill.price.model]) {
    const { caller, group } = this.#bill
    const ofCaller = this.#app.budgets.windowsOf(caller, group, models)
    const ofChannel = this.#place && this.#app.budgets.windowsOfChannel(this.#place.channel.id)
    return ofCaller && ofChannel ? [...ofCaller, ...ofChannel] : (ofCaller ?? ofChannel)
  }

  #nextId(): string {
    this.#count++
    return `${this.#bill.id}-${this.#count}`
  }

  #placed(): SessionPlace {
    if (!this.#place) throw new Error('Nothing can be charged before an upstream has taken the session')
    return this.#place
  }
}

interface Speech {
  readonly model: string
  readonly prompt: string
  readonly seconds: number
}

interface HeldTranscript extends Omit<Speech, 'prompt'> {
  readonly hold: Hold
  readonly price: Price
  readonly bound: UsageBound
}

const chargedMax = 10_000
const lateHoldsMax = 5
const shortAnswerTokens = 256

function shortAnswer(most: Usage): Usage {
  const { output, audioOutput } = most
  return { ...most, output: Math.min(output, shortAnswerTokens), audioOutput: Math.min(audioOutput, shortAnswerTokens) }
}

/** Reported token counts are capped, so that their sum stays a safe integer. */
const tokensMax = 10_000_000

function bounded(usage: Usage): Usage {
  const { input, audioInput, output, audioOutput } = usage
  const least = (tokens: number) => Math.min(tokens, tokensMax)
  return {
    ...noUsage,
    input: least(input),
    audioInput: least(audioInput),
    output: least(output),
    audioOutput: least(audioOutput),
  }
}
