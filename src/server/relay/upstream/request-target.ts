import type { RunningChannel } from '../../channels/model-index.ts'
import { withHeaderOverrides } from '../../channels/override.ts'
import { AppError } from '../../lib/failure.ts'
import type { Outgoing } from '../../lib/http-client.ts'
import type { Format } from '../../protocols/format.ts'
import type { CallerHeaders } from '../../providers/provider.ts'
import type { RelayParts } from '../relay-parts.ts'
import { UpstreamFailure, withCleanFacts } from './failure.ts'
import { HttpExchange, type Receiver, type Target } from './http-exchange.ts'

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
  app: RelayParts,
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
export async function targetOf(app: RelayParts, channel: RunningChannel, call: UpstreamCall): Promise<Target | UpstreamFailure> {
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
    dispatcher: app.upstream.for(wayTo(channel, url)),
    method,
    url: signature.url ?? url,
    headers: { ...headers, ...signature.headers },
    body,
    framing: 'sse',
    limits: { headersMs: timeoutMs, idleMs: timeoutMs, totalMs },
    statusCodeMapping: channel.statusCodeMapping,
  }
}

/** The address of a call, and the channel with the token that stands for its key. */
export async function addressOf(
  app: RelayParts,
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
    // A key or an address that does not have the form of its vendor.
    if (error instanceof AppError) return new UpstreamFailure('unreachable', { own: error })
    throw error
  }
}

/** What `UpstreamAgents` wants to know of the way to a channel. */
export function wayTo({ id, keyId, setting }: RunningChannel, url: URL): Outgoing {
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
