import type { Effort } from '../dialogue.ts'
import type { JsonObject } from '../wire-format.ts'
import { type EffortWord, effortOf, nearestEffort } from './models.ts'
import type { Writing } from './writing.ts'

/**
 * The reasoning effort, in the host's form. A loss is reported, unless the model was free to choose. Source: protocols notes 2.2 and
 * 3.7.
 */
export function writeReasoning(writing: Writing): JsonObject {
  const { dialogue, quirks, rules } = writing
  switch (quirks.thinkingSwitch ?? (rules.efforts ? 'reasoning_effort' : 'unknown')) {
    case 'reasoning_effort':
      return writeEffort(writing)
    case 'thinking-type':
      return writeThinking(writing)
    case 'enable_thinking':
      return writeEnabled(writing)
    case 'reasoning-object':
      return writeReasoningObject(writing)
    case 'none':
      return loseUnlessOff(writing)
    case 'unknown':
      // An OpenAI-format caller chose the effort for this host; for other callers it is left out, since the host might refuse it.
      return dialogue.from.startsWith('openai.') ? writeEffort(writing) : loseUnlessOff(writing)
  }
}

/** The efforts of unknown hosts. */
const usualEfforts: readonly EffortWord[] = ['low', 'medium', 'high']

function writeEffort(writing: Writing): JsonObject {
  const wanted = writing.dialogue.reasoning && effortOf(writing.dialogue.reasoning)
  if (wanted === undefined) return {}
  const taken = writing.rules.efforts ?? (writing.isOwn ? everyEffort : usualEfforts)
  // Where the host's efforts are unknown, "no reasoning" is written by leaving the member out.
  if (taken.length === 0 || (wanted === 'none' && !writing.rules.efforts && !writing.isOwn)) return loseUnlessOff(writing)
  return { reasoning_effort: nearestEffort(wanted, taken) }
}

const everyEffort: readonly EffortWord[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** DeepSeek, Zhipu, Volcengine, MiniMax, Kimi: a switch, and the effort where the model has several. */
function writeThinking(writing: Writing): JsonObject {
  const { dialogue, rules } = writing
  if (!dialogue.reasoning) return {}
  if (rules.alwaysThinks) return writeEffort(writing)
  const wanted = effortOf(dialogue.reasoning)
  if (wanted === 'none') return { thinking: { type: 'disabled' } }
  const steps = rules.efforts ?? []
  return {
    thinking: { type: rules.thinkingOn ?? 'enabled' },
    reasoning_effort: wanted === undefined ? undefined : nearestEffort(wanted, steps),
  }
}

/** Qwen and SiliconFlow. Open Qwen models refuse to think when the reply is not streamed. */
function writeEnabled(writing: Writing): JsonObject {
  const { dialogue, quirks } = writing
  if (quirks.thinksOnlyInStreams && !dialogue.stream) {
    loseUnlessOff(writing)
    return { enable_thinking: false }
  }
  if (!dialogue.reasoning) return {}
  const { mode } = dialogue.reasoning
  const budget = typeof mode === 'object' && 'budgetTokens' in mode ? mode.budgetTokens : undefined
  return { enable_thinking: mode !== 'off', thinking_budget: budget }
}

/** OpenRouter, which maps the effort to each model's levels itself. */
function writeReasoningObject({ dialogue: { reasoning } }: Writing): JsonObject {
  if (!reasoning) return {}
  const { mode, show } = reasoning
  if (mode === 'off') return { reasoning: { enabled: false } }
  const amount =
    mode === 'auto'
      ? { enabled: true }
      : 'effort' in mode
        ? { effort: knownEffort(mode.effort) }
        : { max_tokens: mode.budgetTokens }
  return { reasoning: { ...amount, ...(show === 'none' ? { exclude: true } : {}) } }
}

function knownEffort(effort: Effort): Effort {
  return effort === 'max' ? 'xhigh' : effort
}

function loseUnlessOff({ dialogue: { reasoning }, loseField }: Writing): JsonObject {
  if (reasoning && reasoning.mode !== 'off' && reasoning.mode !== 'auto') loseField('reasoning')
  return {}
}
