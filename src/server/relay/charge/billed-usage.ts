import { numberIn } from '../../../contract/by-model.ts'
import type { ToolCalls, Usage } from '../../../contract/usage.ts'
import type { Price, PricedUsage } from '../../pricing/quote.ts'
import { chargedTier } from '../../pricing/tiers.ts'
import type { Format } from '../../protocols/format.ts'
import { isWebSearch } from '../../protocols/hosted-tools.ts'
import { type Billed, tierSent } from './billed.ts'

/** What is charged of a reply, apart from the price of its model. */
export interface BilledUsage {
  /** `tier` is the tier that is charged, `toolCalls` bear the names that have a price. */
  readonly usage: Usage
  /** What other models did, each at its own price. */
  readonly others: readonly PricedUsage[]
}

type Asking = Pick<Billed, 'facts' | 'format' | 'price' | 'translation' | 'dropped' | 'leftOut' | 'otherPrices'>

/**
 * What is charged of the usage that a reply reports: the tier as it was served, but none dearer than was asked for; the calls of tools under
 * the names that have a price, and once a request where the upstream's format does not count them; and the work of other models. Pure.
 */
export function billedUsage(bill: Asking, reported: Usage): BilledUsage {
  const requestedTier = tierSent(bill)
  const { tier: served, toolCalls: told, byOthers, ...rest } = reported
  const tier = requestedTier || served ? chargedTier(bill.price, requestedTier, served) : undefined
  const tools = told || hostedToolsOf(bill).length > 0 ? billedTools(bill, reported) : undefined
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

/** The price that was fixed for a model when the request was admitted; a dated name has that of its plain one. */
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
  for (const name of asked) if (!isCounted(bill, name)) calls.set(name, 1)

  const { web_search: searches = 0, ...others } = Object.fromEntries(calls)
  // A picture that is paid by the piece is not paid by its tokens as well.
  const paysPictures = Object.keys(others).some((name) => isPicture(name) && (numberIn(toolUsd, name) ?? 0) > 0)
  return {
    searches,
    ...(paysPictures ? { imageOutput: 0 } : {}),
    ...(Object.keys(others).length > 0 ? { toolCalls: others satisfies ToolCalls } : {}),
  }
}

/**
 * The name under which calls are billed that the reply counts under another: the reply does not tell which search was asked for, nor how
 * large a container. Of several the dearest counts.
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

/** A translated request orders the tools that it still carries. */
function hostedToolsOf({ facts, translation }: Asking): readonly string[] {
  return (translation ? translation.hostedTools : facts.hostedTools) ?? []
}

function isPicture(name: string): boolean {
  return name.startsWith('image_generation')
}

/** Whether replies of the upstream say how often a tool was called. */
function isCounted({ format, translation }: Asking, name: string): boolean {
  const upstream = translation?.format ?? format?.format
  return (upstream === undefined || counting.has(upstream)) && (countedTool.test(name) || isWebSearch(name))
}

const counting: ReadonlySet<Format> = new Set<Format>([
  'openai.responses',
  'openai.compact',
  'anthropic.messages',
  'gemini.generate',
])
const countedTool = /^(file_search|image_generation|image_search|google_maps|code_execution)$|^(code_interpreter|shell)(_|$)/
