import type { OptionalEndpoint } from '../../../contract/entities/channel.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import { bodyOverrides, hasBodyOverrides } from '../../channels/body-overrides.ts'
import { optionalEndpointOf, recordMissingEndpoint, withoutEndpoint } from '../../channels/missing-endpoints.ts'
import type { RunningChannel } from '../../channels/model-index.ts'
import { withHeaderOverrides } from '../../channels/override.ts'
import { resolveModel } from '../../channels/select.ts'
import { conversionOf, isRewritten, upstreamFormat } from '../../channels/upstream-format.ts'
import { AppError } from '../../lib/failure.ts'
import { background } from '../../lib/logger.ts'
import { spliceMembers } from '../../lib/splice-json.ts'
import { isHeavy, yieldWithPriority } from '../../lib/yield-to-event-loop.ts'
import type { Core } from '../../options/core.ts'
import { hasThoughts, withoutForeignThoughts } from '../../protocols/anthropic-messages/past-thinking.ts'
import type { Format } from '../../protocols/format.ts'
import { isObject } from '../../protocols/wire-format.ts'
import { isVisible, passesHeader, turnStateHeader } from '../../providers/passed-headers.ts'
import type { Provider } from '../../providers/provider.ts'
import type { AdmittedRequest, AttemptState } from '../admitted-request.ts'
import { type Body, changedForm } from '../http/read-body.ts'
import type { RelayParts } from '../relay-parts.ts'
import type { ResponseAdapter, Written } from '../response/adapter.ts'
import { type Converted, convert } from '../response/converted.ts'
import { removedMembers, setDroppedHeader, strictError, unpricedOf } from '../response/losses.ts'
import { passThrough, repliesIn } from '../response/pass-through.ts'
import { translate } from '../response/translate.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import type { Limits, Target } from '../upstream/http-exchange.ts'
import type { MultiTarget } from '../upstream/multi-exchange.ts'
import {
  callerHeaders,
  keyedHeaders,
  limitedMembers,
  noteStreamOptionsRefused,
  outgoingTo,
  refusesStreamOptions,
} from '../upstream/request-target.ts'

/** The parts that preparing a request uses. */
export type PrepareParts = Pick<
  RelayParts,
  'accessTokens' | 'logger' | 'mediaMemory' | 'now' | 'options' | 'sealedStates' | 'secrets' | 'upstream'
>

/** A prepared attempt: its target, and the adapter of its reply. */
export interface Prepared {
  readonly target: Target | MultiTarget
  readonly adapter: ResponseAdapter
}

/**
 * Makes the request that goes to a channel. In the caller's own format it is their bytes with only those top-level members changed that
 * must be; else it is written anew from the neutral form. A failure means that this channel cannot be asked.
 */
export async function prepare(app: PrepareParts, attempt: AttemptState): Promise<Prepared | UpstreamFailure> {
  const { request, channel } = attempt
  if (isHeavy(request.body.bytes.length)) await yieldWithPriority()
  const mapped = resolveModel(channel, request.facts.model)
  const own = request.format.format
  const format = upstreamFormat(channel, { format: own, model: mapped, body: request.body.json })
  if (!format) return new UpstreamFailure('unreachable', { facts: { message: 'the channel does not speak this protocol' } })

  const passes = format === own && !isRewritten(channel, format)
  const conversion = passes ? undefined : conversionOf(own, format)
  const refused =
    (passes ? refusedThread(request, channel.provider) : undefined) ?? (passes || conversion ? unpricedOf(request) : undefined)
  if (refused) return refused
  request.call.setHeader(turnStateHeader, '')
  setDroppedHeader(request, request.leftOut ?? [])
  const written = passes
    ? passBody(attempt, mapped)
    : conversion
      ? await convert(app, attempt, { conversion, model: mapped })
      : await translate(app, attempt, { format, model: mapped })
  if (written instanceof UpstreamFailure) return written
  try {
    const key = channel.provider.accessToken ? await app.accessTokens.get(channel) : channel.key
    if (key instanceof UpstreamFailure) return key
    const keyed = { channel, key, format }
    const target =
      'requests' in written ? await targetsOf(app, request, keyed, written) : targetOf(app, request, { ...keyed, written })
    attempt.upstreamModel = written.upstreamModel
    return { target: target instanceof Promise ? await target : target, adapter: written.adapter }
  } catch (error) {
    // A key that does not have the form of its vendor: the operator's mistake, and no reason not to ask another channel.
    if (error instanceof AppError) return new UpstreamFailure('unreachable', { own: error })
    throw error
  }
}

function passBody(attempt: AttemptState, mapped: string): Written | UpstreamFailure {
  const { request, channel } = attempt
  const { format, facts } = request
  const body = readableBody(attempt, mapped)
  if (body instanceof UpstreamFailure) return body
  const { provider, setting } = channel
  const takesOptions = provider.streamOptions && !refusesStreamOptions(channel)
  const asksUsage = facts.stream && takesOptions && !facts.wantsUsage && reportsUsageOnRequest.has(format.format)
  const limited = limitedMembers(request, provider, { format: format.format, model: mapped, body: body.json })
  const adjusted = provider.adjustBody?.({ ...body.json, ...limited }, format.format, mapped, callerHeaders(request)) ?? {}
  const refused = noteDropped(attempt, removedMembers(body.json, adjusted))
  if (refused) return refused
  const upstreamModel = typeof adjusted.model === 'string' ? adjusted.model : mapped

  const changes: Record<string, unknown> = {}
  // Gemini names the model in the address alone.
  if (upstreamModel !== facts.model && 'model' in body.json) changes.model = upstreamModel
  if (asksUsage) changes.stream_options = { ...facts.streamOptions, include_usage: true }
  if (!takesOptions && facts.streamOptions) changes.stream_options = undefined
  Object.assign(changes, limited, adjusted)
  if (hasBodyOverrides(setting)) {
    const names = { model: upstreamModel, asked: facts.model }
    Object.assign(changes, bodyOverrides(setting, format.format, { ...body.json, ...changes }, names))
  }

  return {
    upstreamModel,
    stream: facts.stream,
    ...changedBody(body, changes),
    adapter: {
      ...passThrough(request, { hideUsage: asksUsage, renameTo: upstreamModel === facts.model ? undefined : facts.model }),
      ...passingBack(request, channel),
    },
  }
}

/** Passes on the turn state header, which Codex sends back with its next request. */
function passingBack({ call, format }: AdmittedRequest, channel: RunningChannel): Pick<ResponseAdapter, 'readHeaders'> {
  if (format.format !== 'openai.responses' || !passesHeader('openai', channel, turnStateHeader)) return {}
  return {
    readHeaders({ [turnStateHeader]: state }) {
      if (typeof state === 'string' && isVisible.test(state)) call.setHeader(turnStateHeader, state)
    },
  }
}

/** The body without thoughts of earlier turns that the vendor cannot read. What else that costs is named; a strict token refuses it. */
function readableBody(attempt: AttemptState, model: string): Body | UpstreamFailure {
  const { body, format } = attempt.request
  const { leavesReasoning = false } = attempt.shared
  if (format.format !== 'anthropic.messages') return body
  const cleaned = withoutForeignThoughts(body, model, { all: leavesReasoning })
  if (!cleaned) return body
  const { dropped, ...readable } = cleaned
  return noteDropped(attempt, dropped) ?? readable
}

/** Names what a channel of the caller's own format does not get; the refusal for a token that allows nothing to be lost. */
function noteDropped(attempt: AttemptState, names: readonly string[]): UpstreamFailure | undefined {
  if (names.length === 0) return undefined
  const { request } = attempt
  if (request.caller.isStrict) return new UpstreamFailure('untranslatable', { own: strictError(names) })
  attempt.dropped = [...new Set([...(attempt.dropped ?? request.leftOut ?? []), ...names])]
  setDroppedHeader(request, attempt.dropped)
  return undefined
}

/** The caller's bytes, with these members set or (undefined) taken out. Another try starts from the caller's bytes again. */
function changedBody({ bytes, form }: Body, changes: Readonly<Record<string, unknown>>): Pick<Written, 'body' | 'contentType'> {
  const contentType = form?.contentType ?? 'application/json'
  if (Object.keys(changes).length === 0) return { body: bytes, contentType }
  return { body: form ? changedForm(bytes, form, changes) : spliceMembers(bytes, writeMembers(changes)), contentType }
}

/** Formats whose streams report usage only when it is requested. */
const reportsUsageOnRequest: ReadonlySet<Format> = new Set<Format>(['openai.chat', 'openai.completions'])

function writeMembers(changes: Readonly<Record<string, unknown>>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(changes).map(([key, value]) => [key, value === undefined ? undefined : JSON.stringify(value)]),
  )
}

/** The targets of a request that takes several calls, and the URL that polls a task. */
async function targetsOf(
  app: Pick<RelayParts, 'now' | 'options' | 'secrets' | 'upstream'>,
  request: AdmittedRequest,
  keyed: { channel: RunningChannel; key: string; format: Format },
  { requests, steps }: Converted,
): Promise<MultiTarget> {
  const { channel } = keyed
  return {
    ...steps,
    calls: await Promise.all(requests.map((written) => targetOf(app, request, { ...keyed, written }))),
    taskTarget({ headers, ...call }, taskId) {
      const { 'content-type': _, ...others } = headers
      const url = new URL(channel.provider.taskUrl?.(channel, taskId) ?? call.url)
      return { ...call, method: 'GET', url, headers: others }
    },
  }
}

function targetOf(
  app: Pick<RelayParts, 'now' | 'options' | 'secrets' | 'upstream'>,
  request: AdmittedRequest,
  sent: { channel: RunningChannel; key: string; format: Format; written: Written },
): Target | Promise<Target> {
  const { channel, key, format, written } = sent
  const { provider } = channel
  const { body, stream, upstreamModel } = written
  const { current } = app.options
  const url = urlFor(channel, format, {
    model: upstreamModel,
    stream,
    version: channel.other === '' ? versionOf(current, provider, upstreamModel) : '',
  })
  const keyed = key === channel.key ? channel : { ...channel, key }
  const headers = withHeaderOverrides(
    keyed,
    {
      ...provider.headers(keyed, format, keyedHeaders(app, request, written)),
      ...(format === 'anthropic.messages' ? claudeHeaders(current, upstreamModel) : {}),
      'content-type': written.contentType,
      accept: stream ? 'text/event-stream' : acceptOf[format === request.format.format ? repliesIn(request) : 'json'],
      'accept-encoding': 'identity',
      'user-agent': 'sluice',
    },
    callerHeaders(request),
  )
  const target: Target = {
    dispatcher: app.upstream.for(outgoingTo(channel, url)),
    url,
    headers,
    body,
    framing: provider.framing?.(format, stream) ?? 'sse',
    limits: limitsOf(channel),
    statusCodeMapping: channel.statusCodeMapping,
  }
  return provider.sign ? signed(app, keyed, target) : target
}

/** The target with the vendor's signature. */
async function signed({ now }: Pick<RelayParts, 'now'>, channel: RunningChannel, target: Target): Promise<Target> {
  const { url, headers, body } = target
  if (isHeavy(body.length)) await yieldWithPriority()
  const signature = await channel.provider.sign?.(channel, { method: 'POST', url, headers, body }, now())
  return { ...target, url: signature?.url ?? url, headers: { ...headers, ...signature?.headers } }
}
const acceptOf = { json: 'application/json', text: 'text/plain, application/json', bytes: '*/*' } as const

/** The API version that the operator has set for a model; '' where the channel has its own, or the provider none. */
function versionOf(options: OptionValues, { versionsIn }: Provider, model: string): string {
  if (versionsIn === null) return ''
  const versions: Readonly<Record<string, string>> = options[versionsIn]
  return versions[model] ?? versions.default ?? ''
}

/** Headers that the operator has set for a Claude model; they come before those of the provider. */
function claudeHeaders(options: OptionValues, model: string): Record<string, string> {
  const ofModel = options['claude.model_headers_settings'][model] ?? {}
  return Object.fromEntries(Object.entries(ofModel).map(([name, values]) => [name.toLowerCase(), values.join(',')]))
}

/** URLs are the same for every request of a channel, format and model; a changed channel is a new object. */
const urls = new WeakMap<RunningChannel, Map<string, URL>>()
/** A channel whose list has an asterisk serves any number of names. */
const urlsMax = 1000

function urlFor(
  channel: RunningChannel,
  format: Format,
  { model, stream, version }: { model: string; stream: boolean; version: string },
): URL {
  const ofChannel = urls.get(channel) ?? new Map<string, URL>()
  const key = `${format} ${stream} ${version} ${model}`
  const known = ofChannel.get(key)
  if (known) return known
  const url = new URL(channel.provider.url(version === '' ? channel : { ...channel, other: version }, format, model, stream))
  if (ofChannel.size >= urlsMax) ofChannel.clear()
  urls.set(channel, ofChannel.set(key, url))
  return url
}

function limitsOf({ setting }: RunningChannel): Limits {
  return {
    headersMs: setting.headers_timeout_ms ?? defaults.headersMs,
    idleMs: setting.idle_timeout_ms ?? defaults.idleMs,
    totalMs: setting.total_timeout_ms ?? defaults.totalMs,
  }
}

/** Whole answers of reasoning models take minutes before their first header; the official SDKs wait ten. */
const defaults = { headersMs: 600_000, idleMs: 300_000, totalMs: 3_600_000 } as const

/**
 * A Messages caller may leave the conversation with the vendor and send only what is new. An upstream that does not keep it would answer
 * without its beginning. The caller is told so in the words by which its SDK goes on without a thread. Undefined when all is well.
 */
function refusedThread({ format, body }: AdmittedRequest, { keepsThreads }: Provider): UpstreamFailure | undefined {
  if (keepsThreads || format.format !== 'anthropic.messages' || !isObject(body.json.thread)) return undefined
  const reason = { zh: '该渠道不保存对话', en: 'this channel keeps no conversations' }
  return new UpstreamFailure('untranslatable', { own: new AppError('untranslatable', { field: 'thread', reason }) })
}

/**
 * Refusals that another wording of the same request avoids: an access token that was withdrawn before its time, `stream_options` where
 * an upstream does not know them, and sealed reasoning that no longer fits. Answers whether the channel is to be asked once more; what was
 * learnt is kept, so that this happens once.
 */
export function isWorthRetry(app: Pick<PrepareParts, 'accessTokens'>, attempt: AttemptState, failure: UpstreamFailure): boolean {
  const { request, shared, channel } = attempt
  if (failure.kind !== 'status' || request.call.isCommitted || request.call.isAborted) return false
  const { status, facts } = failure
  if (status === 401 && channel.provider.accessToken) {
    app.accessTokens.forget(channel)
    return true
  }
  if (status !== 400 && status !== 422) return false
  if (facts.message.includes('stream_options') && !refusesStreamOptions(channel)) {
    noteStreamOptionsRefused(channel)
    return true
  }
  if (!shared.leavesReasoning && staleReasoning.test(facts.message) && mayLeaveReasoning(attempt)) {
    shared.leavesReasoning = true
    return true
  }
  return false
}

/**
 * The endpoint that the upstream of a channel was found to lack by this attempt, when the call can be translated to one that it has. Twice
 * in a row, the channel is known to lack it.
 */
export function missingEndpoint(
  app: Core & Pick<RelayParts, 'endpointMisses'>,
  { request, channel }: AttemptState,
  result: 'answered' | UpstreamFailure,
): OptionalEndpoint | undefined {
  const { format, facts, body, call, storingChannel } = request
  const isMissing = result !== 'answered' && result.isOfMissingEndpoint
  if (!isMissing && !app.endpointMisses.any) return undefined
  const asked = { format: format.format, model: resolveModel(channel, facts.model), body: body.json }
  const endpoint = optionalEndpointOf(upstreamFormat(channel, asked) ?? format.format)
  if (!endpoint) return undefined
  if (!isMissing) {
    app.endpointMisses.found(channel, endpoint)
    return undefined
  }
  if (app.endpointMisses.missed(channel, endpoint)) {
    background(app.logger, 'note an endpoint that a channel lacks', recordMissingEndpoint(app, channel, endpoint))
  }
  const isTranslatable = upstreamFormat(withoutEndpoint(channel, endpoint), asked) !== undefined
  // A conversation stored at an upstream cannot be continued in another format.
  return isTranslatable && !storingChannel && !call.isCommitted && !call.isAborted ? endpoint : undefined
}

/** Of the requests that pass as they are, only those in Messages name the reasoning that they bring back. */
function mayLeaveReasoning({ translation, request: { format, body } }: AttemptState): boolean {
  return translation !== undefined || (format.format === 'anthropic.messages' && hasThoughts(body.json))
}

/** What vendors say of reasoning that was changed, or that another model or key has sealed. Source: protocols notes 3.7. */
const staleReasoning = /signature|thinking.{0,80}(cannot be modified|must|expected)|encrypted.?content|thought_?signature/i
