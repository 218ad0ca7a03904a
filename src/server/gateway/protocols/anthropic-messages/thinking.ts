import { claudeMaxTokensDefault } from '../../../../contract/options/claude.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, Effort, Reasoning, Turn } from '../dialogue.ts'
import { lose } from '../lost-fields.ts'
import { levelOf } from '../reasoning-level.ts'
import type { JsonObject } from '../wire-format.ts'
import { isClaude, type ModelRules } from './models.ts'

/** Thinking budget and output limit of a request. */
export interface Thinking {
  /** The member `thinking`; undefined when it is not sent. */
  readonly thinking: JsonObject | undefined
  /** `output_config.effort`. */
  readonly effort: Effort | undefined
  /** Whether the request enables thinking, which restricts tool choice, prefill and sampling. */
  readonly isOn: boolean
  readonly outputTokensMax: number
}

/**
 * The requested reasoning in the form that the model supports, with the matching output limit: a budget always leaves room for an
 * answer. With a budget the vendor requires the thoughts before a pending call; if they are lost, thinking is turned off. Source:
 * protocols notes 3.6 and 3.7.
 */
export function writeThinking(
  dialogue: Dialogue,
  context: RequestContext,
  known: ModelRules,
  { forcesTool }: { readonly forcesTool: boolean },
): Thinking {
  const isSuffixed = wantsSuffix(dialogue, context)
  const rules = isSuffixed && dialogue.reasoning === undefined ? suffixRules(known) : known
  const asked = askedLimit(dialogue, context, rules)
  const visible = asked ?? defaultLimit(dialogue, context, rules)
  // A name that ends in `-thinking` splits the existing limit; any other request for thinking is added to it.
  const limit = isSuffixed ? visible : asked
  const wish = dialogue.reasoning ?? (isSuffixed ? suffixReasoning(rules, visible, context) : undefined)
  const silent = { thinking: undefined, effort: undefined, isOn: false, outputTokensMax: visible }

  if (wish === undefined) {
    const mustBeOff = forcesTool && rules.forcedTool === 'thinking-off'
    return mustBeOff ? { ...silent, thinking: { type: 'disabled' } } : silent
  }
  if (rules.thinking === 'none' || context.quirks.thinkingSwitch === 'none') {
    if (wish.mode !== 'off') lose(dialogue, context, 'reasoning')
    return silent
  }
  if (wish.mode === 'off') {
    if (rules.thinkingOff === 'between-tools' || rules.thinkingOff === 'low-effort') lose(dialogue, context, 'reasoning')
    return { ...silent, ...turnedOff(rules) }
  }
  const isCut = rules.thinking !== 'adaptive' && hasLostThoughts(dialogue.turns)
  if (!isCut) return thinkingOn(wish, rules, { limit, visible })
  if (rules.thinking === 'either') return thinkingOn(wish, { ...rules, thinking: 'adaptive' }, { limit, visible })
  lose(dialogue, context, 'reasoning')
  return { ...silent, ...turnedOff(rules) }
}

/** The most to which `writeThinking` raises the output limit of a request that asks for so large a budget, or for an effort. */
export function raisedForThinking(limit: number, budgetTokens: number): number {
  const budget = Math.max(budgetMin, budgetTokens)
  return budget < limit ? limit : budget + Math.max(limit, answerMin)
}

/** The model name without `-thinking`, if the caller used that suffix and the operator enabled it. */
export function upstreamModel(dialogue: Dialogue, context: RequestContext): string {
  return wantsSuffix(dialogue, context) && context.model.endsWith(suffix) ? context.model.slice(0, -suffix.length) : context.model
}

const suffix = '-thinking'
const budgetMin = 1024
/** The minimum that remains for the answer when thinking would use all of a limit. */
const answerMin = 1024
/** The limit that is assumed for models with an unknown limit. */
const sizeAssumed = 32_000

/** The share of all output that may be used for thinking, by effort. */
const shares: Readonly<Record<Effort, number>> = { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.9, max: 0.95 }

function wantsSuffix(dialogue: Dialogue, { model, settings }: RequestContext): boolean {
  return settings.claudeThinkingShare !== undefined && isClaude(model) && dialogue.model.endsWith(suffix)
}

/** Unknown models get a budget from the operator's share of the limit; only known ones may refuse a budget. */
function suffixRules(known: ModelRules): ModelRules {
  return known.isUnknown ? { ...known, thinking: 'either' } : known
}

function suffixReasoning(rules: ModelRules, visible: number, { settings }: RequestContext): Reasoning {
  const budgetTokens = Math.floor(visible * (settings.claudeThinkingShare ?? 0))
  return { mode: rules.thinking === 'adaptive' ? 'auto' : { budgetTokens }, show: undefined }
}

function askedLimit(dialogue: Dialogue, context: RequestContext, rules: ModelRules): number | undefined {
  const asked = dialogue.outputTokensMax || undefined
  if (asked === undefined || rules.outputTokensMax === undefined || asked <= rules.outputTokensMax) return asked
  lose(dialogue, context, 'outputTokensMax')
  return rules.outputTokensMax
}

function defaultLimit(dialogue: Dialogue, { model, settings }: RequestContext, rules: ModelRules): number {
  return messagesLimit([dialogue.model, model], settings, rules)
}

/**
 * The default output limit in tokens for a request without one and without thinking: the operator's limit for one of the model's
 * names, else the operator's default, at most the model's maximum. Pure.
 */
export function messagesLimit(
  names: readonly string[],
  { claudeDefaultMaxTokens: limits }: Pick<RequestContext['settings'], 'claudeDefaultMaxTokens'>,
  { outputTokensMax = Number.POSITIVE_INFINITY }: Pick<ModelRules, 'outputTokensMax'>,
): number {
  const entry = [...names, 'default'].find((name) => Object.hasOwn(limits, name))
  const limit = entry === undefined ? undefined : limits[entry]
  return Math.min(limit ?? claudeMaxTokensDefault, outputTokensMax)
}

function turnedOff({ thinkingOff }: ModelRules): Partial<Thinking> {
  if (thinkingOff === 'disabled') return { thinking: { type: 'disabled' } }
  if (thinkingOff === 'between-tools') return { thinking: { type: 'between_tools' } }
  return thinkingOff === 'low-effort' ? { effort: 'low' } : {}
}

interface Limits {
  /** The caller's limit; undefined when there is none. */
  readonly limit: number | undefined
  readonly visible: number
}

function thinkingOn({ mode, show }: Reasoning, rules: ModelRules, limits: Limits): Thinking {
  const share = typeof mode === 'object' && 'effort' in mode ? shares[mode.effort] : shares.medium
  const size = limits.limit ?? rules.outputTokensMax ?? sizeAssumed
  const isBudget = typeof mode === 'object' && 'budgetTokens' in mode
  const wanted = Math.max(budgetMin, isBudget ? mode.budgetTokens : Math.floor(size * share))

  if (rules.thinking === 'budget' || (rules.thinking === 'either' && isBudget)) {
    const outputTokensMax = roomFor(wanted, rules, limits)
    const budget = wanted < outputTokensMax ? wanted : Math.max(budgetMin, outputTokensMax - answerMin)
    return { thinking: { type: 'enabled', budget_tokens: budget }, effort: undefined, isOn: true, outputTokensMax }
  }
  const effort = isBudget ? levelOf(mode) : typeof mode === 'object' ? mode.effort : undefined
  return {
    thinking: { type: 'adaptive', display: show === 'none' ? 'omitted' : 'summarized' },
    effort: effort && acceptedEffort(effort, rules),
    isOn: true,
    outputTokensMax: limits.limit ?? roomFor(wanted, rules, limits),
  }
}

/**
 * A limit with room for the budget and an answer. If the caller set no limit, the answer keeps the limit that it would have had
 * without thinking.
 */
function roomFor(budget: number, rules: ModelRules, { limit, visible }: Limits): number {
  if (limit !== undefined && budget < limit) return limit
  return Math.min(budget + Math.max(visible, answerMin), rules.outputTokensMax ?? Number.POSITIVE_INFINITY)
}

const rising: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The same effort, or the next lower one that the model supports, or else its lowest. */
function acceptedEffort(effort: Effort, { efforts }: ModelRules): Effort | undefined {
  const reach = rising.indexOf(effort)
  return efforts.findLast((known) => rising.indexOf(known) <= reach) ?? efforts[0]
}

/** Whether the last calls are still pending and their signed thinking is missing. */
function hasLostThoughts(turns: readonly Turn[]): boolean {
  const at = turns.findLastIndex((turn) => turn.role === 'assistant')
  const last = turns[at]
  if (!last?.parts.some((part) => part.kind === 'tool-call')) return false
  const isPending = turns.slice(at + 1).every((turn) => turn.role !== 'user' || turn.parts.some(isResult))
  return isPending && !last.parts.some((part) => part.kind === 'reasoning' && part.opaque?.family === 'anthropic')
}

function isResult(part: Turn['parts'][number]): boolean {
  return part.kind === 'tool-result'
}
