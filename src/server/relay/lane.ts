import type { IncomingMessage, ServerResponse } from 'node:http'
import { languageOf } from '../../contract/text.ts'
import type { ClientReader } from '../lib/client-address.ts'
import { fail } from '../lib/failure.ts'
import { newRequestId } from '../lib/ids.ts'
import { MemoryWatch } from '../lib/memory-watch.ts'
import { asAppError } from './as-app-error.ts'
import { handleBilling } from './billing.ts'
import { Call } from './call.ts'
import { handleCount } from './count.ts'
import { type Endpoint, findEndpoint, isRelayPath } from './endpoints.ts'
import { handleRelay } from './handle.ts'
import { listModels, showModel } from './models.ts'
import type { RelayParts } from './relay-parts.ts'
import { handleResponse } from './response-calls.ts'
import type { TaskCall } from './task-paths.ts'

/**
 * The relay's own lane on the HTTP server, in front of the console's router: it takes the requests that are its own and says so.
 * `drain` resolves when no relay request is running any more. While memory is short, no more than a few requests run at once.
 */
export function relayLane(app: RelayParts, readClient: ClientReader, handleTask: TaskHandler) {
  const memory = new MemoryWatch()
  let running = 0
  let isStopping = false
  let onIdle: (() => void) | undefined

  const finished = () => {
    running--
    app.metrics.relayOpen.dec()
    if (running === 0) onIdle?.()
  }

  return {
    takes(request: IncomingMessage, response: ServerResponse): boolean {
      const url = request.url ?? '/'
      if (!isRelayPath(url)) return false
      if (request.method === 'OPTIONS') {
        answerPreflight(response)
        return true
      }
      const isFull = memory.isShort && running >= runningWhenShort
      running++
      app.metrics.relayOpen.inc()
      void serve(app, request, response, { url, isStopping, isFull, readClient, handleTask }).finally(finished)
      return true
    },
    drain(): Promise<void> {
      isStopping = true
      memory.close()
      return running === 0 ? Promise.resolve() : new Promise((resolve) => (onIdle = resolve))
    },
    /** Breaks off what runs on without a connection. */
    cut: () => app.backgroundRuns.stopAll(),
    get running(): number {
      return running
    },
  }
}

/** So many still run: memory that stays in use for other reasons must not end the service. */
const runningWhenShort = 50

export type RelayLane = ReturnType<typeof relayLane>

/** Answers what is asked of drawings and music: `tasks` is built upon the relay, so that the lane is given it. */
export type TaskHandler = (app: RelayParts, asks: TaskCall, call: Call) => Promise<void>

interface Taking {
  readonly url: string
  readonly isStopping: boolean
  readonly isFull: boolean
  readonly readClient: ClientReader
  readonly handleTask: TaskHandler
}

/** When a caller should come again who was not let in. */
const busySeconds = 2

async function serve(
  app: RelayParts,
  request: IncomingMessage,
  response: ServerResponse,
  { url, isStopping, isFull, readClient, handleTask }: Taking,
): Promise<void> {
  const found = findEndpoint(request.method ?? 'GET', url, request.headers)
  const nowMs = app.now()
  // The console has somebody in front of it.
  const language = 'from' in found && found.from === 'session' ? languageOf(request.headers['accept-language']) : 'en'
  const call = new Call(
    { request, response },
    {
      id: newRequestId(nowMs),
      dialect: found.dialect,
      language,
      client: readClient(request),
      nowMs,
      reframing: 'reframe' in found ? found.reframe?.() : undefined,
    },
  )
  const format = 'format' in found ? found.format : 'other'

  try {
    if (isStopping) fail('server_stopping')
    if (isFull) fail('server_busy', { retryAfter: busySeconds })
    if ('wrongMethod' in found) {
      response.setHeader('allow', found.allowed)
      fail('method_not_allowed', { method: found.wrongMethod })
    }
    if (found.kind === 'task') await handleTask(app, found.asks, call)
    else await answer(app, found, call)
    app.metrics.relayRequests.inc({ format, outcome: String(response.statusCode) })
  } catch (error) {
    const told = asAppError(app, call, error)
    call.sendError(told)
    app.metrics.relayRequests.inc({ format, outcome: told.code })
  }
  app.metrics.relaySeconds.observe({ format }, Math.max(0, app.now() - nowMs) / 1000)
}

function answer(app: RelayParts, endpoint: Exclude<Endpoint, { kind: 'task' }>, call: Call): Promise<void> {
  switch (endpoint.kind) {
    case 'relay':
      return handleRelay(app, endpoint, call)
    case 'count':
      return handleCount(app, endpoint, call)
    case 'response':
      return handleResponse(app, endpoint, call)
    case 'socket':
      return refuse(() => fail('upgrade_required'))
    case 'billing':
      return handleBilling(app, call, endpoint.asks)
    case 'models':
      return listModels(app, call)
    case 'model':
      return showModel(app, call, endpoint.model)
    case 'not-offered':
      return refuse(() => fail('not_implemented'))
    case 'unknown':
      return refuse(() => fail('route_unknown', { method: call.request.method ?? '', path: endpoint.path.slice(0, 200) }))
  }
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
