import type { RunningChannel } from '../channels/model-index.ts'
import { resolveModel } from '../channels/select.ts'
import { upstreamFormat } from '../channels/upstream-format.ts'
import { fail } from '../lib/failure.ts'
import { groupsToTry } from '../pricing/groups.ts'
import type { CallerFormat } from '../protocols/format.ts'
import { isObject, type JsonObject, textAt } from '../protocols/wire-format.ts'
import type { RelayCaller } from '../tokens/authenticate.ts'
import type { Home, RelayParts } from './relay-parts.ts'

/** A request that goes on from what an upstream keeps. */
interface Continued {
  readonly model: string
  readonly format: CallerFormat
  readonly body: JsonObject
}

/** Whether the request names something that an upstream keeps. */
export function namesHistory(format: CallerFormat, body: JsonObject): boolean {
  return mayNameHistory(format) && (textAt(body, 'previous_response_id') !== '' || conversationIn(body) !== '')
}

export function mayNameHistory(format: CallerFormat): boolean {
  return continuing.has(format)
}

const continuing: ReadonlySet<CallerFormat> = new Set<CallerFormat>(['openai.responses', 'openai.compact', 'openai.input_tokens'])

/**
 * The channel and key that keep what a request continues. Nobody continues what another user began: an id that is not the caller's is
 * unknown to them, whatever the upstream would say to it. What this server keeps itself is in the request by now. Throws
 * `previous_response_unknown`, `field_invalid` for a conversation, which nobody can have made through here, `untranslatable` where
 * nobody keeps anything, or `no_channel`.
 */
export async function homeOf(app: RelayParts, caller: RelayCaller, asked: Continued): Promise<Home> {
  const { body, model } = asked
  if (conversationIn(body) !== '') fail('field_invalid', { field: 'conversation', reason: noConversations })
  const id = textAt(body, 'previous_response_id')
  const kept = await app.keptResponses.find(caller.userId, id)
  const groups = groupsToTry(app.options.current, caller)
  if (!kept) {
    if (!app.ownResponses.isOn && !servesNatively(app, caller, groups, asked)) refuseKeeping('previous_response_id')
    return fail('previous_response_unknown', { id: id.slice(0, 100) })
  }

  const { channelId, keyId, tokens } = kept
  if (caller.pinnedChannel !== 0) return { channelId: caller.pinnedChannel, keyId, tokens, group: groups[0] ?? caller.userGroup }
  const serves = (group: string) =>
    app.channels.current.candidates(group, model).some((tier) => tier.some(({ id }) => id === channelId))
  const group = groups.find(serves)
  if (group === undefined) return fail('no_channel', { model, group: groups[0] ?? caller.userGroup })
  return { channelId, keyId, tokens, group }
}

const noConversations = {
  zh: '本网关不保存会话对象，请使用 previous_response_id',
  en: 'conversations are not kept here; use previous_response_id',
}

/** Throws `untranslatable`: the channels of the model keep nothing, and this server is not to either. */
export function refuseKeeping(field: string): never {
  return fail('untranslatable', { field, reason: keepsNothing })
}

const keepsNothing = {
  zh: '该模型的渠道不保存回复，本站也未开启保存，请发送完整的 input',
  en: 'the channels of this model keep no responses and this server is set to keep none; send the whole input',
}

/** Its id, or the object that holds it. */
function conversationIn({ conversation }: JsonObject): string {
  if (typeof conversation === 'string') return conversation
  return isObject(conversation) ? textAt(conversation, 'id') || 'unnamed' : ''
}

/** Whether some channel of the groups speaks the format itself. */
export function servesNatively(
  app: RelayParts,
  caller: RelayCaller,
  groups: readonly string[],
  asked: Pick<Continued, 'model' | 'format'>,
): boolean {
  const index = app.channels.current
  if (caller.pinnedChannel !== 0) return index.keysOf(caller.pinnedChannel).some((channel) => isNative(channel, asked))
  return groups.some((group) =>
    index.candidates(group, asked.model).some((tier) => tier.some((channel) => isNative(channel, asked))),
  )
}

function isNative(channel: RunningChannel, { model, format }: Pick<Continued, 'model' | 'format'>): boolean {
  return upstreamFormat(channel, { format, model: resolveModel(channel, model) }) === format
}
