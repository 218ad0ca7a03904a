import { numberIn } from '../../../../contract/by-model.ts'
import type { Candidates, Choice } from '../../../../contract/entities/channel-choice.ts'
import type { Tier, ToolCalls, Usage } from '../../../../contract/usage.ts'
import type { Price, PricedUsage } from '../../../money/pricing/quote.ts'
import { chargedTier } from '../../../money/pricing/tiers.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import { isWebSearch } from '../../protocols/hosted-tools.ts'
import { formats } from '../../protocols/index.ts'
import type { RequestFacts, WireFormat } from '../../protocols/wire-format.ts'
import type { Translation } from '../response/adapter.ts'
import type { Attempt } from '../try-channels/try-channels.ts'

/** Everything but the usage that a charge and its log row need. It can be stored as JSON for a later charge. */
export interface Billed {
  readonly call: {
    readonly id: string
    readonly startedMs: number
    readonly firstByteMs: number
    readonly wentOnAlone?: boolean
    readonly client: { readonly address: string }
  }
  readonly caller: Pick<RelayCaller, 'userId' | 'tokenId' | 'username' | 'tokenName'>
  readonly facts: Pick<RequestFacts, 'stream' | 'reasoningEffort' | 'requestedTier' | 'hostedTools'>
  /** The caller's format; absent for what only one format has. */
  readonly format?: Pick<WireFormat, 'format'> | undefined
  readonly group: string
  readonly price: Price
  /** The prices of other models that may work for the call, fixed like `price`. */
  readonly otherPrices?: readonly Price[] | undefined
  /** Members that were taken out of the request because they have no price. */
  readonly leftOut?: readonly string[] | undefined
  /** `leftOut`, and the members that the channel's format cannot carry. */
  readonly dropped?: readonly string[] | undefined
  readonly attempts: readonly Attempt[]
  /** Why the channel was chosen; absent for the only candidate. */
  readonly choice?: Choice | undefined
  readonly candidates?: Candidates | undefined
  readonly translation?: Translation | undefined
  /** The tools in the sent body that the vendor runs, where they may differ from those of the request. */
  readonly sentTools?: readonly string[] | undefined
  /** The ended model that the caller has named. */
  readonly replaces?: string | undefined
  /** The model that the reply names where it is another one than was sent. */
  readonly answeredModel?: string | undefined
  /** The vendor had announced that this model answers: `price` is its price. */
  readonly isRedirected?: true
  readonly hold?: { readonly amount: number }
  /** The output limit of each completion that was set because the balance affords no more. */
  readonly outputLimit?: number | undefined
  /** The caller received nothing: the channel is listed among the failed attempts. */
  readonly isLost?: true
}

/** Names of the request fields that were not sent to the channel. */
export function droppedOf({
  translation,
  dropped,
  leftOut,
}: Pick<Billed, 'translation' | 'dropped' | 'leftOut'>): readonly string[] {
  return translation?.dropped ?? dropped ?? leftOut ?? []
}

/** The tier that was requested from the channel, without members that were not sent. */
export function tierSent(bill: Pick<Billed, 'facts' | 'translation' | 'dropped' | 'leftOut'>): Tier | undefined {
  const { requestedTier } = bill.facts
  const dropped = requestedTier && droppedOf(bill)
  if (!requestedTier || !dropped || dropped.length === 0) return requestedTier
  const kept = Object.entries(requestedTier).filter(([member]) => !dropped.some((name) => inSnakeCase(name) === member))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

function inSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The charged usage of a reply. */
export interface BilledUsage {
  /** `tier` is the charged tier; `toolCalls` have the names that have a price. */
  readonly usage: Usage
  /** The usage of other models, each at its own price. */
  readonly others: readonly PricedUsage[]
}

type Asking = Pick<Billed, 'facts' | 'format' | 'price' | 'translation' | 'sentTools' | 'dropped' | 'leftOut' | 'otherPrices'>

/**
 * The charged usage for a reported one: the served tier, but none more expensive than the requested one; tool calls under the names
 * that have a price, counted once for each request when the upstream's format does not count them; and the usage of other models.
 * Pure.
 */
export function billedUsage(bill: Asking, reported: Usage): BilledUsage {
  const requestedTier = tierSent(bill)
  const hasTools = reported.toolCalls !== undefined || hostedToolsOf(bill).length > 0
  if (!requestedTier && !reported.tier && !reported.byOthers && !hasTools) return { usage: reported, others: none }
  const { tier: served, toolCalls: _, byOthers, ...rest } = reported
  const tier = requestedTier || served ? chargedTier(bill.price, requestedTier, served) : undefined
  const tools = hasTools ? billedTools(bill, reported) : undefined
  return {
    usage: { ...rest, ...tools, ...(tier ? { tier } : {}) },
    others: (byOthers ?? []).map((other) => {
      const price = priceOfOther(bill, other.model)
      const { tier: ownTier, ...usage } = other.usage
      const otherTier = chargedTier(price, requestedTier, { ...served, ...ownTier })
      return { price, usage: { ...usage, ...(otherTier ? { tier: otherTier } : {}) } }
    }),
  }
}

const none: readonly PricedUsage[] = []

/** The price that was fixed for a model when the request was admitted; a name with a date has the price of the name without it. */
function priceOfOther({ otherPrices = [], price }: Asking, model: string): Price {
  const named = otherPrices.find((other) => other.model === model)
  return named ?? otherPrices.find((other) => model.startsWith(other.model) || other.model.startsWith(model)) ?? price
}

function billedTools(bill: Asking, reported: Usage): Pick<Usage, 'searches'> & Partial<Pick<Usage, 'toolCalls' | 'imageOutput'>> {
  const asked = hostedToolsOf(bill)
  const { toolUsd } = bill.price
  const calls = new Map<string, number>()
  for (const [name, count] of Object.entries({ ...reported.toolCalls, web_search: reported.searches })) {
    const isPaid = count > 0 && (name !== 'code_execution' || asked.includes(name))
    if (isPaid) calls.set(pricedName(bill, name), count + (calls.get(pricedName(bill, name)) ?? 0))
  }
  for (const name of asked) if (!isCounted(bill, name) && !calls.has(name)) calls.set(name, 1)

  const { web_search: searches = 0, ...others } = Object.fromEntries(calls)
  // An image with a price of its own is not charged by its tokens too.
  const paysPictures = Object.keys(others).some((name) => isPicture(name) && (numberIn(toolUsd, name) ?? 0) > 0)
  return {
    searches,
    ...(paysPictures ? { imageOutput: 0 } : {}),
    ...(Object.keys(others).length > 0 ? { toolCalls: others satisfies ToolCalls } : {}),
  }
}

/**
 * The priced name for tool calls that the reply counts under a general name: it does not distinguish the kinds of search, or the
 * sizes of containers. Of several requested tools, the most expensive one is charged.
 */
function pricedName(bill: Asking, name: string): string {
  const { toolUsd, searchUsd } = bill.price
  const usd = (tool: string) => numberIn(toolUsd, tool) ?? (tool === 'web_search' ? searchUsd : 0)
  const isSame = (tool: string) => (name === 'web_search' ? isWebSearch(tool) : tool === name || tool.startsWith(`${name}_`))
  const [dearest] = hostedToolsOf(bill)
    .filter(isSame)
    .sort((left, right) => usd(right) - usd(left))
  if (dearest !== undefined) return dearest
  return isPicture(name) && numberIn(toolUsd, name) === undefined ? 'image_generation' : name
}

/** Those that were sent: a translated request has only the tools that its format can carry. */
function hostedToolsOf({ facts, translation, sentTools }: Asking): readonly string[] {
  return sentTools ?? (translation ? translation.hostedTools : facts.hostedTools) ?? []
}

function isPicture(name: string): boolean {
  return name.startsWith('image_generation')
}

/** Whether replies in the upstream's format count the calls of a tool. */
function isCounted({ format, translation }: Asking, name: string): boolean {
  const upstream = translation?.format ?? format?.format
  // A stored bill of a newer version may name a format that this one does not have.
  const counts = upstream === undefined || formats[upstream]?.countsToolCalls === true
  return counts && (countedTool.test(name) || isWebSearch(name))
}

const countedTool =
  /^(file_search|document_search|x_search|image_generation|image_search|google_maps|code_execution)$|^(code_interpreter|shell)(_|$)/
