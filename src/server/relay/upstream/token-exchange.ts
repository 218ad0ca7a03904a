import type { RunningChannel } from '../../channels/model-index.ts'
import { CallFailure, callConfigured, type UpstreamAgents } from '../../lib/http-client.ts'
import { readOpenAiError } from '../../protocols/openai-chat/errors.ts'
import type { TokenExchange } from '../../providers/provider.ts'
import { UpstreamFailure } from './failure.ts'

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
