import type { Text } from '../../../../contract/text.ts'
import { spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { fail } from '../../../base/lib/failure.ts'
import { groupsToTry } from '../../../money/pricing/groups.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import { upstreamFormat } from '../../channels/request/upstream-format.ts'
import { resolveModel } from '../../channels/select/select.ts'
import type { CallerFormat } from '../../protocols/format.ts'
import { formats, ownStoredForm, storedFormOf } from '../../protocols/index.ts'
import { referencesIn, withReferred } from '../../protocols/openai-responses/history.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { type Body, bodyLimitBytes } from '../http/read-body.ts'
import type { KeptFiles } from './kept-files.ts'
import type { ResponseToStore } from './local-response.ts'
import type { LocalResponses } from './local-responses.ts'
import { keptItem, keptMessage, type UpstreamResponse, type UpstreamResponses } from './upstream-responses.ts'

/** The parts that know where conversations are stored. */
export interface ConversationParts {
  readonly keptFiles: KeptFiles
  readonly localResponses: LocalResponses
  readonly upstreamResponses: UpstreamResponses
}

/** The channel and key that store the conversation which a request continues. */
export interface StoringChannel {
  readonly channelId: number
  readonly keyId: number
  readonly group: string
  /** How long the conversation is so far. */
  readonly tokens: number
}

/** A request in which the stored conversation replaces the id of the previous response, when this server stores it. */
interface Expanded {
  readonly body: Body
  /** The turn to store; absent when it is not stored. */
  readonly toStore?: ResponseToStore
}

/** The largest turn that is stored. */
export const turnBytesMax = 8 * 1024 * 1024

/**
 * Inserts the conversation that this server stores, and stored items that the request references by id, so that any channel can answer the
 * request. A request that references nothing, or only what an upstream stores, is returned unchanged. The turn is stored with its
 * references. Throws `response_running` or `body_too_large`, and `previous_response_unknown` when a turn of the conversation was deleted.
 */
export async function expandHistory(
  app: Pick<ConversationParts, 'localResponses'>,
  caller: RelayCaller,
  { format, body }: { readonly format: CallerFormat; readonly body: Body },
): Promise<Expanded> {
  const form = storedFormOf(format)
  const { json, bytes } = body
  const input = form.inputItems(json.input)
  const previousId = textAt(json, form.previousIn)
  const isOwn = ownStoredForm(previousId) === form
  const previous = isOwn ? await app.localResponses.find({ userId: caller.userId, id: previousId }) : undefined
  const isKept = app.localResponses.isOn && json.store !== false && bytes.length <= turnBytesMax
  const asKept = (thread: string): Pick<Expanded, 'toStore'> =>
    input && isKept ? { toStore: { input, thread, previousId, isBackground: false } } : {}
  if (!input) return { body }
  if (previous && form.isRunning(previous.response)) fail('response_running')
  const history = previous && (await app.localResponses.historyOf(previous))
  if (previous && !history) return fail('previous_response_unknown', { id: previousId.slice(0, 100) })

  const given = history ? [...history.items, ...input] : input
  const items = form.refersToItems ? await withKeptItems(app, caller.userId, given) : given
  const keeping = history ? asKept(history.thread) : previousId === '' ? asKept('') : {}
  if (!history && items === given) return { body, ...keeping }
  const { [form.previousIn]: _, ...rest } = json
  const changed = { ...(history ? rest : json), input: items }
  const removed = history ? { [form.previousIn]: undefined } : {}
  const whole = spliceMembers(bytes, { ...removed, input: JSON.stringify(items) })
  if (whole.length > bodyLimitBytes) fail('body_too_large', { limit: bodyLimitBytes })
  return { body: { ...body, json: changed, bytes: whole }, ...keeping }
}

/** Replaces references to stored items by the items; returns the same list when there are none. */
export async function withKeptItems(
  app: Pick<ConversationParts, 'localResponses'>,
  userId: number,
  items: readonly unknown[],
): Promise<readonly unknown[]> {
  const references = referencesIn(items)
  return references.length === 0 ? items : withReferred(items, await app.localResponses.itemsOf(userId, references))
}

/** A request that continues a conversation stored by an upstream. */
interface Continued {
  readonly model: string
  readonly format: CallerFormat
  readonly body: JsonObject
}

/** Whether the request references a response, item or thread of an upstream. References to this server's own were replaced before. */
export function namesHistory(format: CallerFormat, body: JsonObject): boolean {
  if (formats[format].wire.continues === 'thread') return continuedMessage(body) !== ''
  return (
    textAt(body, storedFormOf(format).previousIn) !== '' || conversationIn(body) !== '' || itemReferences(format, body).length > 0
  )
}

/** The ids of stored items to which an input refers. */
function itemReferences(format: CallerFormat, body: JsonObject): string[] {
  return formats[format].stored?.refersToItems ? referencesIn(arrayAt(body, 'input')) : []
}

/**
 * Finds the channel and key that store the conversation which a request continues or references; undefined for a thread that no
 * channel of the model stores, which each channel refuses. An id of another user is unknown to the caller, whatever the upstream
 * would answer. Throws `previous_response_unknown`, `item_unknown` or `thread_unknown`, `field_invalid` for a conversation object,
 * which cannot be created through this server, `untranslatable` where nothing is stored, or `no_channel`.
 */
export async function findStoringChannel(
  app: Pick<GatewayParts, 'channels' | 'options'> & Pick<ConversationParts, 'localResponses' | 'upstreamResponses'>,
  caller: RelayCaller,
  asked: Continued,
): Promise<StoringChannel | undefined> {
  const { body, model } = asked
  if (conversationIn(body) !== '') fail('field_invalid', { field: 'conversation', reason: noConversations })
  const groups = groupsToTry(app.options.current, caller)
  const places =
    formats[asked.format].wire.continues === 'thread'
      ? await threadPlaces(app, caller, groups, asked)
      : [...(await responsePlaces(app, caller, groups, asked)), ...(await itemPlaces(app, caller, groups, asked))]
  const [first] = places
  if (!first) return undefined

  const { channelId, keyId } = first
  const tokens = places.reduce((most, place) => Math.max(most, place.tokens), 0)
  const [item = ''] = itemReferences(asked.format, body)
  if (places.some((place) => place.channelId !== channelId || place.keyId !== keyId)) refuseItem(item, liesApart)
  if (caller.pinnedChannel !== 0) return { channelId: caller.pinnedChannel, keyId, tokens, group: groups[0] ?? caller.userGroup }
  const serves = (group: string) =>
    app.channels.current.candidates(group, model).some((tier) => tier.some(({ id }) => id === channelId))
  const group = groups.find(serves)
  if (group !== undefined) return { channelId, keyId, tokens, group }
  if (item !== '' && app.channels.current.keysOf(channelId).length > 0) refuseItem(item, notOfModel)
  return fail('no_channel', { model, group: groups[0] ?? caller.userGroup })
}

async function responsePlaces(
  app: Pick<GatewayParts, 'channels'> & Pick<ConversationParts, 'localResponses' | 'upstreamResponses'>,
  caller: RelayCaller,
  groups: readonly string[],
  asked: Continued,
): Promise<readonly UpstreamResponse[]> {
  const { previousIn, keyOf } = storedFormOf(asked.format)
  const id = textAt(asked.body, previousIn)
  if (id === '') return []
  const kept = await app.upstreamResponses.find(caller.userId, keyOf(id))
  if (kept) return [kept]
  if (!app.localResponses.isOn && !servesNatively(app, caller, groups, asked)) refuseKeeping(previousIn)
  return fail('previous_response_unknown', { id: id.slice(0, 100) })
}

async function itemPlaces(
  app: Pick<GatewayParts, 'channels'> & Pick<ConversationParts, 'localResponses' | 'upstreamResponses'>,
  caller: RelayCaller,
  groups: readonly string[],
  asked: Continued,
): Promise<readonly UpstreamResponse[]> {
  const ids = itemReferences(asked.format, asked.body)
  if (ids.length === 0) return []
  const places = await app.upstreamResponses.findAll(caller.userId, ids.map(keptItem))
  return ids.map((id) => {
    const place = places.get(keptItem(id))
    if (place) return place
    return refuseItem(id, app.localResponses.isOn || servesNatively(app, caller, groups, asked) ? notKept : keepsNothing)
  })
}

async function threadPlaces(
  app: Pick<GatewayParts, 'channels'> & Pick<ConversationParts, 'upstreamResponses'>,
  caller: RelayCaller,
  groups: readonly string[],
  { model, body }: Continued,
): Promise<readonly UpstreamResponse[]> {
  const id = continuedMessage(body)
  const kept = await app.upstreamResponses.find(caller.userId, keptMessage(id))
  if (kept) return [kept]
  if (!someChannel(app, caller, { groups, model }, ({ provider }) => provider.keepsThreads === true)) return []
  return fail('thread_unknown', { id: id.slice(0, 100) })
}

/** The id of the message after which a thread continues. */
function continuedMessage(body: JsonObject): string {
  return textAt(objectAt(body, 'thread') ?? {}, 'previous_message_id')
}

function refuseItem(id: string, reason: Text): never {
  return fail('item_unknown', { id: id.slice(0, 100), reason })
}

const notKept = {
  zh: '没有保存您的任何含有它的回复；store 为 false 的、已删除的和过期的回复都不保存。请发送条目本身，而不是引用',
  en: 'no answer of yours that is kept has it; those with store: false, removed ones and old ones are not kept. Send the item itself, not a reference to it',
}
const liesApart = {
  zh: '请求所引用的内容不在同一渠道和密钥。请发送条目本身，而不是引用',
  en: 'not everything that the request refers to lies at one channel. Send the items themselves, not references to them',
}
const notOfModel = {
  zh: '保存它的渠道不提供该模型。请发送条目本身，而不是引用',
  en: 'the channel that keeps it does not serve this model. Send the item itself, not a reference to it',
}

const noConversations = {
  zh: '本网关不保存会话对象，请使用 previous_response_id',
  en: 'conversations are not kept here; use previous_response_id',
}

/** Throws `untranslatable`, because neither the channels of the model nor this server store the response. */
export function refuseKeeping(field: string): never {
  return fail('untranslatable', { field, reason: keepsNothing })
}

const keepsNothing = {
  zh: '该模型的渠道不保存回复，本站也未开启保存，请发送完整的 input',
  en: 'the channels of this model keep no responses and this server is set to keep none; send the whole input',
}

/** The id, or the object that contains it. */
function conversationIn({ conversation }: JsonObject): string {
  if (typeof conversation === 'string') return conversation
  return isObject(conversation) ? textAt(conversation, 'id') || 'unnamed' : ''
}

/** Whether some channel of the groups speaks the format natively. */
export function servesNatively(
  app: Pick<GatewayParts, 'channels'>,
  caller: RelayCaller,
  groups: readonly string[],
  { model, format }: Pick<Continued, 'model' | 'format'>,
): boolean {
  const isNative = (channel: RunningChannel) =>
    upstreamFormat(channel, { format, model: resolveModel(channel, model) }) === format
  return someChannel(app, caller, { groups, model }, isNative)
}

function someChannel(
  { channels }: Pick<GatewayParts, 'channels'>,
  caller: RelayCaller,
  { groups, model }: { readonly groups: readonly string[]; readonly model: string },
  fits: (channel: RunningChannel) => boolean,
): boolean {
  const index = channels.current
  if (caller.pinnedChannel !== 0) return index.keysOf(caller.pinnedChannel).some(fits)
  return groups.some((group) => index.candidates(group, model).some((tier) => tier.some(fits)))
}
