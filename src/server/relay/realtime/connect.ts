import type { IncomingMessage } from 'node:http'
import type { WebSocket } from 'ws'
import { candidatesOf } from '../../channels/candidates.ts'
import type { ReachedLimit } from '../../channels/concurrency-slot.ts'
import type { RunningChannel } from '../../channels/model-index.ts'
import { withHeaderOverrides } from '../../channels/override.ts'
import { resolveModel, type Selected, type Selection, selectChannel, selectPinned } from '../../channels/select.ts'
import type { ChannelRun } from '../../channels/traffic.ts'
import { AppError, fail } from '../../lib/failure.ts'
import { openSocket } from '../../lib/upstream-socket.ts'
import type { Core } from '../../options/core.ts'
import { type CallerError, ownError } from '../../protocols/error-body.ts'
import { readOpenAiError } from '../../protocols/openai-chat/errors.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'
import type { AttemptTrace } from '../../usage/call-traces.ts'
import type { ChannelRefusal } from '../admission/budgets.ts'
import type { Attempt } from '../charge/billed.ts'
import { noteEndOfAttempt } from '../charge/end-of-call.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { RelayParts } from '../relay-parts.ts'
import { addressOf } from '../upstream/call-upstream.ts'
import { noteFailure, readRetryAfter, UpstreamFailure, withCleanFacts } from '../upstream/failure.ts'
import { callerHeaders } from '../upstream/request-target.ts'

/** A request for a realtime session. */
export interface Wanted {
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
export type ConnectParts = Core &
  Pick<RelayParts, 'accessTokens' | 'callObservers' | 'callerLog' | 'channels' | 'traffic' | 'upstream'>

/** Tries channels until one accepts the session. Returns the error for the caller when none does. Throws `no_channel`. */
export async function connectRealtime(app: ConnectParts, wanted: Wanted): Promise<Connected | CallerError> {
  const { call, caller, model, group } = wanted
  const triesMax = caller.pinnedChannel === 0 ? app.options.current.RetryTimes + 1 : 1
  const tried = new Set<number>()
  const triedKeys = new Set<number>()
  const full = new Map<number, ReachedLimit>()
  const attempts: Attempt[] = []
  let last: UpstreamFailure | undefined
  let refusal: AppError | undefined
  let waitMs = 0

  while (attempts.length < triesMax && !call.isAborted) {
    const next = select(app, wanted, { tried, triedKeys, full })
    if (!next.channel) {
      waitMs = next.waitMs
      call.notes.candidates = next.considered && candidatesOf(next.considered)
      break
    }
    const { channel, choice, considered } = next
    const refused = await wanted.enterChannel(channel.id)
    if (refused) {
      refusal = refused.error
      if (choice === 'pinned') throw refusal
      full.set(channel.id, { limit: 'budget', waitMs: refused.waitMs })
      continue
    }
    const run = app.traffic.begin(channel, { id: call.id, model, inputTokens: 0, isPinned: choice === 'pinned' })
    const reached = run.refusal && (await run.refusal)
    if (reached) {
      full.set(channel.id, reached)
      continue
    }
    const startedMs = app.steady()
    const upstreamModel = resolveModel(channel, model)
    const trace = call.trace?.attempt(channel, startedMs)
    const socket = await connectTo(app, wanted, { channel, model: upstreamModel, trace }).catch((error: unknown) => {
      run.abandoned()
      throw error
    })
    const ms = Math.max(0, app.steady() - startedMs)
    const failure = socket instanceof UpstreamFailure ? socket : undefined
    const candidates = considered && candidatesOf(considered)
    noteEndOfAttempt(app, call, { channel, choice, candidates, model, upstreamModel, startedMs, failure, trace })
    if (!(socket instanceof UpstreamFailure)) {
      app.metrics.upstreamAttempts.count('answered')
      return { channel, upstreamModel, socket, choice, candidates, attempts, run, handshakeMs: ms }
    }
    last = socket
    run.failed(socket)
    const { status, reason } = socket
    attempts.push({ channel: channel.id, key: channel.keyId, status, reason, ms, choice, candidates })
    noteFailure(app, call, channel, socket)
    if (socket.isFaultOfKey) triedKeys.add(channel.keyId)
    else tried.add(channel.id)
    if (!socket.isRetryable) break
  }
  if (last) return attempts.length > 1 ? { ...last.forCaller(), final: true } : last.forCaller()
  if (refusal) throw refusal
  if (waitMs === 0) fail('no_channel', { model, group })
  return ownError(new AppError('upstream_saturated'), { retryAfter: Math.min(Math.ceil(waitMs / 1000), 3600) })
}

function select(
  app: Pick<RelayParts, 'channels' | 'options' | 'traffic'>,
  { caller, model, group }: Wanted,
  tried: Required<Pick<Selection, 'tried' | 'triedKeys' | 'full'>>,
): Selected {
  const { channels, traffic, options } = app
  if (caller.pinnedChannel !== 0) return selectPinned(channels.current, { id: caller.pinnedChannel, model }, traffic)
  const wanted = { group, model, format: 'openai.realtime' as const, strategy: options.current.GroupRouting[group] }
  return selectChannel(channels.current, { ...wanted, ...tried }, traffic)
}

async function connectTo(
  app: Pick<RelayParts, 'accessTokens' | 'upstream'>,
  { call, query, isBeta }: Wanted,
  {
    channel,
    model,
    trace,
  }: { readonly channel: RunningChannel; readonly model: string; readonly trace: AttemptTrace | undefined },
): Promise<WebSocket | UpstreamFailure> {
  const address = await addressOf(app, channel, { format: 'openai.realtime', model, query })
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
    handshakeMs: Math.min(setting.headers_timeout_ms ?? handshakeMs, handshakeMs),
  })
  const failure = await opened(socket, channel)
  return failure ? withCleanFacts(failure, channel) : socket
}

const handshakeMs = 20_000

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
