import { fail } from '../../../base/lib/failure.ts'
import { groupsToTry } from '../../../money/pricing/groups.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { ChannelIndex, RunningChannel } from '../../channels/model-index.ts'
import { resolveModel } from '../../channels/select.ts'
import { upstreamFormat } from '../../channels/upstream-format.ts'
import type { ChannelFormat } from '../../protocols/format.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'

/**
 * Authorizes the model for the caller, by the name that it has used: of an ended model, `replaces`. Returns the group: the first of the
 * caller's groups that has a channel for the model. Throws `token_model_forbidden`, `group_forbidden`, `model_not_found`, `no_channel`,
 * `dialect_unavailable`, `channel_pin_unknown` or `channel_disabled`.
 */
export function authorizeModel(
  app: Pick<GatewayParts, 'catalog' | 'channels' | 'options'>,
  caller: RelayCaller,
  asked: { model: string; format: ChannelFormat; replaces?: string | undefined },
): string {
  const named = asked.replaces ?? asked.model
  if (caller.modelLimits && !caller.modelLimits.has(named)) fail('token_model_forbidden', { model: named })
  const groups = groupsToTry(app.options.current, caller)
  const index = app.channels.current
  const own = groups[0] ?? caller.userGroup

  if (caller.pinnedChannel !== 0) {
    const pinned = index.byId.get(caller.pinnedChannel)
    if (!pinned) return failPinned(index, caller.pinnedChannel)
    if (!canAnswer(pinned, asked)) failUnavailable(asked)
    return own
  }

  const group = groups.find((candidate) => hasChannel(index, candidate, asked))
  if (group !== undefined) return group
  const isServed = groups.some((candidate) => index.candidates(candidate, asked.model).length > 0)
  if (isServed) failUnavailable(asked)
  // A model that has a price exists, even while no channel serves it.
  const isKnown = app.catalog.modelPriceOf(asked.model) !== undefined
  fail(isKnown ? 'no_channel' : 'model_not_found', { model: asked.model, group: own })
}

function failPinned(index: ChannelIndex, channel: number): never {
  if (index.outOfService.has(channel)) fail('channel_disabled')
  fail('channel_pin_unknown', { channel })
}

/** The error names the endpoint without its vendor: `embeddings` for `openai.embeddings`. */
function failUnavailable({ model, format }: { model: string; format: ChannelFormat }): never {
  fail('dialect_unavailable', { model, endpoint: format.slice(format.indexOf('.') + 1) })
}

/** Whether some channel of the group can answer the model in the format. */
export function hasChannel(index: ChannelIndex, group: string, asked: { model: string; format: ChannelFormat }): boolean {
  return index.candidates(group, asked.model).some((tier) => tier.some((channel) => canAnswer(channel, asked)))
}

function canAnswer(channel: RunningChannel, { model, format }: { model: string; format: ChannelFormat }): boolean {
  return upstreamFormat(channel, { format, model: resolveModel(channel, model) }) !== undefined
}

/**
 * Throws `sensitive_words` when a prompt has a listed word, without naming the word to the caller. Synchronous unless the prompt is
 * long.
 */
export function checkPrompt(
  app: Pick<GatewayParts, 'callerLog' | 'moderation'>,
  call: ClientExchange,
  prompt: readonly string[],
): Promise<void> | undefined {
  const found = app.moderation.findInPrompt(prompt)
  if (found instanceof Promise) return found.then((word) => refuseWord(app, call, word))
  refuseWord(app, call, found)
  return undefined
}

function refuseWord({ callerLog }: Pick<GatewayParts, 'callerLog'>, call: ClientExchange, word: string | undefined): void {
  if (word === undefined) return
  callerLog.of(call.client).info({ request: call.id, word }, 'a prompt was refused for a listed word')
  fail('sensitive_words')
}
