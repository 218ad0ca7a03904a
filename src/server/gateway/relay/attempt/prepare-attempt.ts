import { spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { AppError } from '../../../base/lib/failure.ts'
import { isHeavy, yieldWithPriority } from '../../../base/lib/time/yield-to-event-loop.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import { bodyOverrides, hasBodyOverrides } from '../../channels/request/body-overrides.ts'
import { conversionOf, isRewritten, upstreamFormat } from '../../channels/request/upstream-format.ts'
import { resolveModel } from '../../channels/select/select.ts'
import type { Format } from '../../protocols/format.ts'
import { vendorTools } from '../../protocols/hosted-tools.ts'
import { formats } from '../../protocols/index.ts'
import { raisedLimit } from '../../protocols/output-limit.ts'
import { adjustRequest, messagesTarget } from '../../providers/adjust-request.ts'
import { withoutRefusedBytes } from '../../providers/messages-body.ts'
import { isVisible, passesHeader, turnStateHeader } from '../../providers/passed-headers.ts'
import type { Provider } from '../../providers/provider.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { type Body, changedForm } from '../http/read-body.ts'
import type { ResponseAdapter, Written, WrittenFacts } from '../response/adapter.ts'
import type { BegunAttempt } from '../response/attempt-state.ts'
import { type Converted, convert } from '../response/converted.ts'
import { droppedHeader, removedMembers, setDroppedHeader, strictError, unpricedOf } from '../response/losses.ts'
import { passThrough, repliesIn } from '../response/pass-through.ts'
import type { SealedStates } from '../response/sealed-states.ts'
import { translate } from '../response/translate.ts'
import type { AccessTokens } from '../upstream/call-upstream.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import type { Target } from '../upstream/http-exchange.ts'
import type { MultiTarget } from '../upstream/multi-exchange.ts'
import { refusedReasoning } from '../upstream/refused-reasoning.ts'
import {
  callerHeaders,
  hasRefused,
  limitedMembers,
  targetOf,
  versionSent,
  type WrittenRequest,
} from '../upstream/request-target.ts'

/** The parts that preparing a request uses. */
export type PrepareParts = Pick<GatewayParts, 'logger' | 'mediaMemory' | 'now' | 'options' | 'secrets' | 'upstream'> & {
  readonly accessTokens: AccessTokens
  readonly sealedStates: SealedStates
}

/** A prepared attempt: its target, and the adapter of its reply. */
export interface Prepared extends WrittenFacts {
  readonly target: Target | MultiTarget
  readonly adapter: ResponseAdapter
}

/**
 * Makes the request for a channel. In the caller's format it has the caller's bytes, except for top-level members that must change;
 * otherwise it is written from the neutral form. A failure means that this channel cannot be called.
 */
export function prepare(
  app: PrepareParts,
  attempt: BegunAttempt,
): Promise<Prepared | UpstreamFailure> | Prepared | UpstreamFailure {
  if (isHeavy(attempt.request.body.bytes.length)) return yieldWithPriority().then(() => write(app, attempt))
  return write(app, attempt)
}

/** Synchronous when the request passes unchanged and needs no token or signature. */
function write(app: PrepareParts, attempt: BegunAttempt): Promise<Prepared | UpstreamFailure> | Prepared | UpstreamFailure {
  const { request, channel } = attempt
  const mapped = resolveModel(channel, request.facts.model)
  const own = request.format.format
  const format = upstreamFormat(channel, { format: own, model: mapped, body: request.body.json })
  if (!format) return new UpstreamFailure('unreachable', { facts: { message: 'the channel does not speak this protocol' } })

  const passes = format === own && !isRewritten(channel, format)
  const conversion = passes ? undefined : conversionOf(own, format)
  const refused =
    (passes ? refusedThread(request, channel.provider) : undefined) ?? (conversion ? unpricedOf(request) : undefined)
  if (refused) return refused
  // What an earlier attempt has set.
  request.call.setHeader(turnStateHeader, '')
  request.call.setHeader(droppedHeader, '')
  if (request.leftOut) setDroppedHeader(request, request.leftOut)
  if (conversion)
    return convert(app, attempt, { conversion, model: mapped }).then((written) => address(app, attempt, format, written))
  if (!passes) return translate(app, attempt, { format, model: mapped }).then((written) => address(app, attempt, format, written))
  const written = passBody(app, attempt, mapped)
  const unpriced = request.unpriced && !(written instanceof UpstreamFailure) ? unpricedOf(request, written.sentTools) : undefined
  if (unpriced) return unpriced
  const { accessToken, sign } = channel.provider
  if (accessToken || sign || written instanceof UpstreamFailure) return address(app, attempt, format, written)
  try {
    const target = targetOf(app, request, { channel, keyed: channel, format, written, replies: repliesIn(request) })
    return prepared(attempt, target, written)
  } catch (error) {
    return failureOf(error)
  }
}

function prepared(
  attempt: BegunAttempt,
  target: Prepared['target'],
  { upstreamModel, dropped, translation, sentTools, raisedLimit, adapter }: WrittenFacts & Pick<Prepared, 'adapter'>,
): Prepared {
  return { target, upstreamModel, dropped, translation, sentTools, raisedLimit, adapter: notingAccount(attempt, adapter) }
}

/** Notes the account that answers, so that the conversation stays with it: reasoning in the reply may be bound to it. */
function notingAccount({ shared, channel }: BegunAttempt, adapter: ResponseAdapter): ResponseAdapter {
  const { accountHeader } = channel.provider
  if (accountHeader === undefined) return adapter
  return {
    ...adapter,
    readHeaders(headers) {
      adapter.readHeaders?.(headers)
      const account = headers[accountHeader]
      shared.account = typeof account === 'string' ? account : undefined
    },
  }
}

/** Makes the targets of a written request, with the access token or signature that a vendor requires. */
async function address(
  app: PrepareParts,
  attempt: BegunAttempt,
  format: Format,
  written: Written | Converted | UpstreamFailure,
): Promise<Prepared | UpstreamFailure> {
  const { request, channel } = attempt
  if (written instanceof UpstreamFailure) return written
  try {
    const key = channel.provider.accessToken ? await app.accessTokens.get(channel) : channel.key
    if (key instanceof UpstreamFailure) return key
    const keyed = key === channel.key ? channel : { ...channel, key }
    const replies = format === request.format.format ? repliesIn(request) : 'json'
    const target = await ('requests' in written
      ? targetsOf(app, request, { channel, keyed, format, replies }, written)
      : signed(app, keyed, targetOf(app, request, { channel, keyed, format, written, replies })))
    return prepared(attempt, target, written)
  } catch (error) {
    return failureOf(error)
  }
}

/** A key without the format of its vendor is a mistake of the operator; another channel may be tried. */
function failureOf(error: unknown): UpstreamFailure {
  if (error instanceof AppError) return new UpstreamFailure('unreachable', { own: error })
  throw error
}

function passBody({ options }: Pick<PrepareParts, 'options'>, attempt: BegunAttempt, mapped: string): Written | UpstreamFailure {
  const { request, channel } = attempt
  const { format, facts } = request
  const { body, lost } = acceptedBody(request, channel, readableBody(attempt, mapped), mapped)
  const { provider, setting } = channel
  const takesOptions = provider.streamOptions && !hasRefused(channel, 'stream_options')
  const asksUsage = facts.stream && takesOptions && !facts.wantsUsage && format.stream?.reportsUsageOnRequest === true
  const limited = limitedMembers(request, provider, { format: format.format, model: mapped, body: body.json })
  const limitedBody = request.outputLimit === undefined ? body.json : { ...body.json, ...limited }
  const asked = { body: limitedBody, format: format.format, model: mapped, caller: callerHeaders(request, channel) }
  const adjusted = adjustRequest(channel, asked)
  const isAdjusted = Object.keys(adjusted).length > 0
  const raised = isAdjusted
    ? raisedLimit(
        formats[format.format],
        { before: limitedBody, after: { ...limitedBody, ...adjusted } },
        { model: mapped, quirks: provider.quirks },
      )
    : undefined
  const removed = isAdjusted ? [...lost, ...removedMembers(body.json, adjusted), ...(raised ? [raised.member] : [])] : lost
  if (removed.length > 0 && request.caller.isStrict) return new UpstreamFailure('untranslatable', { own: strictError(removed) })
  const dropped = removed.length > 0 ? [...new Set([...(request.leftOut ?? []), ...removed])] : undefined
  if (dropped) setDroppedHeader(request, dropped)
  const upstreamModel = typeof adjusted.model === 'string' ? adjusted.model : mapped

  const changes: Record<string, unknown> = {}
  // Gemini names the model in the address alone.
  if (upstreamModel !== facts.model && 'model' in body.json) changes.model = upstreamModel
  if (asksUsage) changes.stream_options = { ...facts.streamOptions, include_usage: true }
  if (!takesOptions && facts.streamOptions) changes.stream_options = undefined
  if (asksBase64(request) && hasRefused(channel, 'base64')) changes.encoding_format = 'float'
  Object.assign(changes, limited, adjusted)
  if (hasBodyOverrides(setting)) {
    const version = versionSent(options.current, channel, {
      call: request.call,
      format: format.format,
      model: upstreamModel,
    })
    const names = { model: upstreamModel, asked: facts.model, version }
    Object.assign(changes, bodyOverrides(setting, format.format, { ...body.json, ...changes }, names))
  }
  const mayChangeTools = Object.keys(changes).some((name) => name !== 'stream_options')

  // An override may name another model.
  const sent = typeof changes.model === 'string' ? changes.model : upstreamModel
  return {
    upstreamModel: sent,
    dropped,
    ...(mayChangeTools ? { sentTools: vendorTools(formats[format.format], { ...body.json, ...changes }).hostedTools ?? [] } : {}),
    ...(raised ? { raisedLimit: raised.tokens * (facts.completions ?? 1) } : {}),
    stream: facts.stream,
    ...changedBody(body, changes),
    adapter: passThrough(
      request,
      { hideUsage: asksUsage, renameTo: sent === facts.model ? undefined : facts.model, mendsFinish: !request.caller.isStrict },
      passingBack(request, channel),
    ),
  }
}

/** Embeddings that are asked for in base64. This server encodes those of a host that returns numbers. */
export function asksBase64({ format, body }: AdmittedRequest): boolean {
  return format.format === 'openai.embeddings' && body.json.encoding_format === 'base64'
}

/** Passes on the turn state header, which Codex sends back with its next request. */
function passingBack({ call, format }: AdmittedRequest, channel: RunningChannel): ResponseAdapter['readHeaders'] {
  if (!formats[format.format].hasTurnState || !passesHeader('openai', channel, turnStateHeader)) return undefined
  return ({ [turnStateHeader]: state }) => {
    if (typeof state === 'string' && isVisible.test(state)) call.setHeader(turnStateHeader, state)
  }
}

/** A body with the names of members that are lost from it. */
interface CleanedBody {
  readonly body: Body
  readonly lost: readonly string[]
}

/** The body without what a host of Messages refuses. */
function acceptedBody(request: AdmittedRequest, channel: RunningChannel, cleaned: CleanedBody, model: string): CleanedBody {
  if (request.format.format !== 'anthropic.messages') return cleaned
  const accepted = withoutRefusedBytes(cleaned.body, messagesTarget(channel, model, callerHeaders(request)))
  if (!accepted) return cleaned
  const { dropped, ...body } = accepted
  return { body, lost: [...cleaned.lost, ...dropped] }
}

/** The body without reasoning of earlier turns that the vendor cannot read or has refused, and the names of what is lost with it. */
function readableBody(
  { request: { body, format }, shared: { leavesReasoning = false }, channel }: BegunAttempt,
  model: string,
): CleanedBody {
  const { pastThoughts } = formats[format.format]
  const cleaned = pastThoughts?.without(body, model, { all: leavesReasoning, isRefused: refusedReasoning(channel) })
  if (!cleaned) return { body, lost: [] }
  const { dropped, ...readable } = cleaned
  return { body: readable, lost: dropped }
}

/** The caller's bytes, with these members set or (undefined) removed. Each attempt starts from the caller's bytes again. */
function changedBody({ bytes, form }: Body, changes: Readonly<Record<string, unknown>>): Pick<Written, 'body' | 'contentType'> {
  const contentType = form?.contentType ?? 'application/json'
  if (Object.keys(changes).length === 0) return { body: bytes, contentType }
  return { body: form ? changedForm(bytes, form, changes) : spliceMembers(bytes, writeMembers(changes)), contentType }
}

function writeMembers(changes: Readonly<Record<string, unknown>>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(changes).map(([key, value]) => [key, value === undefined ? undefined : JSON.stringify(value)]),
  )
}

/** The targets of a request that is answered by several calls, and the URL that polls a task. */
async function targetsOf(
  app: Pick<GatewayParts, 'now' | 'options' | 'secrets' | 'upstream'>,
  request: AdmittedRequest,
  sent: Omit<WrittenRequest, 'written'>,
  { requests, steps }: Converted,
): Promise<MultiTarget> {
  const { channel, keyed } = sent
  return {
    ...steps,
    calls: await Promise.all(requests.map((written) => signed(app, keyed, targetOf(app, request, { ...sent, written })))),
    taskTarget({ headers, ...call }, taskId) {
      const { 'content-type': _, ...others } = headers
      const url = new URL(channel.provider.taskUrl?.(channel, taskId) ?? call.url)
      return { ...call, method: 'GET', url, headers: others }
    },
  }
}

/** The target with the vendor's signature, if it requires one. */
async function signed({ now }: Pick<GatewayParts, 'now'>, channel: RunningChannel, target: Target): Promise<Target> {
  if (!channel.provider.sign) return target
  const { url, headers, body } = target
  if (isHeavy(body.length)) await yieldWithPriority()
  const signature = await channel.provider.sign(channel, { method: 'POST', url, headers, body }, now())
  return { ...target, url: signature.url ?? url, headers: { ...headers, ...signature.headers } }
}

/**
 * A caller of Messages may let the vendor store the conversation and send only the new part. An upstream that does not store it
 * would answer without the beginning. The error has the form that makes the SDK continue without a thread. Undefined when the
 * channel can answer.
 */
function refusedThread({ format, body }: AdmittedRequest, { keepsThreads }: Provider): UpstreamFailure | undefined {
  if (keepsThreads || format.continues !== 'thread' || !formats[format.format].storesAnswer?.(body.json)) return undefined
  const reason = { zh: '该渠道不保存对话', en: 'this channel keeps no conversations' }
  return new UpstreamFailure('untranslatable', { own: new AppError('untranslatable', { field: 'thread', reason }) })
}
