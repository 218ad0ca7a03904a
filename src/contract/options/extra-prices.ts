import type { LongCacheLifetime } from '../usage.ts'

/**
 * Default prices of vendors' charges other than tokens, from their public price lists as read in November 2026:
 * https://platform.openai.com/docs/pricing, https://platform.claude.com/docs/en/about-claude/pricing,
 * https://ai.google.dev/gemini-api/docs/pricing, https://cloud.google.com/vertex-ai/generative-ai/pricing,
 * https://docs.perplexity.ai/docs/getting-started/pricing and https://docs.x.ai/developers/pricing.
 */

/** USD per call of a tool, by name or by `name/model pattern`. `docs/reference/tiers-and-tools.md` says how each is counted. */
export const toolPrices: Readonly<Record<string, number>> = {
  // OpenAI. A container is 1 GB unless the request asks for more.
  file_search: 0.0025,
  code_interpreter: 0.03,
  code_interpreter_4g: 0.12,
  code_interpreter_16g: 0.48,
  code_interpreter_64g: 1.92,
  shell: 0.03,
  shell_4g: 0.12,
  shell_16g: 0.48,
  shell_64g: 1.92,
  web_search_preview: 0.025,
  'web_search_preview/gpt-5*': 0.01,
  'web_search_preview/o*': 0.01,
  // One image of the largest size; the name without a suffix is for an unknown quality.
  image_generation: 0.25,
  image_generation_low: 0.016,
  image_generation_medium: 0.063,
  image_generation_high: 0.25,
  // Anthropic: 0.05 per hour and container. Web fetch costs only tokens.
  code_execution: 0.05,
  // Google. Before Gemini 3 a grounded prompt is billed, since then each query.
  'web_search/gemini-*': 0.014,
  'web_search/gemini-1*': 0.035,
  'web_search/gemini-2*': 0.035,
  image_search: 0.014,
  google_maps: 0.025,
  'google_maps/gemini-3*': 0.014,
  enterprise_web_search: 0.045,
  retrieval: 0.0025,
  // Moonshot
  $web_search: 0.005,
  // Perplexity: each request by the size of its search context, dearer with Pro Search; the pieces of deep research.
  search_request_low: 0.005,
  search_request_medium: 0.008,
  search_request_high: 0.012,
  'search_request_low/sonar-*pro*': 0.006,
  'search_request_medium/sonar-*pro*': 0.01,
  'search_request_high/sonar-*pro*': 0.014,
  search_request_pro_low: 0.014,
  search_request_pro_medium: 0.018,
  search_request_pro_high: 0.022,
  'search_query/sonar-deep-research*': 0.005,
  'citation_token/sonar-deep-research*': 0.000002,
  'reasoning_token/sonar-deep-research*': 0.000003,
  // xAI: each call of a tool that its server runs.
  x_search: 0.005,
  document_search: 0.01,
  'web_search/grok-*': 0.005,
  'code_interpreter/grok-*': 0.005,
  'file_search/grok-*': 0.0025,
}

/** Cost of tokens in a tier as a multiple of their ordinary price, by tier or by `tier/model pattern`. */
export const tierFactors: Readonly<Record<string, number>> = {
  // OpenAI: service_tier. There, `fast` means the same as `priority`.
  'priority/gpt-*': 2,
  'priority/gpt-5-mini*': 1.8,
  'priority/gpt-5.5*': 2.5,
  'priority/gpt-4.1*': 1.75,
  'priority/gpt-4.1-nano*': 2,
  'priority/gpt-4o*': 1.7,
  'priority/gpt-4o-2024-05-13': 1.75,
  'priority/gpt-4o-mini*': 1.67,
  'priority/o3*': 1.75,
  'priority/o4-mini*': 1.82,
  'flex/gpt-*': 0.5,
  'flex/o3*': 0.5,
  'flex/o4-mini*': 0.5,
  // OpenAI: background_options.completion_window, of developers.openai.com/api/docs/guides/background.
  'background_2h/gpt-*': 0.7,
  'background_8h/gpt-*': 0.6,
  // Google: serviceTier
  'priority/gemini-*': 1.8,
  'flex/gemini-*': 0.5,
  // Anthropic: speed, inference_geo
  'fast/claude-opus-4*': 6,
  'fast/claude-opus-4-8*': 2,
  'fast/claude-opus-5*': 2,
  'us/claude-*': 1.1,
}

/**
 * Cost of cache writes by lifetime, as a multiple of a five-minute write. OpenAI charges 1.25 times the input price for 30 minutes,
 * Anthropic 1.25 times for 5 minutes and twice for an hour. No list has 12 hours: they cost as much as the longest listed lifetime.
 */
export const cacheWriteFactors: Readonly<Record<LongCacheLifetime, number>> = { '30m': 1, '1h': 1.6, '12h': 1.6 }
