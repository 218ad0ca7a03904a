import { AppError } from '../../../base/lib/failure.ts'
import { isHeavy, yieldWithPriority } from '../../../base/lib/time/yield-to-event-loop.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { ChannelIndex, RunningChannel } from '../../channels/index/model-index.ts'
import { replacementOf } from '../../channels/index/model-replacements.ts'
import { bodyOverrides, hasBodyOverrides } from '../../channels/request/body-overrides.ts'
import { upstreamFormat } from '../../channels/request/upstream-format.ts'
import { resolveModel } from '../../channels/select/select.ts'
import { countMedia } from '../../protocols/count-media.ts'
import { countTokens } from '../../protocols/count-tokens.ts'
import type { CountFormat } from '../../protocols/format.ts'
import { formats, upstreamCounts } from '../../protocols/index.ts'
import { leaveOutVendorTools } from '../../protocols/lost-fields.ts'
import type { CallerCount } from '../../protocols/token-counts.ts'
import type { JsonObject, RequestFacts, WireFormat } from '../../protocols/wire-format.ts'
import { adjustRequest, quirksFor } from '../../providers/adjust-request.ts'
import { authorizeModel, checkPrompt } from '../admission/admit-request.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import { authenticateCall, type CallerParts, checkBeforeBody, type EmptyBalances } from '../admission/authenticate.ts'
import { enterLimits, withinLimits } from '../admission/limits.ts'
import {
  type ConversationParts,
  expandHistory,
  findStoringChannel,
  namesHistory,
  type StoringChannel,
} from '../conversations/history.ts'
import { channelOfFiles, nameFiles } from '../conversations/named-files.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { Endpoint } from '../http/endpoints.ts'
import { type Body, withReplacement } from '../http/read-body.ts'
import { settingsOf } from '../response/translate.ts'
import { type TryParts, tryChannels } from '../try-channels/try-channels.ts'
import { callUpstream, type UpstreamCallParts } from '../upstream/call-upstream.ts'
import { parseObject, UpstreamFailure } from '../upstream/failure.ts'
import { refusedReasoning } from '../upstream/refused-reasoning.ts'
import { callerHeaders, passedQuery, versionSent } from '../upstream/request-target.ts'

type CountEndpoint = Extract<Endpoint, { kind: 'count' }>

type AskParts = TryParts & UpstreamCallParts

/** The parts that counting uses. */
type CountParts = CallerParts &
  AskParts &
  Pick<GatewayParts, 'catalog' | 'limits' | 'moderation'> &
  Pick<ConversationParts, 'keptFiles' | 'localResponses' | 'upstreamResponses'> & { readonly emptyBalances: EmptyBalances }

/**
 * Counts the tokens of a prompt: at an upstream of the model that has a count endpoint, else locally. Nothing is held or charged;
 * request limits apply as for every call. When no upstream can count, the call does not fail.
 */
export async function handleCount(app: CountParts, endpoint: CountEndpoint, call: ClientExchange): Promise<void> {
  const caller = await authenticateCall(app, { from: 'token' }, call)
  const lease = app.limits.leaseOf(caller, call.id)
  if (lease) await withinLimits(app, { call, lease }, () => answer(app, endpoint, { call, caller, lease }))
  else await answer(app, endpoint, { call, caller, lease })
}

async function answer(
  app: CountParts,
  { format: name, fromPath }: CountEndpoint,
  { call, caller, lease }: Pick<AdmittedRequest, 'call' | 'caller' | 'lease'>,
): Promise<void> {
  await checkBeforeBody(app, call, { caller, lease, isFree: true })
  const sent = await call.readBody()
  call.notes.asked = sent.json
  if (isHeavy(sent.bytes.length)) await yieldWithPriority()
  const { wire: format, count } = formats[name]
  const { continues } = format
  const {
    body: named,
    fromPath: said,
    replaces,
  } = withReplacement({ body: sent, fromPath }, (model) => replacementOf(app, model))
  const whole = continues === 'response' ? await expandHistory(app, caller, { format: name, body: named }) : { body: named }
  const { body, place } = (await nameFiles(app, caller, { format: name, body: whole.body })) ?? {
    body: whole.body,
    place: undefined,
  }
  const facts = format.readRequest(body.json, said)
  call.notes.asked = facts
  const group = authorizeModel(app, caller, { model: facts.model, format: count.of, replaces })
  if (lease) await enterLimits(app, call, lease, { group, inputTokens: 0, outputTokens: 0 })
  await checkPrompt(app, call, format.promptText(body.json))

  const asked = { model: facts.model, format: name, body: body.json }
  const ofFiles = place && channelOfFiles(app, caller, { model: facts.model, place })
  const continued = continues && namesHistory(name, body.json) ? await findStoringChannel(app, caller, asked) : undefined
  const storingChannel = continued ?? ofFiles
  const counted = await askForCount(app, { call, caller, body, facts, group, format: name, count, storingChannel })
  if (call.isDisconnected) return
  if (!counted) call.setHeader('x-sluice-estimated', 'true')
  const reply = counted ?? count.writeReply(await countHere({ format, count, facts, body }))
  call.answer('application/json; charset=utf-8', Buffer.from(JSON.stringify(reply)))
}

interface Asked {
  readonly format: WireFormat
  readonly count: CallerCount
  readonly facts: RequestFacts
  readonly body: Body
}

async function countHere({ format, count, facts, body }: Asked): Promise<number> {
  if (isHeavy(body.bytes.length)) await yieldWithPriority()
  const { texts, around } = count.readPrompt(body.json, format.promptText(body.json))
  return (await countTokens(texts.join('\n'), facts.model)) + around + countMedia(body.json, facts, { withTexts: false })
}

/** A count request. */
interface Counted {
  readonly call: ClientExchange
  readonly caller: RelayCaller
  readonly body: Body
  readonly facts: RequestFacts
  readonly group: string
  readonly format: CountFormat
  readonly count: CallerCount
  readonly storingChannel: StoringChannel | undefined
}

/**
 * The count of an upstream in the caller's format; undefined when no upstream of the model can count, or none can at the moment. What
 * an endpoint for counts answers says nothing about the health of a channel: vendors limit it separately.
 */
async function askForCount(app: AskParts, counted: Counted): Promise<JsonObject | undefined> {
  const { call, caller, facts, group, count, storingChannel: home } = counted
  const { model } = facts
  const unable = new Set(
    channelsOf(app.channels.current, counted).flatMap((channel) => (wayOf(app, channel, counted) ? [] : [channel.id])),
  )
  const mayTryAnother = () => true
  const asked = { call, caller, group, model, format: count.of, home, unable, triesMax, mayTryAnother, isRecorded: false }
  const { answer } = await tryChannels(app, asked, async ({ channel }) => {
    const way = wayOf(app, channel, counted)
    const reply = way ? await ask(app, channel, way, counted) : new UpstreamFailure('untranslatable')
    if (!(reply instanceof UpstreamFailure)) return { reply, upstreamModel: way?.model ?? model }
    if (cannotCount(reply)) noteSilent(channel, model, app.steady())
    app.logger.debug({ request: call.id, channel: channel.id, reason: reply.reason }, 'a channel did not count')
    return reply
  })
  return answer?.reply
}

const triesMax = 2
const timeoutMs = 15_000

/** The endpoint that counts tokens at a channel, and the upstream's model name. */
interface Way {
  readonly model: string
  readonly count: (typeof upstreamCounts)[number]
}

function channelsOf(index: ChannelIndex, { caller, group, facts, storingChannel }: Counted): readonly RunningChannel[] {
  if (storingChannel) return index.keysOf(storingChannel.channelId)
  if (caller.pinnedChannel !== 0) return index.keysOf(caller.pinnedChannel)
  return index.candidates(group, facts.model).flat()
}

/** Undefined for a channel that cannot count tokens for this request, or has recently refused to. */
function wayOf(app: Pick<GatewayParts, 'steady'>, channel: RunningChannel, { facts, body, count }: Counted): Way | undefined {
  if ((silent.get(channel)?.get(facts.model) ?? 0) > app.steady()) return undefined
  const model = resolveModel(channel, facts.model)
  const format = upstreamFormat(channel, { format: count.of, model, body: body.json })
  const counts = upstreamCounts.find((each) => {
    const speaks =
      channel.provider.speaks[each.format] !== undefined && (channel.provider.speaksWith?.(each.format, model) ?? true)
    return each.of === format && speaks
  })
  return counts && { model, count: counts }
}

async function ask(
  app: UpstreamCallParts & Pick<GatewayParts, 'options'>,
  channel: RunningChannel,
  way: Way,
  counted: Counted,
): Promise<JsonObject | UpstreamFailure> {
  const caller = callerHeaders(counted, channel)
  try {
    if (isHeavy(counted.body.bytes.length)) await yieldWithPriority()
    const plain = requestFor(app, channel, way, counted)
    const request = { ...plain, ...wordsOf(app, channel, way, { ...counted, request: plain }) }
    const written = way.count.writeRequest(
      { ...request, ...adjustRequest(channel, { body: request, format: way.count.of, model: way.model, caller }) },
      way.model,
    )
    if (isHeavy(counted.body.bytes.length)) await yieldWithPriority()
    const counting = { body: written, format: way.count.format, model: way.model, caller }
    const body = { ...written, ...adjustRequest(channel, counting) }
    const answer = await callUpstream(app, channel, {
      format: way.count.format,
      model: way.model,
      method: 'POST',
      caller,
      query: new URLSearchParams(passedQuery(counted, { channel, format: way.count.format })),
      body: Buffer.from(JSON.stringify(body)),
      timeoutMs,
    })
    if (answer instanceof UpstreamFailure) return answer
    const reply = parseObject(answer.body)
    const tokens = way.count.readReply(reply)
    if (tokens === undefined) return new UpstreamFailure('bad-reply')
    return way.count.format === counted.format ? reply : counted.count.writeReply(tokens)
  } catch (error) {
    // The other format cannot carry the request, or the answer is invalid.
    if (error instanceof AppError) return new UpstreamFailure('untranslatable', { own: error })
    return error instanceof UpstreamFailure ? error : new UpstreamFailure('bad-reply', { cause: error })
  }
}

/** The members that the channel sets in a request: they are counted too. */
function wordsOf(
  { options }: Pick<GatewayParts, 'options'>,
  channel: RunningChannel,
  { model, count: { of } }: Way,
  { call, facts, request }: Counted & { readonly request: JsonObject },
): JsonObject {
  const { setting } = channel
  if (!hasBodyOverrides(setting)) return {}
  const version = versionSent(options.current, channel, { call, format: of, model })
  return bodyOverrides(setting, of, request, { model, asked: facts.model, version })
}

/**
 * The generation request whose prompt is counted, in the format of the upstream. Media that are referenced by URL are not fetched.
 */
function requestFor(
  app: Pick<GatewayParts, 'options'>,
  channel: RunningChannel,
  { model, count: { of } }: Way,
  counted: Counted,
): JsonObject {
  const { caller, facts, body, count } = counted
  const request = count.readRequest(body.json)
  const { codec, pastThoughts } = formats[of]
  const { inbound } = formats[count.of]
  if (of === count.of)
    return { ...request, ...pastThoughts?.changes(request, model, { isRefused: refusedReasoning(channel) })?.changes }
  if (!codec || !inbound) return request
  const dialogue = inbound.readRequest(request, { model: facts.model, stream: false })
  const context = { model, quirks: quirksFor(channel, model), settings: settingsOf(app, caller, channel), lose: () => {} }
  leaveOutVendorTools(dialogue, context)
  return codec.writeRequest(dialogue, context).body
}

/** Whether the upstream would refuse every prompt: it has no count endpoint, or not for this model. */
function cannotCount({ kind, status, facts }: UpstreamFailure): boolean {
  if (kind !== 'status') return false
  return [404, 405, 501].includes(status) || (status === 400 && /support/i.test(facts.message))
}

/** Channels that have refused to count for a model, and until when they are not called again. A changed channel is a new object. */
const silent = new WeakMap<RunningChannel, Map<string, number>>()
const silentMs = 600_000
const modelsMax = 1_000

function noteSilent(channel: RunningChannel, model: string, nowMs: number): void {
  const models = silent.get(channel) ?? new Map<string, number>()
  if (models.size >= modelsMax) models.clear()
  silent.set(channel, models.set(model, nowMs + silentMs))
}
