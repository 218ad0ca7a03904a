import { hash } from 'node:crypto'
import type { OptionValues } from '../../../../contract/options/index.ts'
import type { Outgoing, UpstreamAgents } from '../../../base/lib/net/http-client.ts'
import type { Core } from '../../../base/options/core.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import { withHeaderOverrides } from '../../channels/request/override.ts'
import { newerVersion } from '../../protocols/anthropic-messages/versions.ts'
import type { FormatDeclaration } from '../../protocols/define-format.ts'
import type { Format } from '../../protocols/format.ts'
import { formats } from '../../protocols/index.ts'
import { writeOutputLimit } from '../../protocols/output-limit.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import { isOpenToAnthropic } from '../../providers/passed-headers.ts'
import { type CallerHeaders, callerHeaderNames, type Provider } from '../../providers/provider.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { Limits, Target } from './http-exchange.ts'

/**
 * The constant parts of all requests to a channel for one format, model and kind of reply. They are cached until the channel or an
 * option changes: both are then new objects.
 */
interface Route {
  readonly url: URL
  readonly outgoing: Outgoing
  readonly limits: Limits
  readonly framing: Target['framing']
  /** The headers for JSON and a caller without headers to pass on. Frozen. */
  headers: Readonly<Record<string, string>> | undefined
}

interface Routes {
  readonly options: OptionValues
  readonly byKind: Map<string, Route>
}

const routesOf = new WeakMap<RunningChannel, Routes>()
/** A channel with a pattern in its list serves any number of models. */
const routesMax = 1000

/** The caller's side of a request. */
interface Calling {
  readonly call: Pick<ClientExchange, 'dialect' | 'request'>
  readonly caller: Pick<RelayCaller, 'userId' | 'tokenId'>
}

/** A request as it is sent upstream. */
export interface WrittenRequest {
  readonly channel: RunningChannel
  /** The channel with the access token in place of its key. */
  readonly keyed: RunningChannel
  readonly format: Format
  readonly written: {
    readonly body: Buffer
    readonly contentType: string
    readonly upstreamModel: string
    readonly stream: boolean
  }
  /** The kind of body that answers a request without streaming. */
  readonly replies: keyof typeof acceptOf
}

/**
 * The target of a request, without the signature that some vendors require. Throws an `AppError` when the channel's key or address
 * is not valid.
 */
export function targetOf(
  app: Pick<Core, 'options' | 'secrets'> & { readonly upstream: UpstreamAgents },
  request: Calling,
  sent: WrittenRequest,
): Target {
  const { channel, keyed, written, replies } = sent
  const accept = written.stream ? 'text/event-stream' : acceptOf[replies]
  const route = routeOf(app.options.current, sent, { accept, query: passedQuery(request, sent) })
  const isPlain = keyed === channel && written.contentType === 'application/json' && !sendsHeaders(request)
  if (isPlain) route.headers ??= Object.freeze(headersOf(app, request, sent, accept))
  return {
    pool: app.upstream.for(route.outgoing),
    key: keyed.key,
    url: route.url,
    headers: isPlain && route.headers ? route.headers : headersOf(app, request, sent, accept),
    body: written.body,
    framing: route.framing,
    limits: route.limits,
    statusCodeMapping: channel.statusCodeMapping,
  }
}

function routeOf(
  options: OptionValues,
  { channel, format, written }: WrittenRequest,
  { accept, query }: { readonly accept: string; readonly query: string },
): Route {
  const { byKind } = currentRoutes(options, channel)
  const { stream, upstreamModel } = written
  const kind = `${format} ${accept} ${query} ${upstreamModel}`
  const known = byKind.get(kind)
  if (known) return known

  const { provider } = channel
  const version = channel.other === '' ? versionOf(options, provider, upstreamModel) : ''
  const versioned = version === '' ? channel : { ...channel, other: version }
  const url = new URL(provider.url(versioned, format, upstreamModel, stream))
  if (query !== '') url.search += `${url.search === '' ? '?' : '&'}${query}`
  const route = {
    url,
    outgoing: outgoingTo(channel, url),
    limits: limitsOf(channel),
    framing: provider.framing?.(format, stream) ?? 'sse',
    headers: undefined,
  }
  if (byKind.size >= routesMax) byKind.clear()
  byKind.set(kind, route)
  return route
}

/** The part of the caller's query that the vendor reads, for a caller of its interface. */
export function passedQuery(
  { call }: Pick<Calling, 'call'>,
  { channel, format }: Pick<WrittenRequest, 'channel' | 'format'>,
): string {
  const { passedQuery: passed } = channel.provider
  const { url = '' } = call.request
  const at = url.indexOf('?')
  if (!passed || at < 0 || formats[format].wire?.dialect !== call.dialect) return ''
  const given = url.slice(at + 1).split('&')
  return passed.filter((pair) => given.includes(pair)).join('&')
}

function currentRoutes(options: OptionValues, channel: RunningChannel): Routes {
  const known = routesOf.get(channel)
  if (known?.options === options) return known
  const routes = { options, byKind: new Map<string, Route>() }
  routesOf.set(channel, routes)
  return routes
}

/** Whether the caller sends a header on which the request may depend. */
function sendsHeaders({ call }: Calling): boolean {
  const { headers } = call.request
  if (callerHeaderNames.some((name) => headers[name] !== undefined)) return true
  return call.dialect === 'anthropic' && Object.keys(headers).some(isOpenToAnthropic)
}

function headersOf(
  app: Pick<Core, 'options' | 'secrets'>,
  request: Calling,
  { channel, keyed, format, written }: WrittenRequest,
  accept: string,
): Record<string, string> {
  return withHeaderOverrides(
    keyed,
    {
      ...keyed.provider.headers(keyed, format, keyedHeaders(app, request, { channel, written })),
      ...headersByModel(app.options.current, formats[format], written.upstreamModel),
      'content-type': written.contentType,
      accept,
      'accept-encoding': 'identity',
      'user-agent': 'sluice',
    },
    callerHeaders(request, channel),
  )
}

/**
 * The version of the vendor's interface in the header of a request, which decides what its body may have; '' where the format has no
 * versions.
 */
export function versionSent(
  options: OptionValues,
  channel: RunningChannel,
  { call, format, model }: Pick<Calling, 'call'> & { readonly format: Format; readonly model: string },
): string {
  const { versions } = formats[format]
  if (!versions) return ''
  const caller = callerHeaders({ call }, channel)
  const headers = { ...channel.provider.headers(channel, format, caller), ...headersByModel(options, formats[format], model) }
  return withHeaderOverrides(channel, headers, caller)[versions.header] ?? ''
}

const acceptOf = { json: 'application/json', text: 'text/plain, application/json', bytes: '*/*' } as const

/** The API version that the operator has set for a model; '' where the channel has its own, or the provider none. */
function versionOf(options: OptionValues, { versionsIn }: Provider, model: string): string {
  if (versionsIn === null) return ''
  const versions: Readonly<Record<string, string>> = options[versionsIn]
  return versions[model] ?? versions.default ?? ''
}

/** Headers that the operator has set for a model; they override those of the provider. */
function headersByModel(options: OptionValues, { headersIn }: FormatDeclaration, model: string): Record<string, string> {
  if (headersIn === undefined) return {}
  const ofModel = options[headersIn][model] ?? {}
  return Object.fromEntries(Object.entries(ofModel).map(([name, values]) => [name.toLowerCase(), values.join(',')]))
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

/** Connection settings of a channel for `UpstreamAgents`. */
export function outgoingTo({ id, keyId, setting }: RunningChannel, url: URL): Outgoing {
  return {
    id,
    keyId,
    origin: url.origin.replace(/^ws/, 'http'),
    proxy: setting.proxy ?? '',
    connectTimeoutMs: setting.connect_timeout_ms ?? 10_000,
  }
}

/**
 * The caller's headers, from which providers select those that they pass on. Their idempotency key is not among them: see
 * `keyedHeaders`. Neither is a version of Messages from a caller of another interface, whose request is written here, or one that
 * the upstream of the channel does not know.
 */
export function callerHeaders({ call }: Pick<Calling, 'call'>, channel?: RunningChannel): CallerHeaders {
  // A repeated header is a list only for names that no provider uses.
  const headers = call.request.headers as CallerHeaders
  const version = headers['anthropic-version']
  const isRefused = version === newerVersion && channel !== undefined && hasRefused(channel, 'newer_version')
  const keepsVersion = version === undefined || (call.dialect === 'anthropic' && !isRefused)
  if (headers['idempotency-key'] === undefined && keepsVersion) return headers
  return { ...headers, 'idempotency-key': undefined, ...(keepsVersion ? {} : { 'anthropic-version': undefined }) }
}

/** Whether the request of a caller of Messages goes out under the newer version, which hosts may not know yet. */
export function sendsNewerVersion({ call }: Pick<Calling, 'call'>, channel: RunningChannel): boolean {
  return callerHeaders({ call }, channel)['anthropic-version'] === newerVersion
}

/**
 * The caller's headers with an idempotency key for the upstream. Callers of a channel share its account there, so that the key is
 * derived from the caller, and from the body, because attempts may change it. Forms are hashed without their random boundaries.
 */
function keyedHeaders(
  { secrets }: Pick<Core, 'secrets'>,
  request: Calling,
  { channel, written: { body, contentType } }: Pick<WrittenRequest, 'channel' | 'written'>,
): CallerHeaders {
  const headers = callerHeaders(request, channel)
  const key = request.call.request.headers['idempotency-key']
  if (key === undefined) return headers
  const { userId, tokenId } = request.caller
  const sent = contentType.startsWith('application/json') ? hash('sha256', body) : ''
  return { ...headers, 'idempotency-key': secrets.mac('upstream-idempotency-key', JSON.stringify([userId, tokenId, key, sent])) }
}

/** Parts of a request that some hosts refuse, and without which this server can answer it all the same. */
type Avoidable = 'stream_options' | 'base64' | 'newer_version'

/** A changed channel is a new object, and is tried again. */
const refused: Readonly<Record<Avoidable, WeakSet<RunningChannel>>> = {
  stream_options: new WeakSet(),
  base64: new WeakSet(),
  newer_version: new WeakSet(),
}

/** Whether this upstream has rejected it. */
export function hasRefused(channel: RunningChannel, part: Avoidable): boolean {
  return refused[part].has(channel)
}

/** Remembers that this upstream rejects it. */
export function noteRefused(channel: RunningChannel, part: Avoidable): void {
  refused[part].add(channel)
}

/** The members that put the limit which the balance affords into a body of an upstream's format. */
export function limitedMembers(
  { outputLimit }: { readonly outputLimit?: number | undefined },
  { quirks }: Pick<Provider, 'quirks'>,
  { format, model, body }: { readonly format: Format; readonly model: string; readonly body: JsonObject },
): JsonObject {
  if (outputLimit === undefined) return {}
  return writeOutputLimit(formats[format], body, { tokens: outputLimit, model, quirks }) ?? {}
}
