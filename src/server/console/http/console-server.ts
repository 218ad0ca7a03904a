import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type FastifyServerFactory } from 'fastify'
import type { Handlers } from '../../../contract/route.ts'
import { type AllRoutes, allRoutes } from '../../../contract/routes/index.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { clientReader } from '../../base/lib/net/client-address.ts'
import { requireFewHeaders } from '../../base/lib/net/header-limits.ts'
import { lingeringCloseAfterReply } from '../../base/lib/net/lingering-close.ts'
import { newRequestId } from '../../base/lib/secrets/ids.ts'
import { ConsoleRateLimits } from '../../gateway/limits/console-rate-limits.ts'
import { identify } from '../../people/accounts/identify.ts'
import type { App } from '../../watch/parts.ts'
import type { Context } from '../calls/context.ts'
import { answerFailure, failureEnvelope } from '../calls/failures.ts'
import { mountRoutes } from '../calls/mount.ts'
import { openApi } from '../calls/openapi.ts'
import { mountScim } from '../calls/scim.ts'
import { documentServer } from './documents.ts'
import { addHealth } from './health.ts'
import { commonHeaders, dataHeaders } from './security-headers.ts'
import { type ConsoleFiles, fileServer } from './static-files.ts'

/**
 * HTTP for everything but the relay: console calls, health, metrics and the files of the console. This folder has the server and its
 * headers; handlers are in `console`. Deadlines and limits of connections are those of the `node:http` server around it.
 */
interface ConsoleServerOptions {
  /** The files of the console, which several servers of one process may share. */
  readonly files?: ConsoleFiles | undefined
  /** The folder of the documentation site; default: that of the build. */
  readonly documents?: string
  /** False once the server is leaving: then it wants no new work. */
  readonly isReady?: () => boolean
  readonly serverFactory?: FastifyServerFactory
}

const bodyMaxBytes = 64 * 1024
/** An escaped NUL, which no database stores as text; an even number of backslashes before it would not be an escape. */
const escapedNul = /(?:^|[^\\])(?:\\\\)*\\u0000/
/** Forms of a path that proxies and routers interpret differently. */
const ambiguousPath = /%(?:2f|5c|2e|00)|[\\;]|\/\/|\/\./i

export function buildConsoleServer(
  app: App,
  handlers: Handlers<AllRoutes, Context>,
  options: ConsoleServerOptions = {},
): FastifyInstance {
  const clientOf = clientReader(app.env.TRUSTED_PROXIES)
  const files = fileServer(app, options.files)
  const documents = documentServer(app, options.documents)
  const server = fastify({
    logger: false,
    trustProxy: false,
    bodyLimit: bodyMaxBytes,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true },
    genReqId: () => newRequestId(app.now()),
    frameworkErrors: (_error, request, reply) => refusePath(app, request, reply),
    ...(options.serverFactory ? { serverFactory: options.serverFactory } : {}),
  })

  acceptJsonOnly(server)
  server.addHook('onRequest', async (request, reply) => {
    setHeaders(app, request, reply)
    requireFewHeaders(request.raw)
    if (ambiguousPath.test(pathOf(request))) return answerUnknown(request, reply)
  })
  server.addHook('onSend', async (request, reply) => leaveUnread(request, reply))
  server.setErrorHandler((error, request, reply) => answerFailure(app, { request, reply }, error))
  server.setNotFoundHandler(async (request, reply) => {
    if (await documents(request, reply)) return reply
    return files(request, reply) ?? answerUnknown(request, reply)
  })

  addHealth(server, app, { clientOf, isReady: options.isReady ?? (() => true) })
  server.get('/api/openapi.json', async (request) => {
    // Anonymous callers do not get the list of routes.
    if (!(await identify(app, request.headers))) fail('not_signed_in')
    return openApi(app.version, app.env.BASE_PATH)
  })
  const clientLimits = { clientOf, requests: new ConsoleRateLimits(app.counters) }
  mountRoutes(server, { app, routes: allRoutes, handlers, clientLimits })
  mountScim(server, app, clientLimits)
  return server
}

function acceptJsonOnly(server: FastifyInstance): void {
  const parseJson = server.getDefaultJsonParser('error', 'error')
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    ['application/json', 'application/scim+json'],
    { parseAs: 'string' },
    (request, body: string, done) => {
      const encoding = request.headers['content-encoding']
      if (encoding !== undefined && encoding !== 'identity') return done(new AppError('encoding_unsupported', { encoding }))
      if (body.trim() === '') return done(null, undefined)
      if (escapedNul.test(body))
        return done(new AppError('bad_json', { reason: { zh: '含有 NUL 字符', en: 'it holds a NUL character' } }))
      parseJson(request, body, done)
    },
  )
}

/** Reads the rest of a refused or unexpected body only if it is short. */
function leaveUnread({ raw }: FastifyRequest, reply: FastifyReply): void {
  const { 'content-length': declared, 'transfer-encoding': encoding } = raw.headers
  if (raw.complete || (encoding === undefined && Number(declared ?? 0) <= bodyMaxBytes)) return
  reply.header('connection', 'close')
  lingeringCloseAfterReply(raw)
}

/** Answers paths that cannot be decoded, which do not reach the hooks. */
function refusePath(app: App, request: FastifyRequest, reply: FastifyReply): void {
  setHeaders(app, request, reply)
  answerUnknown(request, reply)
}

function setHeaders(app: App, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ 'x-oneapi-request-id': request.id, ...commonHeaders(app.options.current), ...dataHeaders })
}

function answerUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = new AppError('route_unknown', { method: request.method, path: pathOf(request) })
  return reply.status(404).send(failureEnvelope(failure, request))
}

function pathOf(request: FastifyRequest): string {
  return (request.raw.url ?? '').split('?', 1)[0] ?? ''
}
