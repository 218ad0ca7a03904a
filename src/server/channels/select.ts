import type { CallerFormat } from '../protocols/format.ts'
import type { ChannelIndex, RunningChannel } from './model-index.ts'
import { upstreamFormat } from './upstream-format.ts'

/** What a request asks of its channel. */
export interface Selection {
  readonly group: string
  readonly model: string
  readonly format: CallerFormat
  /** Ids of the channels that failed this request. */
  readonly tried: ReadonlySet<number>
  /** Estimated length of the prompt, for channels that take no longer one. */
  readonly inputTokens?: number
}

/** Added to every weight, so that channels of weight 0 get traffic too. */
const weightBase = 10

/**
 * The channel for the next attempt: of those that serve the model to the group, speak the format and were not tried, one of the
 * highest priority, at random by weight. Undefined when none is left. Pure: `random` answers a number from 0 to below 1.
 */
export function selectChannel(index: ChannelIndex, selection: Selection, random: () => number): RunningChannel | undefined {
  for (const tier of index.candidates(selection.group, selection.model)) {
    const left = tier.filter((channel) => isFit(channel, selection))
    if (left.length > 0) return drawByWeight(left, random())
  }
  return undefined
}

/** The model that goes upstream: the requested one, or what the channel redirects it to. */
export function resolveModel(channel: RunningChannel, model: string): string {
  return channel.modelMapping.get(model) ?? model
}

function isFit(channel: RunningChannel, { tried, format, model, inputTokens = 0 }: Selection): boolean {
  const { id, maxInputTokens } = channel
  if (tried.has(id) || (maxInputTokens > 0 && inputTokens > maxInputTokens)) return false
  return upstreamFormat(channel, { format, model: resolveModel(channel, model) }) !== undefined
}

function drawByWeight(channels: readonly RunningChannel[], drawn: number): RunningChannel | undefined {
  const total = channels.reduce((sum, { weight }) => sum + weight + weightBase, 0)
  let rest = drawn * total
  const hit = channels.find(({ weight }) => {
    rest -= weight + weightBase
    return rest < 0
  })
  // A product just below the total may round up to it.
  return hit ?? channels.at(-1)
}
