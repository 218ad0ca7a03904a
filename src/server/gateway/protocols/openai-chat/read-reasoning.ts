import { fail } from '../../../base/lib/failure.ts'
import type { Effort, Reasoning } from '../dialogue.ts'
import { countAt, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/**
 * The members with which callers of Chat request reasoning: OpenAI's, and those of other vendors. Source: protocols notes 2.2 and
 * 3.7.
 */
export const reasoningMembers = [
  'reasoning_effort',
  'reasoning',
  'thinking',
  'enable_thinking',
  'thinking_budget',
  'chat_template_kwargs',
] as const

/** The requested reasoning; undefined when not specified. Throws `field_invalid` for an unknown effort. */
export function readReasoning(body: JsonObject): Reasoning | undefined {
  const mode = readEffort(body.reasoning_effort) ?? readReasoningObject(objectAt(body, 'reasoning')) ?? readSwitches(body)
  if (mode === undefined) return undefined
  return { mode, show: objectAt(body, 'reasoning')?.exclude === true ? 'none' : undefined }
}

type Mode = Reasoning['mode']

function readEffort(effort: unknown): Mode | undefined {
  if (effort === undefined || effort === null || effort === 'default') return undefined
  switch (effort) {
    case 'none':
      return 'off'
    case 'auto':
      return 'auto'
    default:
      if (isEffort(effort)) return { effort }
      return fail('field_invalid', { field: 'reasoning_effort', reason: { zh: '未知的取值', en: 'this value is not known' } })
  }
}

const efforts: readonly unknown[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] satisfies Effort[]

function isEffort(value: unknown): value is Effort {
  return efforts.includes(value)
}

/** OpenRouter's form. */
function readReasoningObject(reasoning: JsonObject | undefined): Mode | undefined {
  if (!reasoning) return undefined
  if (reasoning.enabled === false) return 'off'
  const budgetTokens = countAt(reasoning, 'max_tokens')
  return readEffort(reasoning.effort) ?? (budgetTokens > 0 ? { budgetTokens } : 'auto')
}

/** The forms of DeepSeek, Zhipu and Volcengine; of Qwen and SiliconFlow; of open inference servers. */
function readSwitches(body: JsonObject): Mode | undefined {
  const thinking = objectAt(body, 'thinking')
  const template = objectAt(body, 'chat_template_kwargs')
  const flag = body.enable_thinking ?? template?.enable_thinking ?? template?.thinking
  const type = thinking ? textAt(thinking, 'type') : ''
  if (type === 'disabled' || flag === false) return 'off'

  const budgetTokens = countAt(thinking, 'budget_tokens') || countAt(body, 'thinking_budget')
  if (budgetTokens > 0) return { budgetTokens }
  return type === '' && flag !== true ? undefined : 'auto'
}
