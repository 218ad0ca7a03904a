import { readJson } from '../../../base/lib/bytes/read-json.ts'
import { AppError } from '../../../base/lib/failure.ts'
import { callConfigured, type UpstreamAgents } from '../../../base/lib/net/http-client.ts'
import { CallFailure } from '../../../base/lib/net/upstream-http/exchange.ts'
import type { StreamedBody } from '../../../base/lib/net/upstream-http/request-head.ts'
import type { Deadlines } from '../../../base/lib/time/timer-wheel.ts'
import type { Core } from '../../../base/options/core.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import { withHeaderOverrides } from '../../channels/request/override.ts'
import type { Format } from '../../protocols/format.ts'
import { readOpenAiError } from '../../protocols/openai-chat/errors.ts'
import type { CallerHeaders, TokenExchange } from '../../providers/provider.ts'
import { serverStopping, UpstreamFailure, withCleanFacts } from './failure.ts'
import { HttpExchange, type Receiver, type Target } from './http-exchange.ts'
import { outgoingTo } from './request-target.ts'

/** The parts that a call to a channel uses. */
export interface UpstreamCallParts extends Pick<Core, 'now'> {
  readonly accessTokens: AccessTokens
  readonly deadlines: Deadlines
  readonly upstream: UpstreamAgents
}

/** A call to a channel that generates nothing: a token count, or a call about a response that the upstream stores. */
export interface UpstreamCall {
  readonly format: Format
  /** The upstream's name of the model. */
  readonly model: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Appended to the path of the format. */
  readonly suffix?: string
  readonly query?: URLSearchParams
  readonly caller: CallerHeaders
  readonly body?: Buffer
  /** A body that is sent as it arrives, in place of `body`. */
  readonly streamed?: StreamedBody & { readonly contentType: string }
  /** Further headers, of the call itself. */
  readonly headers?: Readonly<Record<string, string>>
  readonly accept?: string
  /** Limits until the first byte, between bytes, and for the whole call. */
  readonly timeoutMs: number
  readonly totalMs?: number
  readonly answerBytesMax?: number
  /** Gets the function that breaks the call off: a caller has left, for whom alone it is made. */
  readonly onStart?: (breakOff: () => void) => void
}

export interface UpstreamAnswer {
  readonly contentType: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** Makes the call and reads the whole answer. Returns failures of the upstream or of the channel's key instead of throwing them. */
export async function callUpstream(
  app: UpstreamCallParts,
  channel: RunningChannel,
  call: UpstreamCall,
): Promise<UpstreamAnswer | UpstreamFailure> {
  const target = await targetOf(app, channel, call)
  if (target instanceof UpstreamFailure) return withCleanFacts(target, channel)
  const answer = await new Promise<UpstreamAnswer | UpstreamFailure>((resolve) => {
    const exchange = new HttpExchange(app.deadlines, target, new WholeAnswer(resolve))
    exchange.start()
    call.onStart?.(() => {
      exchange.abort()
      resolve(serverStopping())
    })
  })
  return answer instanceof UpstreamFailure ? withCleanFacts(answer, channel) : answer
}

/** The URL and the headers of a call. */
export async function targetOf(
  app: Omit<UpstreamCallParts, 'deadlines'>,
  channel: RunningChannel,
  call: UpstreamCall,
): Promise<Target | UpstreamFailure> {
  const { method, accept = 'application/json', body = nothing, streamed, timeoutMs, totalMs = timeoutMs, answerBytesMax } = call
  const address = await addressOf(app, channel, call)
  if (address instanceof UpstreamFailure) return address
  const { url, keyed } = address
  const headers = withHeaderOverrides(
    keyed,
    {
      ...channel.provider.headers(keyed, call.format, call.caller),
      ...(body.length > 0 ? { 'content-type': 'application/json' } : {}),
      ...(streamed ? { 'content-type': streamed.contentType } : {}),
      ...call.headers,
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
    pool: app.upstream.for(outgoingTo(channel, url)),
    key: keyed.key,
    method,
    url: signature.url ?? url,
    headers: { ...headers, ...signature.headers },
    body,
    ...(streamed ? { streamed } : {}),
    framing: 'sse',
    limits: { headersMs: timeoutMs, idleMs: timeoutMs, totalMs, ...(answerBytesMax ? { answerBytesMax } : {}) },
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

const nothing = Buffer.alloc(0)

class WholeAnswer implements Receiver {
  readonly #done: (answer: UpstreamAnswer | UpstreamFailure) => void
  readonly #chunks: Buffer[] = []
  #headers: UpstreamAnswer['headers'] = {}

  constructor(done: (answer: UpstreamAnswer | UpstreamFailure) => void) {
    this.#done = done
  }

  begin(headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.#headers = headers
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  end(): void {
    const contentType = String(this.#headers['content-type'] ?? '')
    this.#done({ contentType, headers: this.#headers, body: Buffer.concat(this.#chunks) })
  }

  fail(failure: UpstreamFailure): void {
    this.#done(failure)
  }
}

/**
 * Short-lived tokens that some upstreams require instead of the key, cached until shortly before they expire. Concurrent requests
 * share one fetch of a token.
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

  /** The token for the channel's key. A failure when the key is refused or the token server does not answer. */
  async get(channel: RunningChannel): Promise<string | UpstreamFailure> {
    const exchange = channel.provider.accessToken?.(channel, this.#now())
    if (!exchange) return channel.key
    const known = this.#tokens.get(exchange.cacheKey)
    if (known && known.untilMs > this.#now()) return known.token

    const running = this.#running.get(exchange.cacheKey) ?? this.#fetch(channel, exchange)
    this.#running.set(exchange.cacheKey, running)
    return running
  }

  /** Removes a token that the upstream refused before it expired: the next request fetches a new one. */
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
      const reply = readJson(body)
      const got = status < 300 ? exchange.read(reply) : undefined
      if (!got) {
        const { message } = readOpenAiError(reply)
        // The token server judges the channel's key, never the caller's request.
        return new UpstreamFailure('status', { status: status < 500 && status !== 429 ? 401 : status, facts: { message } })
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
