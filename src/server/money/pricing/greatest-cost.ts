import { numberIn } from '../../../contract/by-model.ts'
import {
  type Bucket,
  buckets,
  noUsage,
  type OutputBucket,
  type PromptBucket,
  type ToolCalls,
  type Usage,
} from '../../../contract/usage.ts'
import { costOf, type Price, pricesToMeet, tierFactor } from './quote.ts'

/** The kinds of tokens that a call can have beside plain text, and the rates that it can reach. */
export interface TokenKinds {
  readonly imageTokens: number
  readonly audioTokens: number
  /** The kinds as which the vendor may bill the text of the prompt, and the output. */
  readonly textAs: readonly PromptBucket[]
  readonly outputAs: readonly OutputBucket[]
  /** Fixed amounts and factors beside the tokens, from `piecesOf`. */
  readonly pieces: Partial<Usage>
}

/**
 * Costs of a call beside its tokens: its tier if it is more expensive than the default, a price per call, ten calls of each tool
 * that the vendor runs, the default limit of vendors, and the greatest fees that only its reply tells.
 */
export function piecesOf(
  price: Price,
  asked: Pick<Usage, 'calls' | 'tier'> & { readonly hostedTools: readonly string[]; readonly fees?: ToolCalls | undefined },
): Partial<Usage> {
  const { calls, tier, hostedTools, fees = {} } = asked
  const all = { ...Object.fromEntries(hostedTools.map((name) => [name, toolCallsMax])), ...fees }
  const priced = Object.entries(all).filter(([name]) => (numberIn(price.toolUsd, name) ?? 0) > 0)
  return {
    calls,
    ...(tier && tierFactor(price, tier) > 1 ? { tier } : {}),
    ...(hostedTools.length > 0 ? { searches: toolCallsMax } : {}),
    ...(priced.length > 0 ? { toolCalls: Object.fromEntries(priced) } : {}),
  }
}

const toolCallsMax = 10

/**
 * The most that a call can cost, in quota units: `textTokens` of prompt beside its media and `outputTokens` over all completions, each at
 * the highest rate that the request can reach. Pure. Throws `amount_out_of_range` as `costOf` does.
 */
export function greatestCost(
  price: Price,
  kinds: TokenKinds,
  { textTokens, outputTokens }: { textTokens: number; outputTokens: number },
): number {
  return Math.max(...reachable(price, kinds, textTokens).map((step) => costAt(step, kinds, { textTokens, outputTokens })))
}

/** The approximate units of so many output tokens at the highest rate that the request can reach. Pure. */
export function outputUnits(price: Price, kinds: TokenKinds, outputTokens: number): number {
  const rates = pricesToMeet(price).map((each) => ratesOf(each)[dearest(each, kinds.outputAs)])
  return outputTokens * Math.max(...rates) * tierFactor(price, kinds.pieces.tier)
}

/** The approximate units of the output of a usage. Pure. */
export function unitsOfOutput(price: Price, usage: Usage): number {
  const rates = ratesOf(price)
  const { output, audioOutput, imageOutput, videoOutput } = rates
  const units =
    usage.output * output + usage.audioOutput * audioOutput + usage.imageOutput * imageOutput + usage.videoOutput * videoOutput
  return units * tierFactor(price, usage.tier)
}

/**
 * The number of output tokens that each of `completions` answers can have for at most `units`, after the prompt is paid. Infinite if
 * output costs nothing; negative when the prompt alone costs more.
 */
export function affordableOutput(
  price: Price,
  kinds: TokenKinds,
  { textTokens, completions, units }: { textTokens: number; completions: number; units: number },
): number {
  const each = reachable(price, kinds, textTokens).map((step) => {
    const left = units - costAt(step, kinds, { textTokens, outputTokens: 0 })
    const rate = ratesOf(step)[dearest(step, kinds.outputAs)] * tierFactor(step, kinds.pieces.tier) * completions
    if (left < 0) return -1
    // One unit less, because a cost is rounded up.
    return rate === 0 ? Number.POSITIVE_INFINITY : Math.floor((left - 1) / rate)
  })
  return Math.min(...each)
}

/** The possible prices of the call by the time at which it ends, and the length of its prompt, which may be shorter than its bound. */
function reachable(price: Price, { imageTokens, audioTokens }: TokenKinds, textTokens: number): readonly Price[] {
  if (!price.steps && !price.later) return [price]
  const longest = textTokens + imageTokens + audioTokens
  return pricesToMeet(price).flatMap((each) =>
    each.steps ? [ofShortPrompts(each), ...each.steps.filter(({ above }) => longest > above).map((step) => step.price)] : [each],
  )
}

const shortPrompts = new WeakMap<Price, Price>()

/** Returns the same object each time, because the cache of rates uses it as its key. */
function ofShortPrompts(price: Price): Price {
  const kept = shortPrompts.get(price) ?? { ...price, steps: [] }
  shortPrompts.set(price, kept)
  return kept
}

function costAt(price: Price, kinds: TokenKinds, most: { readonly textTokens: number; readonly outputTokens: number }): number {
  const usage = { ...noUsage, ...kinds.pieces }
  const { textAs, imageTokens, audioTokens, outputAs } = kinds
  usage[dearest(price, textAs)] += most.textTokens
  if (imageTokens > 0) usage[dearest(price, [...textAs, 'imageInput', 'cachedImage'])] += imageTokens
  if (audioTokens > 0) usage[dearest(price, [...textAs, 'audioInput', 'cachedAudio'])] += audioTokens
  usage[dearest(price, outputAs)] += most.outputTokens
  return costOf(price, usage)
}

function dearest(price: Price, among: readonly Bucket[]): Bucket {
  const rates = ratesOf(price)
  return among.reduce((most, bucket) => (rates[bucket] > rates[most] ? bucket : most))
}

type Rates = Readonly<Record<Bucket, number>>
const known = new WeakMap<Price, Rates>()

/** The approximate price in units of one token of each bucket; the exact cost follows from `costOf`. */
function ratesOf(price: Price): Rates {
  const kept = known.get(price)
  if (kept) return kept
  const rates = Object.fromEntries(
    buckets.map((bucket) => [bucket, price.fixedUsd >= 0 ? 0 : costOf(price, { ...noUsage, [bucket]: many }) / many]),
    // One entry for each bucket was made in the line above.
  ) as Rates
  known.set(price, rates)
  return rates
}

const many = 1_000_000
