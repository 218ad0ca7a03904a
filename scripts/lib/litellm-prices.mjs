// LiteLLM's price map in the same form. It has no dates: a price that changes is the one of the day on which the map was written, and hours
// count at their peak. It is used only for models that the first source does not list.

/** Providers of the map whose channels have prices here, with the vendor in the first source. */
const vendors = {
  openai: { id: 'openai', name: 'OpenAI' },
  azure: { id: 'azure', name: 'Microsoft Azure' },
  anthropic: { id: 'anthropic', name: 'Anthropic' },
  gemini: { id: 'google', name: 'Google' },
  xai: { id: 'x-ai', name: 'X AI' },
  mistral: { id: 'mistral', name: 'Mistral' },
  deepseek: { id: 'deepseek', name: 'Deepseek' },
  moonshot: { id: 'moonshotai', name: 'MoonshotAI' },
  minimax: { id: 'minimax', name: 'MiniMax' },
  zai: { id: 'zai', name: 'Z.AI' },
  cohere: { id: 'cohere', name: 'Cohere' },
  perplexity: { id: 'perplexity', name: 'Perplexity' },
  dashscope: { id: 'dashscope', name: 'Alibaba Cloud', model_match: { starts_with: 'qwen' } },
  volcengine: { id: 'volcengine', name: 'Volcengine', model_match: { starts_with: 'doubao' } },
}

/** Dollars per token in the map, and the unit of a million of them. */
const units = {
  input_cost_per_token: 'input_mtok',
  output_cost_per_token: 'output_mtok',
  cache_read_input_token_cost: 'cache_read_mtok',
  cache_creation_input_token_cost: 'cache_write_mtok',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h_mtok',
  input_cost_per_audio_token: 'input_audio_mtok',
  output_cost_per_audio_token: 'output_audio_mtok',
  cache_read_input_audio_token_cost: 'cache_audio_read_mtok',
  input_cost_per_image_token: 'input_image_mtok',
  output_cost_per_image_token: 'output_image_mtok',
  cache_read_input_image_token_cost: 'cache_image_read_mtok',
  input_cost_per_video_token: 'input_video_mtok',
  output_cost_per_video_token: 'output_video_mtok',
  output_cost_per_reasoning_token: 'output_reasoning_mtok',
}

/** Prices of tiers, batches and tools, which have options of their own, and another name of the price of cached tokens. */
const apart =
  /_(batches|flex|priority|ultrafast|decisions)$|_above_12hr|_per_query$|per_session$|^search_|^off_peak|cache_hit$|explicit_cache/

const step = /^(.+)_above_(\d+)k_tokens$/

/** The model of an entry with its vendor; undefined where it has no price by the token, or one by a unit that is not counted here. */
export function modelOf(key, entry) {
  const vendor = vendors[entry.litellm_provider]
  const id = key.replace(`${entry.litellm_provider}/`, '')
  if (!vendor || !/^[^\s/:]{1,100}$/.test(id)) return undefined
  const prices = pricesOf(entry)
  return prices && { vendor, model: { id, match: { equals: id }, prices, origin: 'litellm' } }
}

function pricesOf(entry) {
  const { tiered_pricing: ranges, ...flat } = entry
  const costs = Object.entries(ranges ? withSteps(flat, ranges) : flat).filter(
    ([name, cost]) => typeof cost === 'number' && /cost|price/.test(name) && !apart.test(name),
  )
  const prices = {}
  for (const [name, cost] of costs.sort(([one], [other]) => stepOf(one) - stepOf(other))) {
    const unit = units[name.replace(step, '$1')]
    if (unit === undefined) return undefined
    const price = Number((cost * 1e6).toPrecision(12))
    const start = stepOf(name)
    if (start === 0) prices[unit] = price
    else prices[unit] = withTier(prices[unit] ?? 0, { start, price })
  }
  return prices.input_mtok === undefined || prices.input_mtok === 0 ? undefined : prices
}

function withTier(known, tier) {
  return typeof known === 'number' ? { base: known, tiers: [tier] } : { ...known, tiers: [...known.tiers, tier] }
}

function stepOf(name) {
  return Number(step.exec(name)?.[2] ?? 0) * 1000
}

/** Prices by ranges of the prompt's length, as the members that have `above` in their names. */
function withSteps(flat, ranges) {
  const members = ranges.flatMap(({ range: [start], ...costs }) =>
    Object.entries(costs).map(([name, cost]) => [start === 0 ? name : `${name}_above_${start / 1000}k_tokens`, cost]),
  )
  return { ...flat, ...Object.fromEntries(members) }
}
