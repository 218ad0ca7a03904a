import type { ModelRules } from '../anthropic-messages/models.ts'
import { writeThinking } from '../anthropic-messages/thinking.ts'
import { writeSampling } from '../anthropic-messages/write-sampling.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, Effort } from '../dialogue.ts'
import { lose } from '../lost-fields.ts'
import { levelOf } from '../reasoning-level.ts'
import type { JsonObject } from '../wire-format.ts'
import type { ConverseRules } from './models.ts'

/** Inference settings, in the three places that Converse has for them. */
interface Inference {
  readonly inferenceConfig: JsonObject
  /** Model-specific members, in `additionalModelRequestFields`. */
  readonly own: JsonObject
  /** `outputConfig.effort`. */
  readonly effort: Effort | undefined
  /** Whether the request asks the model to think. */
  readonly isThinking: boolean
  /** Whether a tool call may be forced. */
  readonly canForce: boolean
}

/** Sampling, length, stop sequences and reasoning in the form that the model accepts. Source: protocols notes 2.7, 3.6 and 3.7. */
export function writeInference(
  dialogue: Dialogue,
  context: RequestContext,
  rules: ConverseRules,
  { forcesTool }: { readonly forcesTool: boolean },
): Inference {
  const stopSequences = writeStop(dialogue, context, rules)
  const stop = stopSequences.length > 0 ? { stopSequences } : {}
  return rules.claude
    ? claudeInference(dialogue, context, rules.claude, { forcesTool, stop })
    : otherInference(dialogue, context, rules, stop)
}

/** Stop sequences. Bedrock rejects blank ones and more than the model's maximum. */
function writeStop(dialogue: Dialogue, context: RequestContext, { stopMax }: ConverseRules): string[] {
  const sequences = dialogue.stop.filter((sequence) => sequence !== '')
  const kept = sequences.filter((sequence) => sequence.trim() !== '').slice(0, stopMax)
  if (kept.length < sequences.length) lose(dialogue, context, 'stop')
  return kept
}

function claudeInference(
  dialogue: Dialogue,
  context: RequestContext,
  claude: ModelRules,
  { forcesTool, stop }: { readonly forcesTool: boolean; readonly stop: JsonObject },
): Inference {
  const thinking = writeThinking(dialogue, context, claude, { forcesTool })
  const { temperature, top_p, top_k } = writeSampling(dialogue, context, claude, thinking)
  return {
    inferenceConfig: {
      maxTokens: thinking.outputTokensMax,
      ...(temperature === undefined ? {} : { temperature }),
      ...(top_p === undefined ? {} : { topP: top_p }),
      ...stop,
    },
    own: {
      ...(thinking.thinking ? { thinking: thinking.thinking } : {}),
      ...(top_k === undefined ? {} : { top_k }),
    },
    effort: thinking.effort,
    isThinking: thinking.isOn,
    canForce: !thinking.isOn && claude.forcedTool !== 'never',
  }
}

function otherInference(dialogue: Dialogue, context: RequestContext, rules: ConverseRules, stop: JsonObject): Inference {
  const { outputTokensMax, sampling } = dialogue
  const temperature = within(sampling.temperature, context.quirks.temperatureMax ?? 1)
  const topP = within(sampling.topP, 1)
  if (temperature !== sampling.temperature) lose(dialogue, context, 'temperature')
  if (topP !== sampling.topP) lose(dialogue, context, 'topP')
  if (sampling.topK !== undefined && rules.topK === undefined) lose(dialogue, context, 'topK')
  const inferenceConfig = {
    ...(outputTokensMax ? { maxTokens: outputTokensMax } : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
  }
  return {
    inferenceConfig: { ...inferenceConfig, ...stop },
    own: {
      ...topKOf(sampling.topK, rules),
      ...reasoningOf(dialogue, context, rules, { isSteered: Object.keys(inferenceConfig).length > 0 }),
    },
    effort: undefined,
    isThinking: false,
    canForce: true,
  }
}

function topKOf(topK: number | undefined, rules: ConverseRules): JsonObject {
  if (topK === undefined || rules.topK === undefined) return {}
  return rules.topK === 'inferenceConfig.topK' ? { inferenceConfig: { topK } } : { [rules.topK]: topK }
}

/** With high effort, Nova refuses all parameters of sampling and length. Source: Amazon Nova 2 User Guide, "Extended thinking". */
function reasoningOf(
  dialogue: Dialogue,
  context: RequestContext,
  { reasoning }: ConverseRules,
  { isSteered }: { readonly isSteered: boolean },
): JsonObject {
  const mode = dialogue.reasoning?.mode
  if (mode === undefined || (mode === 'auto' && reasoning !== 'reasoningConfig')) return {}
  if (reasoning === undefined || (mode === 'off' && reasoning === 'reasoning_effort')) {
    lose(dialogue, context, 'reasoning')
    return reasoning === undefined ? {} : { reasoning_effort: 'low' }
  }
  if (mode === 'off') return {}
  const wanted = mode === 'auto' ? 'medium' : levelOf(mode)
  if (reasoning === 'reasoning_effort') return { reasoning_effort: wanted }
  const isTooMuch = wanted === 'high' && isSteered
  if (isTooMuch) lose(dialogue, context, 'reasoning')
  return { reasoningConfig: { type: 'enabled', maxReasoningEffort: isTooMuch ? 'medium' : wanted } }
}

function within(value: number | undefined, max: number): number | undefined {
  return value === undefined ? undefined : Math.min(Math.max(value, 0), max)
}
