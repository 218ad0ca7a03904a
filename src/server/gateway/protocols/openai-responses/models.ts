import { rememberByName } from '../../../base/lib/collections/remember-by-name.ts'
import { type ModelRules as ChatRules, rulesOf as chatRulesOf, type EffortWord } from '../openai-chat/models.ts'

/**
 * The rules of OpenAI's models in Responses: those of Chat, and those of models that Chat does not have. Sources: OpenAI model
 * pages, parameter table of `@ai-sdk/openai` 4.0.118, protocols notes 2.2; read 2026-11.
 */
export type ModelRules = Omit<ChatRules, 'model'>

export function rulesOf(model: string): ModelRules {
  const rules = chatRulesOf(model)
  const efforts = onlyHere.find(([pattern]) => pattern.test(nameOf(model)))?.[1]
  return efforts ? { ...rules, ...reasoning, efforts } : rules
}

/**
 * Whether a model must be called in Responses: always if Chat does not have it, with tools if Chat refuses tools while it reasons.
 */
export const needsResponses = rememberByName((model): 'always' | 'with-tools' | 'never' => {
  if (onlyHere.some(([pattern]) => pattern.test(nameOf(model)))) return 'always'
  return chatRulesOf(model).toolsWithoutReasoning ? 'with-tools' : 'never'
})

/** The lowest `max_output_tokens` that the vendor accepts. */
export const outputTokensMin = 16

const reasoning = { isOpenAi: true, refuses: ['temperature', 'top_p'] } as const

/** Models that only Responses has, with the efforts that they accept, lowest first. */
const onlyHere: readonly (readonly [RegExp, readonly EffortWord[]])[] = [
  [/^o\d.*-deep-research/, ['medium']],
  [/^o\d-pro/, ['low', 'medium', 'high']],
  [/^gpt-5-pro/, ['high']],
  [/^gpt-\d+(\.\d+)?-pro/, ['medium', 'high', 'xhigh']],
  [/^(gpt-5(\.1)?-codex|codex-mini)(?!-max)/, ['low', 'medium', 'high']],
  [/^gpt-\d+(\.\d+)?-codex/, ['low', 'medium', 'high', 'xhigh']],
]

/** The name without the vendor before it: `openai/gpt-5-pro`. */
function nameOf(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase()
}
