import type { ToolCalls, Usage } from '../../../contract/usage.ts'
import { rememberByName } from '../../base/lib/collections/remember-by-name.ts'
import { countAt, type JsonObject, objectAt, textAt } from './wire-format.ts'

/**
 * Fees by request and by piece that only the reply tells. A fee has a name in the option `ToolPrice`, where its price is, and is counted
 * here from the usage of OpenAI's formats; what has no price there is named in the row and costs nothing.
 */
interface ReplyFee {
  /** The name in `ToolPrice`; `web_search` counts as a search. */
  readonly tool: string
  /** The path of the count in the usage. */
  readonly at: readonly string[]
  readonly hosts: string
  /** Where it is documented, read in November 2026. */
  readonly source: string
}

export const replyFees: readonly ReplyFee[] = [
  ...['web_search', 'x_search', 'code_interpreter', 'file_search', 'document_search'].map((tool) => ({
    tool,
    at: ['server_side_tool_usage_details', `${tool}_calls`],
    hosts: 'xAI',
    source: 'https://docs.x.ai/developers/pricing',
  })),
  {
    tool: 'web_search',
    at: ['plugins', 'search', 'count'],
    hosts: 'Alibaba',
    source: 'https://www.alibabacloud.com/help/en/model-studio/web-search',
  },
  { tool: 'web_search', at: ['tool_usage', 'web_search'], hosts: 'Volcengine', source: 'https://www.volcengine.com/docs/82379' },
  {
    tool: 'web_search',
    at: ['server_tool_use', 'web_search_requests'],
    hosts: 'OpenRouter, LiteLLM',
    source: 'https://openrouter.ai/docs/guides/features/server-tools/web-search',
  },
  {
    tool: 'search_query',
    at: ['num_search_queries'],
    hosts: 'Perplexity',
    source: 'https://docs.perplexity.ai/docs/getting-started/pricing',
  },
  {
    tool: 'citation_token',
    at: ['citation_tokens'],
    hosts: 'Perplexity',
    source: 'https://docs.perplexity.ai/docs/getting-started/pricing',
  },
]

/** The fees that a usage of OpenAI's formats tells; undefined without any, which nearly every usage has. */
export function readReplyFees(usage: JsonObject): Partial<Pick<Usage, 'searches' | 'toolCalls'>> | undefined {
  let holdsFees = false
  for (const member of feeMembers) holdsFees ||= usage[member] !== undefined
  if (!holdsFees) return undefined

  let searches = 0
  const calls: Record<string, number> = {}
  for (const { tool, at } of replyFees) {
    const count = countIn(usage, at)
    if (count === 0) continue
    if (tool === 'web_search') searches ||= count
    else calls[tool] = count
  }
  const request = requestFeeOf(usage)
  if (request) calls[request] = 1
  const reasoning = separateReasoning(usage)
  if (reasoning > 0) calls.reasoning_token = reasoning
  const hasCalls = Object.keys(calls).length > 0
  return { ...(searches > 0 ? { searches } : {}), ...(hasCalls ? { toolCalls: calls } : {}) }
}

/** The members of a usage that may hold a fee. */
const feeMembers = [...new Set(['search_context_size', ...replyFees.map(({ at: [first = ''] }) => first)])]

/**
 * Perplexity's fee of the request: by the size of the search context, and dearer with Pro Search, which only the reported cost of the
 * request tells apart.
 */
function requestFeeOf(usage: JsonObject): string | undefined {
  const size = textAt(usage, 'search_context_size')
  if (!Object.hasOwn(proSearchUsd, size)) return undefined
  const cost = objectAt(usage, 'cost')?.request_cost
  const isPro = typeof cost === 'number' && cost >= (proSearchUsd[size] ?? 0)
  return requestFee(size, isPro)
}

function requestFee(size: string, isPro: boolean): string {
  return isPro ? `search_request_pro_${size}` : `search_request_${size}`
}

/** The fees of Pro Search by size: no ordinary request costs as much. */
const proSearchUsd: Readonly<Record<string, number>> = { low: 0.014, medium: 0.018, high: 0.022 }

/** Reasoning of Perplexity's deep research, which is neither in the completion nor in the total and has a price of its own. */
function separateReasoning(usage: JsonObject): number {
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage
  const isResearch = countAt(usage, 'citation_tokens') > 0 || countAt(usage, 'num_search_queries') > 0
  const isBeside = total === undefined || total === Number(prompt) + Number(completion)
  return isResearch && isBeside ? countAt(usage, 'reasoning_tokens') : 0
}

function countIn(usage: JsonObject, path: readonly string[]): number {
  let holder: JsonObject | undefined = usage
  for (let step = 0; step < path.length - 1 && holder; step++) holder = objectAt(holder, path[step] ?? '')
  return countAt(holder, path.at(-1) ?? '')
}

/** The greatest fees that the reply to a request may have, whatever its format, by the caller's name of the model. */
export function greatestReplyFees(model: string, body: JsonObject): ToolCalls | undefined {
  const kind = searchKindOf(model)
  if (kind === '') return undefined
  if (kind === 'research') return researchMost
  const search = objectAt(body, 'web_search_options') ?? {}
  const asked = textAt(search, 'search_context_size')
  const size = Object.hasOwn(proSearchUsd, asked) ? asked : 'low'
  const type = textAt(search, 'search_type') || textAt(body, 'search_type')
  return { [requestFee(size, type === 'pro' || type === 'auto')]: 1 }
}

/** Whether the search of a model is charged with each request, not by itself. */
export function hasRequestFee(model: string): boolean {
  return searchKindOf(model) !== ''
}

/** More than twice of what the examples of the vendor's documents have. */
const researchMost: ToolCalls = { search_query: 100, citation_token: 100_000, reasoning_token: 300_000 }

const searchKindOf = rememberByName((model): '' | 'search' | 'research' => {
  const [name = ''] = model.split('/').slice(-1)
  if (!/^sonar(-|$)/.test(name)) return ''
  return name.includes('deep-research') ? 'research' : 'search'
})
