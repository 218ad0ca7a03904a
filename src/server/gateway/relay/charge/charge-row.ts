import { numberIn } from '../../../../contract/by-model.ts'
import { type LogOther, logType } from '../../../../contract/entities/log.ts'
import { isSameModel } from '../../../../contract/model-names.ts'
import { inBothLanguages, type Text } from '../../../../contract/text.ts'
import {
  cachedTokens,
  cacheWriteBuckets,
  completionTokens,
  longCacheLifetimes,
  promptTokens,
  type Tier,
  type Usage,
} from '../../../../contract/usage.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Core } from '../../../base/options/core.ts'
import type { Charge, SiteCost } from '../../../money/ledger/ledger.ts'
import { costBeyond } from '../../../money/pricing/plausible.ts'
import { costOf, type Price, type PricedUsage, priceAt, priceMet, tierFactor } from '../../../money/pricing/quote.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import { isAtVendor } from '../../channels/row/model-ends.ts'
import { candidatesOf } from '../../channels/select/candidates.ts'
import type { Redirected } from '../admission/admitted-request.ts'
import type { AttemptState } from '../response/attempt-state.ts'
import { type Billed, type BilledUsage, billedUsage, droppedOf, tierSent } from './billed.ts'

/** The channel and key of the reply, and the model that was sent. */
interface Answering {
  readonly channel: Pick<RunningChannel, 'id' | 'keyId'>
  readonly upstreamModel: string
}

/** How a reply ended, as far as its charge is concerned. */
export interface Ending {
  readonly usage: Usage
  readonly isEstimated: boolean
  /** The reported usage when it exceeds the bound of the request; `usage` is then the bound. */
  readonly reported?: Usage | undefined
  /** Prompt tokens of the report beyond those that the request can have, at an upstream that may add to prompts. */
  readonly promptAdded?: number | undefined
  readonly interrupted?: 'client' | 'upstream' | 'node' | 'moderation' | undefined
}

/** The bill of an attempt whose usage is not known yet. `isLost`: the caller received nothing of its reply. */
export function billOf(attempt: AttemptState, isLost?: true): Billed {
  const { request, failed, choice, considered, dropped, translation, sentTools, answered } = attempt
  const { call, caller, facts, format, group, otherPrices, leftOut, hold, outputLimit, replaces } = request
  const redirected = redirectMet(attempt)
  const price = redirected?.price ?? request.price
  const ofRequest = { call, caller, facts, format, group, price, otherPrices, leftOut, hold, outputLimit }
  const candidates = considered && candidatesOf(considered)
  return {
    ...ofRequest,
    attempts: failed,
    choice,
    candidates,
    dropped,
    translation,
    sentTools,
    answeredModel: answered.other,
    replaces,
    ...(redirected ? { isRedirected: true } : {}),
    ...(isLost ? { isLost } : {}),
  }
}

/** The redirect of the request where the vendor's own address has answered by its model, as announced. */
function redirectMet({ request, channel, upstreamModel, answered }: AttemptState): Redirected | undefined {
  const { redirected } = request
  if (!redirected || answered.other === undefined) return undefined
  const { model, answeredBy, vendor } = redirected.redirect
  const isAnnounced = upstreamModel === model && isSameModel(answeredBy, answered.other) && isAtVendor(channel, vendor)
  return isAnnounced ? redirected : undefined
}

/** The charge of a request and its log row, with every factor, so that it can be recomputed from the row alone. */
export function chargeFor(
  app: Pick<Core, 'now' | 'steady' | 'options'>,
  admitted: Billed,
  { channel, upstreamModel }: Answering,
  ending: Ending,
): Charge {
  const nowMs = app.steady()
  const bill = atPricesMet(admitted, app.now())
  const { call, caller, price } = bill
  const billed = billedUsage(bill, ending.usage)
  const { usage } = billed
  const at = seconds(app.now())
  const cost = costOf(price, usage, billed.others)
  // The hold is what was free: with more, the balance could go below zero.
  const amount = Math.min(cost, bill.hold?.amount ?? cost)
  const isAboveHold = cost > amount
  const tokensIn = promptTokens(usage)
  const charged = priceAt(price, tokensIn)
  const tokensOut = completionTokens(usage)
  const siteCost = siteCostOf(bill, ending, { billed, amount, isAboveHold })

  return {
    amount,
    at,
    channelId: channel.id,
    siteCost,
    rollup: { username: caller.username, model: price.model, group: bill.group, tokens: tokensIn + tokensOut },
    log: app.options.current.LogConsumeEnabled
      ? {
          user_id: caller.userId,
          created_at: at,
          type: logType.consume,
          content: priceTexts(charged).content,
          username: caller.username,
          token_id: caller.tokenId,
          token_name: caller.tokenName,
          model_name: price.model,
          quota: amount,
          prompt_tokens: tokensIn,
          completion_tokens: tokensOut,
          use_time: Math.max(0, Math.round((nowMs - call.startedMs) / 1000)),
          is_stream: bill.facts.stream ? 1 : 0,
          channel_id: channel.id,
          group: bill.group,
          request_id: call.id,
          other:
            priceTexts(charged).factors +
            JSON.stringify(
              detailsOf(bill, { channel, upstreamModel }, { ...ending, siteCost, billed, isAboveHold }, nowMs),
            ).slice(1),
        }
      : null,
  }
}

/** The bill at the prices in force when the call ends; the hold covers them. */
function atPricesMet(bill: Billed, endedMs: number): Billed {
  const { price, otherPrices } = bill
  if (!price.later && !otherPrices?.some(({ later }) => later)) return bill
  return { ...bill, price: priceMet(price, endedMs), otherPrices: otherPrices?.map((other) => priceMet(other, endedMs)) }
}

/** The parts of a log row that are the same for every call at one price. */
function priceTexts(price: Price): PriceTexts {
  const known = textsOfPrices.get(price)
  if (known) return known
  const texts = { content: describePrice(price), factors: `${JSON.stringify(factorsOf(price)).slice(0, -1)},` }
  textsOfPrices.set(price, texts)
  return texts
}

function factorsOf(price: Price) {
  return {
    model_ratio: price.modelRatio,
    completion_ratio: price.completionRatio,
    model_price: price.fixedUsd,
    group_ratio: price.groupRatio,
    cache_ratio: price.cacheRatio,
    create_cache_ratio: price.createCacheRatio,
    quota_per_unit: price.quotaPerUnit,
  } satisfies Partial<LogOther>
}

interface PriceTexts {
  readonly content: string
  /** The beginning of the JSON object `other`. */
  readonly factors: string
}

const textsOfPrices = new WeakMap<Price, PriceTexts>()

/** The upstream's cost beyond the charge; undefined when the charge covers the report. */
function siteCostOf(
  bill: Billed,
  { reported, promptAdded }: Ending,
  { billed, amount, isAboveHold }: { billed: BilledUsage; amount: number; isAboveHold: boolean },
): SiteCost | undefined {
  if (reported) return { amount: costBeyond(bill.price, billedUsage(bill, reported), amount), reason: 'usage_implausible' }
  if (!isAboveHold) return undefined
  return { amount: costBeyond(bill.price, billed, amount), reason: promptAdded ? 'prompt_addition' : 'above_hold' }
}

/**
 * The members of `other` besides the factors of the price. Undefined members are not written to the row: building one object costs
 * a fraction of spreading one for each condition.
 */
function detailsOf(
  bill: Billed,
  { channel, upstreamModel }: Answering,
  ending: Ending & {
    readonly siteCost: SiteCost | undefined
    readonly billed: BilledUsage
    readonly isAboveHold: boolean
  },
  nowMs: number,
): Written<Details> & { readonly admin_info: Written<AdminInfo> } {
  const { call, facts } = bill
  const { reported, billed } = ending
  const { usage } = billed
  const tokensIn = promptTokens(usage)
  const price = priceAt(bill.price, tokensIn)
  const { source, steps, window } = bill.price
  const dropped = droppedOf(bill)
  const hasEffort = facts.reasoningEffort !== 'default' && !dropped.some((name) => effortMembers.has(name))
  const isMapped = upstreamModel !== price.model
  return {
    input_tokens: usage.input,
    cache_tokens: usage.cacheRead,
    cache_creation_tokens: usage.cacheWrite,
    ...longCacheWrites(price, usage),
    output_tokens: usage.output,
    reasoning_tokens: usage.reasoning || undefined,
    ...apart(price, usage),
    ...extraFactors(bill, ending.usage.tier, billed),
    frt: Math.max(0, (call.firstByteMs || nowMs) - call.startedMs),
    use_time_ms: Math.max(0, nowMs - call.startedMs),
    estimated: ending.isEstimated || undefined,
    interrupted: ending.interrupted,
    went_on_alone: call.wentOnAlone || undefined,
    usage_implausible: reported && true,
    usage_unexplained: usage.unexplained,
    cached_above_prompt: usage.cacheExcess,
    above_hold: ending.isAboveHold || undefined,
    prompt_added: ending.promptAdded,
    unpriced: price.unpriced || undefined,
    price_source: typeof source === 'object' ? 'public' : source,
    price_vendor: typeof source === 'object' ? source.vendor : undefined,
    price_date: typeof source === 'object' ? source.date : undefined,
    price_from: window?.from || undefined,
    price_hours: window?.hours || undefined,
    price_above: steps?.findLast((step) => tokensIn > step.above)?.above,
    is_model_mapped: isMapped || undefined,
    upstream_model_name: isMapped ? upstreamModel : undefined,
    replaced_model: bill.replaces,
    answered_model: bill.answeredModel,
    redirected: bill.isRedirected,
    reasoning_effort: (hasEffort && facts.reasoningEffort) || undefined,
    held: bill.hold?.amount,
    output_limit: bill.outputLimit,
    upstream_format: bill.translation?.format,
    dropped: dropped.length > 0 ? dropped : undefined,
    reply_dropped: bill.translation?.replyDropped?.length ? bill.translation.replyDropped : undefined,
    admin_info: adminInfo(bill, channel, ending),
  }
}

function adminInfo(
  { attempts, isLost, choice, candidates, call }: Billed,
  { id, keyId }: Answering['channel'],
  { reported, siteCost }: Pick<Ending, 'reported'> & { readonly siteCost: SiteCost | undefined },
): Written<AdminInfo> {
  const isChosen = choice !== undefined && choice !== 'only'
  const used = attempts.map(({ channel }) => String(channel))
  if (!isLost) used.push(String(id))
  return {
    use_channel: used,
    attempts: attempts.length > 0 ? [...attempts] : undefined,
    choice: isChosen ? choice : undefined,
    candidates: isLost ? undefined : candidates,
    key: isChosen ? keyId : undefined,
    address: call.client.address,
    reported: reported && reportedTokens(reported),
    site_cost: siteCost,
  }
}

type AdminInfo = NonNullable<LogOther['admin_info']>
type Details = Omit<LogOther, keyof ReturnType<typeof factorsOf> | 'admin_info'>

/** A row before it is serialized as JSON, which omits undefined members. */
type Written<Row> = { [Name in keyof Row]: Row[Name] | undefined }

/** The members in which callers request a reasoning effort, as receipts name them. */
const effortMembers: ReadonlySet<string> = new Set([
  'reasoning_effort',
  'reasoning',
  'thinking',
  'output_config',
  'thinkingConfig',
])

function reportedTokens(reported: Usage) {
  const { cacheExcess = 0 } = reported
  return {
    prompt_tokens: promptTokens(reported),
    cached_tokens: cachedTokens(reported) + cacheExcess,
    completion_tokens: completionTokens(reported),
  }
}

/** The usage besides text tokens (media, calls, searches) with its factors; members without usage are absent. */
function apart(price: Price, usage: Usage): Partial<LogOther> {
  const { audioInput, audioOutput, cachedAudio, imageInput, imageOutput, cachedImage, videoOutput, calls, searches } = usage
  const media = audioInput + audioOutput + cachedAudio + imageInput + imageOutput + cachedImage + videoOutput
  if (media === 0 && calls === 1 && searches === 0) return nothing
  return {
    ...(audioInput > 0 || audioOutput > 0 ? { audio_ratio: price.audioRatio, audio_input: audioInput } : {}),
    ...(audioOutput > 0 ? { audio_completion_ratio: price.audioCompletionRatio, audio_output: audioOutput } : {}),
    ...(cachedAudio > 0 ? { audio_cache_ratio: price.audioCacheRatio, cached_audio: cachedAudio } : {}),
    ...(imageInput > 0 ? { image_ratio: price.imageRatio, image_input: imageInput } : {}),
    ...(imageOutput > 0 ? { image_completion_ratio: price.imageCompletionRatio, image_output: imageOutput } : {}),
    ...(cachedImage > 0 ? { image_cache_ratio: price.imageCacheRatio, cached_image: cachedImage } : {}),
    ...(videoOutput > 0 ? { video_completion_ratio: price.videoCompletionRatio, video_output: videoOutput } : {}),
    ...(calls !== 1 ? { calls } : {}),
    ...(searches > 0 ? { searches, search_price: price.searchUsd } : {}),
  }
}

/** Describes the price of a charge for people; `more` is added to it. */
export function describePrice({ fixedUsd, modelRatio, completionRatio, groupRatio }: Price, more: readonly Text[] = []): string {
  const parts: Text[] = [
    ...(fixedUsd >= 0
      ? [{ zh: `模型价格 ${fixedUsd}`, en: `Model price ${fixedUsd}` }]
      : [
          { zh: `模型倍率 ${modelRatio}`, en: `Model ratio ${modelRatio}` },
          { zh: `补全倍率 ${completionRatio}`, en: `completion ratio ${completionRatio}` },
        ]),
    { zh: `分组倍率 ${groupRatio}`, en: `group ratio ${groupRatio}` },
    ...more,
  ]
  return inBothLanguages({ zh: parts.map(({ zh }) => zh).join('，'), en: parts.map(({ en }) => en).join(', ') })
}

/** The factors of tiers, tools and other models for the log row; those that were not used are absent. */
function extraFactors(bill: Billed, served: Tier | undefined, { usage, others }: BilledUsage): Partial<LogOther> {
  const { price } = bill
  const asked = tierSent(bill)
  if (!asked && !usage.tier && !usage.toolCalls && others.length === 0) return nothing
  const factor = tierFactor(price, usage.tier)
  return {
    ...(asked ? { tier_asked: textOf(asked) } : {}),
    ...(served && (asked || usage.tier) ? { tier_served: textOf(served) } : {}),
    ...(factor === 1 ? {} : { tier_factor: factor }),
    ...toolFactors(price, usage),
    ...(others.length > 0 ? { iterations: others.map(iterationOf) } : {}),
  }
}

/** Tokens that were written to the cache for longer than five minutes, by lifetime, with their factors. */
function longCacheWrites(price: Price, usage: Usage): Partial<LogOther> {
  if (!longCacheLifetimes.some((lifetime) => usage[cacheWriteBuckets[lifetime]] > 0)) return nothing
  const used = longCacheLifetimes.filter((lifetime) => usage[cacheWriteBuckets[lifetime]] > 0)
  return {
    ...Object.fromEntries(used.map((lifetime) => [`cache_creation_${lifetime}_tokens`, usage[cacheWriteBuckets[lifetime]]])),
    cache_creation_factors: Object.fromEntries(used.map((lifetime) => [lifetime, price.cacheWriteFactors[lifetime]])),
  }
}

const nothing: Partial<LogOther> = Object.freeze({})

function textOf(tier: Tier): string {
  return Object.values(tier).join(' ').slice(0, 100)
}

function toolFactors({ toolUsd }: Price, { toolCalls }: Usage): Partial<LogOther> {
  if (!toolCalls) return nothing
  const prices = Object.keys(toolCalls).map((name) => [name, numberIn(toolUsd, name) ?? 0] as const)
  return { tool_calls: toolCalls, tool_prices: Object.fromEntries(prices) }
}

function iterationOf({ price: base, usage }: PricedUsage): NonNullable<LogOther['iterations']>[number] {
  const price = priceAt(base, promptTokens(usage))
  const factor = tierFactor(price, usage.tier)
  return {
    model: price.model,
    model_ratio: price.modelRatio,
    completion_ratio: price.completionRatio,
    model_price: price.fixedUsd,
    cache_ratio: price.cacheRatio,
    create_cache_ratio: price.createCacheRatio,
    input_tokens: usage.input,
    cache_tokens: usage.cacheRead,
    cache_creation_tokens: usage.cacheWrite,
    ...longCacheWrites(price, usage),
    output_tokens: usage.output,
    ...(usage.calls === 1 ? {} : { calls: usage.calls }),
    ...(factor === 1 ? {} : { tier_factor: factor }),
  }
}
