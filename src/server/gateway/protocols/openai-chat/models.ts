import { rememberByName } from '../../../base/lib/collections/remember-by-name.ts'
import type { Quirks } from '../codec.ts'
import type { Effort, Reasoning } from '../dialogue.ts'
import { isForeignTier } from '../tiers.ts'
import type { JsonObject } from '../wire-format.ts'

/**
 * Deviations of certain models from Chat Completions. One table for requests that pass through and for translated ones: members
 * listed here are removed or renamed, because the vendor returns 400 for them. Sources: OpenAI API reference, parameter tables of
 * `@ai-sdk/openai` 4.0.118, protocols notes 2.2; read 2026-11.
 */
export interface ModelRules {
  readonly model: RegExp
  /** Whether it is OpenAI's own model, which also gets the members of OpenAI's platform. */
  readonly isOpenAi?: boolean
  readonly outputLimit?: 'max_completion_tokens'
  /** The role of instructions; `user` when the model has no such role. */
  readonly systemRole?: 'developer' | 'user'
  readonly refuses?: readonly string[]
  /** The values of `reasoning_effort` that it accepts, lowest first; empty when it refuses the member, undefined when unknown. */
  readonly efforts?: readonly EffortWord[]
  /** Members that are refused only while the model reasons. */
  readonly refusesReasoning?: readonly string[]
  /** Function tools are refused together with reasoning: if the request names an effort, or always. */
  readonly toolsWithoutReasoning?: 'when-named' | 'always'
  readonly serviceTiers?: readonly string[]
  readonly takesCustomTools?: boolean
  readonly takesCacheBreakpoints?: boolean
  /** Has its own web search. */
  readonly searches?: boolean
  readonly jsonSchema?: 'object' | 'none'
  /** The value that turns `thinking` on, if it is not `enabled`. */
  readonly thinkingOn?: 'adaptive'
  /** Thinking cannot be turned off; its efforts replace a switch. */
  readonly alwaysThinks?: boolean
}

export type EffortWord = Effort | 'none'

/** The rules of a model by its upstream name, with or without the vendor's name before it (`openai/gpt-5`). */
export const rulesOf = rememberByName((model): Omit<ModelRules, 'model'> => {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  return families.find((family) => family.model.test(name)) ?? {}
})

/**
 * The member that limits the output of a Chat request: the only one that the host accepts, or else the model's, or else the one
 * that every host accepts.
 */
export function outputLimitMember(model: string, quirks: Quirks): 'max_tokens' | 'max_completion_tokens' {
  return quirks.outputLimit ?? rulesOf(splitEffort(model).model).outputLimit ?? 'max_tokens'
}

/**
 * The top-level members of a Chat request to set or (undefined) to remove for a model. A name that ends in an effort
 * (`o3-mini-high`) means the model without it, with that effort. Idempotent.
 */
export function adjustForModel(body: JsonObject, model: string): Record<string, unknown> {
  const named = splitEffort(model)
  const rules = rulesOf(named.model)
  const changes: Record<string, unknown> = named.effort ? { model: named.model, reasoning_effort: named.effort } : {}
  const isSet = (member: string) => body[member] !== undefined

  if (rules.outputLimit && isSet('max_tokens')) {
    changes.max_tokens = undefined
    if (!isSet('max_completion_tokens')) changes.max_completion_tokens = body.max_tokens
  }
  const isGroqDefault = rules.isOpenAi && body.reasoning_effort === 'default'
  if ((rules.efforts?.length === 0 && isSet('reasoning_effort')) || isGroqDefault) changes.reasoning_effort = undefined
  if (hasFunctions(body) && mustNotReason(rules, changes.reasoning_effort ?? body.reasoning_effort)) {
    changes.reasoning_effort = 'none'
  }
  if (body.tool_choice === 'validated' && rules.isOpenAi) changes.tool_choice = 'auto'
  const reasons = (changes.reasoning_effort ?? body.reasoning_effort) !== 'none'
  for (const member of rules.refuses ?? []) if (isSet(member)) changes[member] = undefined
  for (const member of (reasons && rules.refusesReasoning) || []) if (isSet(member)) changes[member] = undefined
  const tier = body.service_tier
  if (rules.isOpenAi && isForeignTier(tier)) changes.service_tier = undefined
  if (rules.serviceTiers && (tier === 'flex' || tier === 'priority') && !rules.serviceTiers.includes(tier)) {
    changes.service_tier = undefined
  }
  return changes
}

/** Splits an effort from the end of a model name. Source: names that are common among resellers. */
export const splitEffort = rememberByName((model): { readonly model: string; readonly effort?: EffortWord } => {
  const [, name, effort] = /^((?:o[1-9]|grok-).*)-(high|medium|low)$/.exec(model) ?? []
  // The expression matches only three values, which are all efforts.
  return name ? { model: name, effort: effort as EffortWord } : { model }
})

/** The nearest supported effort: the requested one, else the next higher, else the highest. */
export function nearestEffort(wanted: EffortWord, taken: readonly EffortWord[]): EffortWord | undefined {
  const at = effortOrder.indexOf(wanted)
  const sorted = effortOrder.filter((word) => taken.includes(word) && (word !== 'none' || wanted === 'none'))
  return sorted.find((word) => effortOrder.indexOf(word) >= at) ?? sorted.at(-1)
}

/** An effort for the requested reasoning; undefined when it is left to the model. Source: protocols notes 3.7. */
export function effortOf({ mode }: Reasoning): EffortWord | undefined {
  if (mode === 'auto') return undefined
  if (mode === 'off') return 'none'
  if ('effort' in mode) return mode.effort
  return budgetSteps.find(([tokens]) => mode.budgetTokens <= tokens)?.[1] ?? 'high'
}

const effortOrder: readonly EffortWord[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const budgetSteps: readonly (readonly [number, Effort])[] = [
  [1_024, 'minimal'],
  [4_096, 'low'],
  [16_384, 'medium'],
]

function mustNotReason({ toolsWithoutReasoning }: Omit<ModelRules, 'model'>, effort: unknown): boolean {
  if (!toolsWithoutReasoning || effort === 'none') return false
  return toolsWithoutReasoning === 'always' || typeof effort === 'string'
}

function hasFunctions(body: JsonObject): boolean {
  return [body.tools, body.functions].some((tools) => Array.isArray(tools) && tools.length > 0)
}

const sampling = ['temperature', 'top_p']
const choosing = ['presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs', 'top_logprobs']
const reasoningModel = {
  isOpenAi: true,
  outputLimit: 'max_completion_tokens',
  systemRole: 'developer',
  refuses: [...sampling, ...choosing],
} as const satisfies Partial<ModelRules>
/** Models that accept sampling parameters when reasoning is turned off. */
const switchable = { ...reasoningModel, refuses: choosing, refusesReasoning: sampling, takesCustomTools: true } as const
const everyTier = ['flex', 'priority']
const newestEfforts: readonly EffortWord[] = ['none', 'low', 'medium', 'high', 'xhigh', 'max']

/** The first family that matches applies. */
const families: readonly ModelRules[] = [
  { ...reasoningModel, model: /^o1-(mini|preview)/, systemRole: 'user', efforts: [], serviceTiers: [] },
  {
    ...reasoningModel,
    model: /^(o3(?!-mini)|o4-mini)/,
    refuses: [...sampling, ...choosing, 'stop'],
    efforts: ['low', 'medium', 'high'],
    serviceTiers: everyTier,
  },
  { ...reasoningModel, model: /^o\d/, efforts: ['low', 'medium', 'high'], serviceTiers: [] },

  {
    model: /^gpt-5-search/,
    isOpenAi: true,
    searches: true,
    efforts: [],
    refuses: sampling,
    outputLimit: 'max_completion_tokens',
  },
  { model: /^gpt-[5-9](\.\d+)?-chat/, isOpenAi: true, efforts: [], serviceTiers: everyTier },
  {
    ...reasoningModel,
    model: /^gpt-5(?![.\d])/,
    efforts: ['minimal', 'low', 'medium', 'high'],
    serviceTiers: everyTier,
    takesCustomTools: true,
  },
  { ...switchable, model: /^gpt-5\.1(?!\d)/, efforts: ['none', 'minimal', 'low', 'medium', 'high'], serviceTiers: everyTier },
  {
    ...switchable,
    model: /^gpt-5\.[23](?!\d)/,
    efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
    serviceTiers: everyTier,
  },
  {
    ...switchable,
    model: /^gpt-5\.[45](?!\d)/,
    efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
    toolsWithoutReasoning: 'when-named',
    serviceTiers: everyTier,
  },
  {
    ...switchable,
    model: /^gpt-5\.\d/,
    efforts: newestEfforts,
    toolsWithoutReasoning: 'always',
    serviceTiers: everyTier,
    takesCacheBreakpoints: true,
  },
  {
    ...reasoningModel,
    model: /^gpt-[6-9]/,
    refuses: [...sampling, ...choosing, 'prompt_cache_retention'],
    efforts: newestEfforts,
    toolsWithoutReasoning: 'always',
    takesCustomTools: true,
    takesCacheBreakpoints: true,
  },

  { model: /^gpt-4o.*-search/, isOpenAi: true, searches: true, refuses: ['temperature'], efforts: [] },
  { model: /^(gpt-4o|gpt-4\.\d|chatgpt-)/, isOpenAi: true, efforts: [], serviceTiers: ['priority'] },
  { model: /^gpt-4-(turbo|\d{4}-preview)/, isOpenAi: true, efforts: [], jsonSchema: 'object', serviceTiers: ['priority'] },
  { model: /^gpt-3\.5/, isOpenAi: true, efforts: [], jsonSchema: 'object', serviceTiers: [] },
  { model: /^gpt-4/, isOpenAi: true, efforts: [], jsonSchema: 'none', serviceTiers: ['priority'] },

  { model: /^gpt-oss/, efforts: ['low', 'medium', 'high'] },
  { model: /^grok-3-mini/, efforts: ['low', 'high'], refuses: ['stop', 'presence_penalty', 'frequency_penalty'] },
  { model: /^grok-4.*non-reasoning/, efforts: [] },
  { model: /^grok-4/, efforts: [], refuses: ['stop', 'presence_penalty', 'frequency_penalty'] },
  { model: /^grok-/, efforts: [] },
  { model: /^kimi-k[3-9]/, efforts: ['low', 'high', 'max'], refuses: ['temperature'], alwaysThinks: true },
  { model: /^kimi-k2\.[5-9]/, refuses: ['temperature'] },
  { model: /^deepseek-(chat|reasoner|v[4-9])/, efforts: ['low', 'high', 'max'] },
  { model: /^minimax-m[3-9]/, thinkingOn: 'adaptive' },
  { model: /^sonar/, searches: true },
]
