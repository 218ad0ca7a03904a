import type { IncomingMessage } from 'node:http'
import type { WebSocket } from 'ws'
import { openSocket } from '../../../base/lib/net/upstream-socket.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import { withHeaderOverrides } from '../../channels/request/override.ts'
import { candidatesOf } from '../../channels/select/candidates.ts'
import { resolveModel } from '../../channels/select/select.ts'
import type { ChannelRun } from '../../channels/select/traffic.ts'
import type { ChannelRefusal } from '../../limits/budgets.ts'
import type { CallerError } from '../../protocols/error-body.ts'
import { readOpenAiError } from '../../protocols/openai-chat/errors.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { type Attempt, type ChannelAttempt, errorOf, type TryParts, tryChannels } from '../try-channels/try-channels.ts'
import { type AccessTokens, addressOf } from '../upstream/call-upstream.ts'
import { readRetryAfter, UpstreamFailure, withCleanFacts } from '../upstream/failure.ts'
import { callerHeaders } from '../upstream/request-target.ts'

/** A request for a realtime session. */
interface Wanted {
  readonly call: ClientExchange
  readonly caller: RelayCaller
  readonly model: string
  readonly group: string
  /** Other query parameters of the URL. */
  readonly query: URLSearchParams
  /** Counts the session in the budgets of a channel. */
  readonly enterChannel: (channelId: number) => Promise<ChannelRefusal | undefined>
  /** The caller uses the beta version of the Realtime API. */
  readonly isBeta: boolean
}

/** A connected upstream. Its socket is paused. */
export interface Connected {
  readonly channel: RunningChannel
  readonly upstreamModel: string
  readonly socket: WebSocket
  readonly choice: Attempt['choice']
  readonly candidates: Attempt['candidates']
  readonly attempts: readonly Attempt[]
  /** The session as the traffic statistics of the channel count it; it must be ended with the session. */
  readonly run: ChannelRun
  readonly handshakeMs: number
}

/** The parts that connecting a session to a channel uses. */
export type ConnectParts = TryParts & Pick<GatewayParts, 'upstream'> & { readonly accessTokens: AccessTokens }

/** Tries channels until one accepts the session. Returns the error for the caller when none does. Throws as `errorOf`. */
export async function connectRealtime(app: ConnectParts, wanted: Wanted): Promise<Connected | CallerError> {
  const { call, caller, model, group, enterChannel: enterBudgets } = wanted
  const asked = { call, caller, group, model, format: 'openai.realtime' as const, enterBudgets, staysOpen: true }
  const tried = await tryChannels(app, asked, (attempt) => connectTo(app, wanted, attempt))
  if (!tried.answer) return errorOf(tried, wanted)
  const { answer, channel, choice, considered, failed, run } = tried
  return { ...answer, channel, choice, candidates: considered && candidatesOf(considered), attempts: failed, run }
}

async function connectTo(
  app: Pick<GatewayParts, 'steady' | 'upstream'> & { readonly accessTokens: AccessTokens },
  { call, model, query, isBeta }: Wanted,
  { channel, trace }: Pick<ChannelAttempt, 'channel' | 'trace'>,
): Promise<Pick<Connected, 'socket' | 'upstreamModel' | 'handshakeMs'> | UpstreamFailure> {
  const startedMs = app.steady()
  const upstreamModel = resolveModel(channel, model)
  const address = await addressOf(app, channel, { format: 'openai.realtime', model: upstreamModel, query })
  if (address instanceof UpstreamFailure) return withCleanFacts(address, channel)
  const { url, keyed } = address
  url.protocol = url.protocol === 'http:' || url.protocol === 'ws:' ? 'ws:' : 'wss:'
  const caller = callerHeaders({ call })
  const { setting } = channel
  const connect = app.upstream.connector({
    proxy: setting.proxy ?? '',
    connectTimeoutMs: setting.connect_timeout_ms ?? 10_000,
  })
  const socket = openSocket(connect, {
    url,
    headers: {
      ...withHeaderOverrides(
        keyed,
        {
          ...channel.provider.headers(keyed, 'openai.realtime', caller),
          // The key is sent in a header, so that no subprotocol is offered; so is the beta version.
          ...(isBeta ? { 'openai-beta': 'realtime=v1' } : {}),
          'user-agent': 'sluice',
        },
        caller,
      ),
      ...trace?.headersTo(url),
    },
    handshakeMs: Math.min(setting.headers_timeout_ms ?? handshakeMaxMs, handshakeMaxMs),
  })
  const failure = await opened(socket, channel)
  if (failure) return withCleanFacts(failure, channel)
  return { socket, upstreamModel, handshakeMs: Math.max(0, app.steady() - startedMs) }
}

const handshakeMaxMs = 20_000

/** Resolves with undefined when the socket is open, or with the failure. */
function opened(socket: WebSocket, { statusCodeMapping }: RunningChannel): Promise<UpstreamFailure | undefined> {
  return new Promise((resolve) => {
    socket.once('open', () => {
      socket.pause()
      resolve(undefined)
    })
    socket.once('unexpected-response', (_request, response) => {
      readRefusal(response).then((body) => {
        const status = response.statusCode ?? 0
        const mapped = statusCodeMapping.get(status)
        const retryAfter = readRetryAfter(response.headers, Date.now())
        const facts = readOpenAiError(body)
        resolve(new UpstreamFailure('status', { status: mapped ?? status, isMapped: mapped !== undefined, facts, retryAfter }))
        socket.terminate()
      })
    })
    socket.on('error', (cause) => {
      resolve(new UpstreamFailure(/timed? ?out/i.test(cause.message) ? 'timeout' : 'unreachable', { cause }))
    })
  })
}

/** The beginning of the body of a response that is not an upgrade; never rejects. */
async function readRefusal(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      size += chunk.length
      if (size > refusalBytesMax) break
      chunks.push(chunk)
    }
  } catch {
    // A truncated body is enough.
  }
  const text = Buffer.concat(chunks).toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return { error: { message: text.startsWith('<') ? '' : text.slice(0, 500) } }
  }
}

const refusalBytesMax = 64 * 1024
