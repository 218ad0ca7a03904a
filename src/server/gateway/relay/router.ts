import type { IncomingMessage, ServerResponse } from 'node:http'
import { languageOf } from '../../../contract/text.ts'
import { TurnoverMap } from '../../base/lib/collections/turnover-map.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Client, ClientReader } from '../../base/lib/net/client-address.ts'
import { requireFewHeaders } from '../../base/lib/net/header-limits.ts'
import { MemoryWatch } from '../../base/lib/process/memory-watch.ts'
import { newRequestId } from '../../base/lib/secrets/ids.ts'
import type { CallKind } from '../../usage/calls/ended-calls.ts'
import { refuseLoop } from '../channels/request/site-hops.ts'
import { handleBilling } from './billing.ts'
import { asAppError, noteEndOfCall } from './charge/end-of-call.ts'
import { handleCount } from './count/count.ts'
import { handleRelay } from './handle-request.ts'
import { HttpAnswer } from './http/answer.ts'
import type { BatchCall } from './http/batch-paths.ts'
import { ClientExchange } from './http/client-exchange.ts'
import { type Endpoint, findEndpoint, isRelayPath, refuseRoute } from './http/endpoints.ts'
import type { FileCall } from './http/file-paths.ts'
import { probeHalfClosed } from './http/half-closed.ts'
import type { TaskCall } from './http/task-paths.ts'
import { listModels, showModel } from './models/list-models.ts'
import type { RelayParts } from './relay-parts.ts'
import { claimKey, type KeyedCall, readIdempotencyKey } from './replies/claim-key.ts'
import { continueResponse, handleRequestCall } from './replies/resume-call.ts'
import { handleResponse } from './stored-responses/answer-call.ts'

/**
 * The relay's router on the HTTP server, in front of the console's: `takes` is true for the requests that it answers.
 * `drain` resolves when no relay request is running any more; `cut` aborts them. While memory is short, only `servedWhenShort` run at once.
 */
export function relayRouter(app: RelayParts, readClient: ClientReader, handlers: LaterHandlers) {
  const memory = new MemoryWatch()
  /** The running calls, by request id. */
  const running = new TurnoverMap<string, ClientExchange>()
  let isCut = false
  const onIdle: (() => void)[] = []

  const finished = (call: ClientExchange) => {
    running.delete(call.id)
    app.metrics.relayOpen.dec()
    if (running.size === 0) for (const resolve of onIdle.splice(0)) resolve()
  }

  return {
    takes(request: IncomingMessage, response: ServerResponse): boolean {
      const url = request.url ?? '/'
      if (!isRelayPath(url)) return false
      if (request.method === 'OPTIONS') {
        answerPreflight(response)
        return true
      }
      const isFull = memory.isShort && isServing(running.values(), servedWhenShort)
      const found = findEndpoint(request.method ?? 'GET', url, request.headers)
      const call = callOf(app, found, { request, response }, readClient(request))
      call.onHalfClosed(() => probeHalfClosed(call, app.deadlines))
      running.set(call.id, call)
      app.metrics.relayOpen.inc()
      void serve(app, call, { request, found, isCut, isFull, handlers, finished })
      return true
    },
    get running(): number {
      return running.size
    },
    async drain(): Promise<void> {
      if (running.size > 0) await new Promise<void>((resolve) => onIdle.push(resolve))
      memory.close()
    },
    /**
     * Aborts all running requests, background responses included. Callers get an error and are charged for what they have received. Streams that
     * can be resumed only lose their connections, and are read to their end: another node serves them on.
     */
    cut(): void {
      isCut = true
      for (const call of running.values()) if (!call.goOnAlone()) call.abort()
      app.backgroundRuns.stopAll()
    },
    /** Calls that go on without their callers. */
    get goingOnAlone(): number {
      return [...running.values()].filter((call) => call.wentOnAlone).length
    },
    /** Aborts what goes on alone. */
    cutResumable(): void {
      for (const call of running.values()) call.abort()
    },
  }
}

/** Requests that are still served while memory is short: memory that stays in use for other reasons must not end the service. */
const servedWhenShort = 50

/** Whether at least `most` callers wait for an answer. Aborted calls do not count: they free their memory soon. */
function isServing(running: Iterable<ClientExchange>, most: number): boolean {
  let served = 0
  for (const call of running) if (!call.isAborted && ++served >= most) return true
  return false
}

/** Handlers of rooms that import the relay, so that the router receives them as an argument. */
interface LaterHandlers {
  /** Calls about drawings and music. */
  task(app: RelayParts, taskCall: TaskCall, call: ClientExchange): Promise<void>
  /** Calls about files at vendors. */
  file(app: RelayParts, fileCall: FileCall, call: ClientExchange): Promise<void>
  /** Calls about batches at vendors. */
  batch(app: RelayParts, batchCall: BatchCall, call: ClientExchange): Promise<void>
}

type Found = ReturnType<typeof findEndpoint>

interface Serving {
  readonly request: IncomingMessage
  readonly found: Found
  readonly isCut: boolean
  readonly isFull: boolean
  readonly handlers: LaterHandlers
  readonly finished: (call: ClientExchange) => void
}

/** `retry-after` of a request that is refused while memory is short. */
const busySeconds = 2

function callOf(
  { now, steady, callTracer }: Pick<RelayParts, 'callTracer' | 'now' | 'steady'>,
  found: Found,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  client: Client,
): ClientExchange {
  const { headers } = request
  const startedMs = steady()
  // Only users of the console get errors in their language.
  const isPerson = 'from' in found && found.from === 'session'
  return new ClientExchange(new HttpAnswer(request, response), {
    id: newRequestId(now()),
    dialect: found.dialect,
    language: isPerson ? languageOf(headers['accept-language']) : 'en',
    client,
    startedMs,
    request,
    reframing: 'reframe' in found ? found.reframe?.() : undefined,
    trace: callTracer?.begin({ headers, format: formatOf(found), startedMs }),
  })
}

async function serve(
  app: RelayParts,
  call: ClientExchange,
  { request, found, isCut, isFull, handlers, finished }: Serving,
): Promise<void> {
  const format = formatOf(found)
  let keyed: KeyedCall | undefined
  try {
    requireFewHeaders(request)
    refuseLoop(app, request.headers)
    if (isCut) fail('server_stopping')
    if (isFull) fail('server_busy', { retryAfter: busySeconds })
    if ('wrongMethod' in found) {
      call.setHeader('allow', found.allowed)
      fail('method_not_allowed', { method: found.wrongMethod })
    }
    const key = isRepeatable(app, found, call) ? readIdempotencyKey(call.request.headers) : undefined
    if (key !== undefined) keyed = await claimKey(app, { call, key, from: 'from' in found ? found.from : 'token' })
    if (key === undefined || keyed) await handled(app, { found, handlers, call })
    app.metrics.relayRequests.count(format, String(call.status))
  } catch (error) {
    const appError = asAppError(app, call, error)
    call.sendError(appError)
    app.metrics.relayRequests.count(format, appError.code)
  }
  try {
    noteEndOfCall(app, call, { kind: kindOf(found), format })
    await app.resumableReplies.end(call.id)
    if (keyed) await keyed.finish()
    app.metrics.relayDurations.observe(format, Math.max(0, app.steady() - call.startedMs))
  } finally {
    finished(call)
  }
}

function formatOf(found: Found): string {
  return 'format' in found ? found.format : 'other'
}

/** An unknown path is refused before authentication. */
function kindOf(found: Found): CallKind {
  return 'wrongMethod' in found || found.kind === 'unknown' || found.kind === 'not-offered' ? 'other' : found.kind
}

/** Whether an `Idempotency-Key` applies: to every POST with an API key or a session, but not to task notifications of upstreams. */
function isRepeatable(app: Pick<RelayParts, 'options'>, found: Endpoint, { request }: ClientExchange): boolean {
  if (request.headers['idempotency-key'] === undefined || request.method !== 'POST') return false
  // It continues an answer that runs under the key.
  if (request.headers['last-event-id'] !== undefined) return false
  if (!app.options.current['idempotency.enabled']) return false
  if (found.kind === 'task') return found.taskCall.action !== 'notify'
  return found.kind === 'batch' || found.kind === 'relay' || found.kind === 'count' || found.kind === 'response'
}

function handled(
  app: RelayParts,
  { found, handlers, call }: { readonly found: Endpoint; readonly handlers: LaterHandlers; readonly call: ClientExchange },
): Promise<void> {
  if (found.kind === 'task') return handlers.task(app, found.taskCall, call)
  if (found.kind === 'file') return handlers.file(app, found.fileCall, call)
  if (found.kind === 'batch') return handlers.batch(app, found.batchCall, call)
  return answer(app, found, call)
}

function answer(
  app: RelayParts,
  endpoint: Exclude<Endpoint, { kind: 'task' | 'file' | 'batch' }>,
  call: ClientExchange,
): Promise<void> {
  switch (endpoint.kind) {
    case 'relay':
      return handleRelay(app, endpoint, call)
    case 'count':
      return handleCount(app, endpoint, call)
    case 'response':
      return answerAbout(app, endpoint, call)
    case 'request':
      return handleRequestCall(app, endpoint, call)
    case 'socket':
      return refuse(() => fail('upgrade_required'))
    case 'billing':
      return handleBilling(app, call, endpoint.question)
    case 'models':
      return listModels(app, call)
    case 'model':
      return showModel(app, call, endpoint.model)
    case 'not-offered':
    case 'unknown':
      return refuse(() => refuseRoute(call.request.method ?? '', endpoint, call.request.url ?? ''))
  }
}

async function answerAbout(
  app: RelayParts,
  endpoint: Extract<Endpoint, { kind: 'response' }>,
  call: ClientExchange,
): Promise<void> {
  if (!(await continueResponse(app, endpoint, call))) await handleResponse(app, endpoint, call)
}

async function refuse(throwing: () => never): Promise<void> {
  throwing()
}

/** Keys are sent in headers, never in cookies, so any site may call the relay from a browser. */
function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
    'access-control-allow-headers': '*, authorization',
    'access-control-max-age': '86400',
  })
  response.end()
}
