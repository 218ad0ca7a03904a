import { rememberByName } from '../../lib/remember-by-name.ts'
import { type ModelRules as ChatRules, rulesOf as chatRulesOf, type EffortWord } from '../openai-chat/models.ts'

/**
 * Requirements and refusals of OpenAI's models on Responses: those of Chat, and those that Chat does not have. Sources: OpenAI model
 * pages, parameter table of `@ai-sdk/openai` 4.0.118, protocols notes 2.2; read 2026-11.
 */
export type ModelRules = Omit<ChatRules, 'model'>

export function rulesOf(model: string): ModelRules {
  const rules = chatRulesOf(model)
  const efforts = onlyHere.find(([pattern]) => pattern.test(nameOf(model)))?.[1]
  return efforts ? { ...rules, ...reasoning, efforts } : rules
}

/** When a model must be called in Responses: it does not exist in Chat, or refuses tools there while it reasons. */
export const needsResponses = rememberByName((model): 'always' | 'with-tools' | 'never' => {
  if (onlyHere.some(([pattern]) => pattern.test(nameOf(model)))) return 'always'
  return chatRulesOf(model).toolsWithoutReasoning ? 'with-tools' : 'never'
})

/** The least `max_output_tokens` that the vendor takes. */
export const outputTokensMin = 16

const reasoning = { isOpenAi: true, refuses: ['temperature', 'top_p'] } as const

/** The efforts that they take, from the least. */
const onlyHere: readonly (readonly [RegExp, readonly EffortWord[]])[] = [
  [/^o\d.*-deep-research/, ['medium']],
  [/^o\d-pro/, ['low', 'medium', 'high']],
  [/^gpt-5-pro/, ['high']],
  [/^gpt-\d+(\.\d+)?-pro/, ['medium', 'high', 'xhigh']],
  [/^(gpt-5(\.1)?-codex|codex-mini)(?!-max)/, ['low', 'medium', 'high']],
  [/^gpt-\d+(\.\d+)?-codex/, ['low', 'medium', 'high', 'xhigh']],
]

/** Behind the vendor's name: `openai/gpt-5-pro`. */
function nameOf(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase()
}
