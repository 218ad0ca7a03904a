import type { Effort } from '../dialogue.ts'

/**
 * What a model of OpenAI refuses or needs on Responses. The first row that fits counts; a model of another vendor behind the same
 * protocol has no row. Source: parameter table of `@ai-sdk/openai` 4.0.118 and vendor notes, protocols notes 2.2, read 2026-11.
 */
export interface ModelRules {
  /** The efforts that it takes, from the least; empty for a model that does not reason. */
  readonly efforts: readonly (Effort | 'none')[]
  /** When it takes `temperature` and `top_p`. */
  readonly sampling: 'always' | 'without-reasoning' | 'never'
  /** It cannot be reached on Chat, at all or with tools. */
  readonly needsResponses: 'always' | 'with-tools' | 'never'
}

/** Undefined for a model that the table does not know. A vendor's name before it (`openai/gpt-5.4`) means nothing. */
export function rulesOf(model: string): ModelRules | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1)
  return table.find(([pattern]) => pattern.test(name))?.[1]
}

const classic = ['low', 'medium', 'high'] as const
const since51 = ['none', 'minimal', ...classic] as const
const since52 = [...since51, 'xhigh'] as const
const since56 = ['none', ...classic, 'xhigh', 'max'] as const

const plain: ModelRules = { efforts: [], sampling: 'always', needsResponses: 'never' }
const oSeries: ModelRules = { efforts: classic, sampling: 'never', needsResponses: 'never' }

const table: readonly (readonly [RegExp, ModelRules])[] = [
  [/^(gpt-3|gpt-4|chatgpt-|gpt-5(\.\d+)?-chat|gpt-6(\.\d+)?-chat)/, plain],
  [/deep-research/, { ...oSeries, efforts: ['medium'], needsResponses: 'always' }],
  [/^o[1-9].*-pro/, { ...oSeries, needsResponses: 'always' }],
  [/^o[1-9]/, oSeries],
  [/^gpt-5-pro/, { ...oSeries, efforts: ['high'], needsResponses: 'always' }],
  [/^gpt-5\.\d+-pro/, { ...oSeries, efforts: ['medium', 'high', 'xhigh'], needsResponses: 'always' }],
  [/^gpt-5(\.1)?-codex/, { ...oSeries, needsResponses: 'always' }],
  [/-codex|^codex-/, { ...oSeries, efforts: [...classic, 'xhigh'], needsResponses: 'always' }],
  [/^gpt-5(-|$)/, { ...oSeries, efforts: ['minimal', ...classic] }],
  [/^gpt-5\.1(-|$)/, { efforts: since51, sampling: 'without-reasoning', needsResponses: 'never' }],
  [/^gpt-5\.[23](-|$)/, { efforts: since52, sampling: 'without-reasoning', needsResponses: 'never' }],
  [/^gpt-5\.[45](-|$)/, { efforts: since52, sampling: 'without-reasoning', needsResponses: 'with-tools' }],
  [/^gpt-5\.\d/, { efforts: since56, sampling: 'without-reasoning', needsResponses: 'with-tools' }],
  // Of these only some take sampling at all.
  [/^gpt-([6-9]|\d\d)/, { efforts: since56, sampling: 'never', needsResponses: 'with-tools' }],
]

/** The effort that a model takes for one that was wished: itself, else the next lower one, else the lowest. Unknown models take the classic three. */
export function nearestEffort(
  wished: Effort | 'none',
  efforts: readonly (Effort | 'none')[] = classic,
): Effort | 'none' | undefined {
  const rank = ranks.indexOf(wished)
  const lower = efforts.filter((effort) => ranks.indexOf(effort) <= rank && (effort !== 'none' || wished === 'none'))
  return lower.at(-1) ?? efforts.find((effort) => effort !== 'none') ?? efforts[0]
}

const ranks: readonly (Effort | 'none')[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The effort for a budget of reasoning tokens. Source: protocols notes 3.7. */
export function effortOf(budgetTokens: number): Effort {
  if (budgetTokens <= 1024) return 'minimal'
  if (budgetTokens <= 4096) return 'low'
  return budgetTokens <= 16_384 ? 'medium' : 'high'
}
