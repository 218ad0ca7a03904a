import { hash } from 'node:crypto'
import type { RunningChannel } from '../../channels/model-index.ts'
import { withHeaderOverrides } from '../../channels/override.ts'
import { AppError } from '../../lib/failure.ts'
import { CallFailure, callConfigured, type Outgoing, type UpstreamAgents } from '../../lib/http-client.ts'
import type { Deadlines } from '../../lib/timer-wheel.ts'
import type { Core } from '../../options/core.ts'
import type { Format } from '../../protocols/format.ts'
import { readOpenAiError } from '../../protocols/openai-chat/errors.ts'
import { writeOutputLimit } from '../../protocols/output-limit.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import type { CallerHeaders, Provider, TokenExchange } from '../../providers/provider.ts'
import type { AdmittedRequest } from '../admitted-request.ts'
import { UpstreamFailure, withCleanFacts } from './failure.ts'
import { HttpExchange, type Receiver, type Target } from './http-exchange.ts'

/** The parts that a call to a channel uses. */
export interface UpstreamCallParts extends Pick<Core, 'now'> {
  readonly accessTokens: AccessTokens
  readonly deadlines: Deadlines
  readonly upstream: UpstreamAgents
}

/** A call to a channel that does not generate anything: a count, or one about a response that it keeps. */
export interface UpstreamCall {
  readonly format: Format
  /** As the upstream names it. */
  readonly model: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Goes behind the path of the format. */
  readonly suffix?: string
  readonly query?: URLSearchParams
  readonly caller: CallerHeaders
  readonly body?: Buffer
  readonly accept?: string
  /** Until the first byte, between bytes, and for all of it. */
  readonly timeoutMs: number
  readonly totalMs?: number
}

export interface UpstreamAnswer {
  readonly contentType: string
  readonly body: Buffer
}

/** Makes the call and reads the whole answer. Never throws for what the upstream or the channel's key does wrong. */
export async function callUpstream(
  app: UpstreamCallParts,
  channel: RunningChannel,
  call: UpstreamCall,
): Promise<UpstreamAnswer | UpstreamFailure> {
  const target = await targetOf(app, channel, call)
  if (target instanceof UpstreamFailure) return withCleanFacts(target, channel)
  const answer = await new Promise<UpstreamAnswer | UpstreamFailure>((resolve) => {
    new HttpExchange(app.deadlines, target, new WholeAnswer(resolve)).start()
  })
  return answer instanceof UpstreamFailure ? withCleanFacts(answer, channel) : answer
}

/** Where such a call goes, and with which headers. */
export async function targetOf(
  app: Omit<UpstreamCallParts, 'deadlines'>,
  channel: RunningChannel,
  call: UpstreamCall,
): Promise<Target | UpstreamFailure> {
  const { method, accept = 'application/json', body = nothing, timeoutMs, totalMs = timeoutMs } = call
  const address = await addressOf(app, channel, call)
  if (address instanceof UpstreamFailure) return address
  const { url, keyed } = address
  const headers = withHeaderOverrides(
    keyed,
    {
      ...channel.provider.headers(keyed, call.format, call.caller),
      ...(body.length > 0 ? { 'content-type': 'application/json' } : {}),
      accept,
      'accept-encoding': 'identity',
      'user-agent': 'sluice',
    },
    call.caller,
  )
  const signs =
    channel.provider.sign && method !== 'DELETE' ? channel.provider.sign(keyed, { method, url, headers, body }, app.now()) : {}
  const signature = await signs
  return {
    dispatcher: app.upstream.for(outgoingTo(channel, url)),
    method,
    url: signature.url ?? url,
    headers: { ...headers, ...signature.headers },
    body,
    framing: 'sse',
    limits: { headersMs: timeoutMs, idleMs: timeoutMs, totalMs },
    statusCodeMapping: channel.statusCodeMapping,
  }
}

/** The URL of a call, and the channel with the access token in place of its key. */
export async function addressOf(
  app: Pick<UpstreamCallParts, 'accessTokens'>,
  channel: RunningChannel,
  { format, model, suffix = '', query }: Pick<UpstreamCall, 'format' | 'model' | 'suffix' | 'query'>,
): Promise<{ url: URL; keyed: RunningChannel } | UpstreamFailure> {
  const { provider } = channel
  try {
    const key = provider.accessToken ? await app.accessTokens.get(channel) : channel.key
    if (key instanceof UpstreamFailure) return key
    const url = new URL(provider.url(channel, format, model, false))
    url.pathname += suffix
    for (const [name, value] of query ?? []) url.searchParams.append(name, value)
    return { url, keyed: key === channel.key ? channel : { ...channel, key } }
  } catch (error) {
    // The key or the base URL is not valid for this vendor.
    if (error instanceof AppError) return new UpstreamFailure('unreachable', { own: error })
    throw error
  }
}

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

const nothing = Buffer.alloc(0)

class WholeAnswer implements Receiver {
  readonly #done: (answer: UpstreamAnswer | UpstreamFailure) => void
  readonly #chunks: Buffer[] = []
  #contentType = ''

  constructor(done: (answer: UpstreamAnswer | UpstreamFailure) => void) {
    this.#done = done
  }

  begin(headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.#contentType = String(headers['content-type'] ?? '')
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  end(): void {
    this.#done({ contentType: this.#contentType, body: Buffer.concat(this.#chunks) })
  }

  fail(failure: UpstreamFailure): void {
    this.#done(failure)
  }
}

/** The caller's headers, of which providers pick what they pass on. Their idempotency key is not among them: see `keyedHeaders`. */
export function callerHeaders({ call }: Pick<AdmittedRequest, 'call'>): CallerHeaders {
  // A header that came twice is a list only for names that no provider picks.
  const headers = call.request.headers as CallerHeaders
  return headers['idempotency-key'] === undefined ? headers : { ...headers, 'idempotency-key': undefined }
}

/**
 * The same with an idempotency key for the upstream. Callers of a channel share its account there, so that the key is derived from whose it is;
 * and from the body, because an attempt may change it. The bytes of a form differ without meaning in their boundaries.
 */
export function keyedHeaders(
  { secrets }: Pick<Core, 'secrets'>,
  request: AdmittedRequest,
  { body, contentType }: { readonly body: Buffer; readonly contentType: string },
): CallerHeaders {
  const headers = callerHeaders(request)
  const key = request.call.request.headers['idempotency-key']
  if (key === undefined) return headers
  const { userId, tokenId } = request.caller
  const sent = contentType.startsWith('application/json') ? hash('sha256', body) : ''
  return { ...headers, 'idempotency-key': secrets.mac('upstream-idempotency-key', JSON.stringify([userId, tokenId, key, sent])) }
}

/** A channel that was changed is a new object, and is asked anew. */
const refusing = new WeakSet<RunningChannel>()

/** Whether this upstream has rejected `stream_options`. */
export function refusesStreamOptions(channel: RunningChannel): boolean {
  return refusing.has(channel)
}

/** Remembers that this upstream rejects `stream_options`. */
export function noteStreamOptionsRefused(channel: RunningChannel): void {
  refusing.add(channel)
}

/** The members that put the limit which the balance affords into a body of an upstream's format. */
export function limitedMembers(
  { outputLimit }: Pick<AdmittedRequest, 'outputLimit'>,
  { quirks }: Pick<Provider, 'quirks'>,
  { format, model, body }: { readonly format: Format; readonly model: string; readonly body: JsonObject },
): JsonObject {
  if (outputLimit === undefined) return {}
  return writeOutputLimit(format, body, { tokens: outputLimit, model, quirks }) ?? {}
}

/**
 * Short-lived tokens that some upstreams want instead of the key, in memory until shortly before they expire. However many requests
 * wait for one, it is got once.
 */
export class AccessTokens {
  readonly #upstream: UpstreamAgents
  readonly #now: () => number
  readonly #tokens = new Map<string, { readonly token: string; readonly untilMs: number }>()
  readonly #running = new Map<string, Promise<string | UpstreamFailure>>()

  constructor(upstream: UpstreamAgents, now: () => number) {
    this.#upstream = upstream
    this.#now = now
  }

  /** A token for the channel's key. A failure when the key is refused or nobody answers. */
  async get(channel: RunningChannel): Promise<string | UpstreamFailure> {
    const exchange = channel.provider.accessToken?.(channel, this.#now())
    if (!exchange) return channel.key
    const known = this.#tokens.get(exchange.cacheKey)
    if (known && known.untilMs > this.#now()) return known.token

    const running = this.#running.get(exchange.cacheKey) ?? this.#fetch(channel, exchange)
    this.#running.set(exchange.cacheKey, running)
    return running
  }

  /** The upstream refused the token before its time: the next request gets a new one. */
  forget(channel: RunningChannel): void {
    const exchange = channel.provider.accessToken?.(channel, this.#now())
    if (exchange) this.#tokens.delete(exchange.cacheKey)
  }

  async #fetch(channel: RunningChannel, exchange: TokenExchange): Promise<string | UpstreamFailure> {
    try {
      const { status, body } = await callConfigured(this.#upstream, {
        method: 'POST',
        url: exchange.url,
        headers: exchange.headers,
        body: exchange.body,
        proxy: channel.setting.proxy ?? '',
        timeoutMs: 15_000,
        sizeBytesMax: 64 * 1024,
      })
      const reply = parse(body)
      const got = status < 300 ? exchange.read(reply) : undefined
      if (!got) {
        const { message } = readOpenAiError(reply)
        return new UpstreamFailure('status', { status: status < 400 ? 401 : status, facts: { message } })
      }
      if (this.#tokens.size >= keptMax) this.#tokens.clear()
      this.#tokens.set(exchange.cacheKey, {
        token: got.token,
        untilMs: this.#now() + Math.max(0, got.expiresInSeconds - marginSeconds) * 1000,
      })
      return got.token
    } catch (cause) {
      if (!(cause instanceof CallFailure)) throw cause
      return new UpstreamFailure(cause.kind === 'timeout' ? 'timeout' : 'unreachable', { cause })
    } finally {
      this.#running.delete(exchange.cacheKey)
    }
  }
}

const marginSeconds = 300
const keptMax = 10_000

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
