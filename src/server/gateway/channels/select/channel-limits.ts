import { type ModelLimits, modelLimitsOf } from '../../../../contract/model-limits.ts'
import type { LimitSettings } from '../../protocols/define-format.ts'
import type { CallerFormat } from '../../protocols/format.ts'
import { formats } from '../../protocols/index.ts'
import type { ChannelIndex, RunningChannel } from '../index/model-index.ts'
import { promptOf } from '../request/system-prompt.ts'
import { upstreamFormat } from '../request/upstream-format.ts'
import { additionOf } from '../row/prompt-additions.ts'
import { resolveModel } from './select.ts'

/** The upper limits over all channels that may answer a request. */
export interface ChannelLimits extends ModelLimits {
  /** Some channel exceeds the output limit of a request. */
  readonly ignoresLimits: boolean
  /** Length in bytes of the longest system prompt that a channel adds. */
  readonly promptBytes: number
  /** Some upstream adds an unknown length to prompts. */
  readonly addsToPrompts: boolean
  /** The most tokens that an upstream was found to add to prompts. */
  readonly addedTokens: number
  /** The channels whose overrides change requests. */
  readonly overriding: readonly RunningChannel[]
  /** The names of the model at the channels. */
  readonly models: readonly string[]
}

const known = new WeakMap<ChannelIndex, Map<string, ChannelLimits>>()
/** A channel that serves a pattern has any number of model names. */
const knownMax = 2_000

/** The channels that may answer: those that serve a model to a group, or a single one. */
export interface Candidates {
  readonly model: string
  readonly group: string
  readonly channelId: number | undefined
}

/** The limits of a model over the channels that serve it to a group, or over a single channel. Cached until a channel changes. */
export function channelLimits(index: ChannelIndex, candidates: Candidates): ChannelLimits {
  const { model, group, channelId } = candidates
  const ofIndex = known.get(index) ?? new Map<string, ChannelLimits>()
  // The length keeps keys distinct when groups or models have spaces in their names.
  const key = `${channelId ?? 0} ${group.length} ${group} ${model}`
  const kept = ofIndex.get(key)
  if (kept) return kept
  const limits = limitsOver(channelsOf(index, candidates), model)
  if (ofIndex.size >= knownMax) ofIndex.clear()
  known.set(index, ofIndex.set(key, limits))
  return limits
}

function channelsOf(index: ChannelIndex, { model, group, channelId }: Candidates): readonly RunningChannel[] {
  return channelId === undefined ? index.candidates(group, model).flat() : index.keysOf(channelId)
}

/**
 * The output limit that the gateway itself writes for a request without one, when every channel gets it: channels that are called in
 * a format with such limits from another format. Undefined when some channel is called without a limit.
 */
export function limitSetUpstream(
  index: ChannelIndex,
  candidates: Candidates,
  { format, ...settings }: LimitSettings & { readonly format: CallerFormat },
): number | undefined {
  const channels = channelsOf(index, candidates)
  const limits = channels.map((channel) => {
    const model = resolveModel(channel, candidates.model)
    const target = upstreamFormat(channel, { format, model }) ?? format
    const limit = target === format ? undefined : formats[target].limitUnasked?.(candidates.model, model, settings)
    return limit ?? Number.POSITIVE_INFINITY
  })
  const most = Math.max(0, ...limits)
  return most > 0 && Number.isFinite(most) ? most : undefined
}

/** Whether some channel is called in another format than the caller's in which thinking has a budget of the output limit. */
export function isCalledWithBudgets(index: ChannelIndex, candidates: Candidates, format: CallerFormat): boolean {
  return channelsOf(index, candidates).some((channel) => {
    const target = upstreamFormat(channel, { format, model: resolveModel(channel, candidates.model) }) ?? format
    return target !== format && formats[target].hasThinkingBudgets === true
  })
}

function limitsOver(channels: readonly RunningChannel[], model: string): ChannelLimits {
  const models = channels.length === 0 ? [model] : [...new Set(channels.map((channel) => resolveModel(channel, model)))]
  const each = models.map(modelLimitsOf)
  return {
    contextTokens: Math.max(...each.map(({ contextTokens }) => contextTokens)),
    outputTokensMax: Math.max(...each.map(({ outputTokensMax }) => outputTokensMax)),
    ignoresLimits: channels.some(({ setting }) => setting.ignores_limits === true || setting.reasoning_beside_limit === true),
    promptBytes: Math.max(0, ...channels.map(({ setting }) => Buffer.byteLength(promptOf(setting).text))),
    addsToPrompts: channels.some(({ promptPolicy }) => promptPolicy === 'adds'),
    addedTokens: Math.max(0, ...channels.map((channel) => additionOf(channel, resolveModel(channel, model)))),
    overriding: channels.filter(({ setting }) => setting.param_override !== undefined),
    models,
  }
}
