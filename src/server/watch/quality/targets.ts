import type { ChannelIndex, RunningChannel } from '../../gateway/channels/index/model-index.ts'
import { upstreamFormat } from '../../gateway/channels/request/upstream-format.ts'
import { matchesName } from '../../gateway/channels/row/match-name.ts'
import { resolveModel } from '../../gateway/channels/select/select.ts'

/** A channel that is asked, and the model. */
export interface Target {
  readonly channelId: number
  readonly model: string
}

/** The format in which the site asks; it is translated to that of the channel as for callers. */
export const askedFormat = 'openai.chat'

/** Enabled channels that serve a model of the check, among those that it names. */
export function targetsOf(
  { byId }: Pick<ChannelIndex, 'byId'>,
  { models, channels }: { readonly models: readonly string[]; readonly channels: readonly number[] },
): Target[] {
  const asked = [...byId.values()].filter(({ id }) => channels.length === 0 || channels.includes(id))
  return models.flatMap((model) =>
    asked.filter((channel) => canAnswer(channel, model)).map(({ id }) => ({ channelId: id, model })),
  )
}

function canAnswer(channel: RunningChannel, model: string): boolean {
  const serves = channel.models.has(model) || [...channel.models].some((pattern) => matchesName(pattern, model))
  return serves && upstreamFormat(channel, { format: askedFormat, model: resolveModel(channel, model) }) !== undefined
}
