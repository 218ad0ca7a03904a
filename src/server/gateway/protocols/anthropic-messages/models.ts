import { knownModelLimits } from '../../../../contract/model-limits.ts'
import type { Effort } from '../dialogue.ts'

/**
 * What a model that speaks Messages requires and refuses. Requests written here follow these rules, because the upstream would
 * otherwise return 400. Source: protocols notes 2.4, the catalogue of @ai-sdk/anthropic 4.0 and the vendor's migration guides, read
 * 2026-11.
 */
export interface ModelRules {
  /** The maximum tokens of one reply; undefined when unknown. */
  readonly outputTokensMax: number | undefined
  /** A Claude model that the table does not contain: requests are written as for the newest models. */
  readonly isUnknown?: true
  /** The kind of thinking that the model supports: a budget of tokens, adaptive, or either. */
  readonly thinking: 'none' | 'budget' | 'adaptive' | 'either'
  /** The way to turn thinking off or to its minimum: no member, `disabled`, `between_tools`, or low effort. */
  readonly thinkingOff: 'absent' | 'disabled' | 'between-tools' | 'low-effort'
  /** The values of `output_config.effort`, in ascending order; empty when the model refuses the member. */
  readonly efforts: readonly Effort[]
  /** Whether the model accepts temperature and top-p: both, only one of them, or neither. */
  readonly sampling: 'free' | 'one' | 'refused'
  /** When a choice may force a tool: unless thinking has a budget, only with thinking off, or never. */
  readonly forcedTool: 'unless-budget' | 'thinking-off' | 'never'
  /** Whether the last message may be the beginning of the answer. */
  readonly takesPrefill: boolean
  /** Whether messages may have the role `system`. */
  readonly takesSystemTurns: boolean
  /** The way to request JSON that follows a schema: `output_config.format`, a forced tool, or an instruction. */
  readonly jsonSchema: 'native' | 'tool' | 'words'
  readonly takesStrictTools: boolean
  /** Whether Bedrock serves the model under a dated version of the interface too, and not only under its own: 4.7 and later. */
  readonly takesDatedVersion: boolean
  /** The dated type of the vendor's own web search; undefined when there is none. */
  readonly searchTool: string | undefined
}

/** The rules other than the limits in `contract/model-limits.ts`. */
type Rules = Omit<ModelRules, 'outputTokensMax'>

const allEfforts: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max']
const searchPlain = 'web_search_20250305'
const searchFiltered = 'web_search_20260209'

/** The models of 2026: they choose the amount of thinking themselves, and refuse sampling parameters. */
const newest: Rules = {
  thinking: 'adaptive',
  thinkingOff: 'low-effort',
  efforts: allEfforts,
  sampling: 'refused',
  forcedTool: 'never',
  takesPrefill: false,
  takesSystemTurns: true,
  jsonSchema: 'native',
  takesStrictTools: true,
  takesDatedVersion: true,
  searchTool: searchFiltered,
}

/** From 3.7 to 4.5: thinking has a budget and is disabled by default. */
const budgeted: Rules = {
  ...newest,
  thinking: 'budget',
  thinkingOff: 'absent',
  efforts: [],
  sampling: 'free',
  forcedTool: 'unless-budget',
  takesPrefill: true,
  takesSystemTurns: false,
  jsonSchema: 'tool',
  takesStrictTools: false,
  takesDatedVersion: false,
  searchTool: searchPlain,
}

const opus46: Rules = {
  ...newest,
  thinking: 'either',
  thinkingOff: 'absent',
  efforts: ['low', 'medium', 'high', 'max'],
  sampling: 'one',
  forcedTool: 'unless-budget',
  takesSystemTurns: false,
  takesDatedVersion: false,
}

const opus47: Rules = { ...newest, thinkingOff: 'absent', forcedTool: 'unless-budget', takesSystemTurns: false }

/** Models of other vendors that speak Messages: only the common members. */
const foreign: Rules = {
  ...budgeted,
  thinkingOff: 'disabled',
  jsonSchema: 'words',
  searchTool: undefined,
}

/** The first row whose pattern matches the name applies. */
const rows: readonly (readonly [RegExp, Rules])[] = [
  [/claude-sonnet-5-5/, { ...newest, thinkingOff: 'between-tools' }],
  [/claude-opus-5-5/, newest],
  [/claude-haiku-5-5/, { ...newest, thinkingOff: 'disabled', forcedTool: 'thinking-off' }],
  [/claude-(fable|mythos)-5-[12]/, newest],
  [/claude-(fable|mythos)/, { ...newest, forcedTool: 'unless-budget' }],
  [/claude-(opus|sonnet)-5(?!-?\d(?!\d))/, { ...newest, thinkingOff: 'disabled', forcedTool: 'unless-budget' }],
  [/claude-opus-4-8/, { ...opus47, takesSystemTurns: true }],
  [/claude-opus-4-7/, opus47],
  [/claude-opus-4-6/, opus46],
  [/claude-sonnet-4-6/, { ...opus46, efforts: ['low', 'medium', 'high'] }],
  [/claude-(opus|sonnet|haiku)-4-5/, { ...budgeted, sampling: 'one', jsonSchema: 'native', takesStrictTools: true }],
  [/claude-opus-4-1(?!\d)/, { ...budgeted, sampling: 'one' }],
  [/claude-opus-4(?!-[1-9](?!\d))/, { ...budgeted }],
  [/claude-sonnet-4(?!-[1-9](?!\d))/, { ...budgeted }],
  [/claude-3-7/, { ...budgeted }],
  [/claude-3-5/, { ...budgeted, thinking: 'none' }],
  [/claude-(3|2|v2|instant)/, { ...budgeted, thinking: 'none', searchTool: undefined }],
  [/claude/, { ...newest, isUnknown: true }],
]

/** The rules of a model by its name, in any vendor's spelling of it (`anthropic.claude-…-v1:0`, `claude-…@2025…`, `claude-…-4.5`). */
export function rulesOf(model: string): ModelRules {
  const name = plainName(model)
  const rules = rows.find(([pattern]) => pattern.test(name))?.[1]
  return rules
    ? { ...rules, outputTokensMax: knownModelLimits(name)?.outputTokensMax }
    : { ...foreign, outputTokensMax: undefined }
}

export function isClaude(model: string): boolean {
  return plainName(model).includes('claude')
}

function plainName(model: string): string {
  return model.toLowerCase().replace(/[.@]/g, '-')
}
