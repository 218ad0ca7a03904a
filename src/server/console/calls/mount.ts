import { finished } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { explain } from '../../../contract/issues.ts'
import { type Handlers, parseLine, type Received, type Route, type Routes } from '../../../contract/route.ts'
import { languageOf } from '../../../contract/text.ts'
import { AppError } from '../../base/lib/failure.ts'
import { browserCookie, readBrowserToken } from '../../people/accounts/browser-cookie.ts'
import { clearedSessionCookies, sessionCookie } from '../../people/accounts/session-cookie.ts'
import type { App } from '../../watch/parts.ts'
import { organisationOf } from './authorize-organisation.ts'
import { type AuthorizedCall, authorizeRoute, type ClientLimits, requireNoDemo } from './authorize-route.ts'
import { type Context, requireCaller } from './context.ts'
import { answerFailure } from './failures.ts'
import { sendText } from './send-text.ts'

/**
 * The console calls. This folder turns the contract into HTTP: authorization, then the input by its schema, the handler, and the
 * reply by its schema, so that fields outside of the contract are never sent. Handlers are short; the rules live in the folders
 * below.
 */
interface Mount<Table extends Routes> {
  readonly app: App
  readonly routes: Table
  readonly handlers: Handlers<Table, Context>
  readonly clientLimits: ClientLimits
}

type AnyHandler = (context: Context, input: Received<Route>) => unknown

const bodyMax = { anonymous: 64 * 1024, console: 1024 * 1024, text: 512 * 1024 }

/** Registers every route of the table. Throws when a route has no handler or no summary, or a handler no route. */
export function mountRoutes<Table extends Routes>(server: FastifyInstance, mount: Mount<Table>): void {
  requireComplete(mount.routes, mount.handlers)
  const admissions = new WeakMap<FastifyRequest, AuthorizedCall>()

  for (const [line, route] of Object.entries(mount.routes)) {
    // The type of the table ties each handler to its route; iterating over the table loses that relation.
    const handler = mount.handlers[line] as AnyHandler
    const { method, path } = parseLine(line)
    const add = (scope: FastifyInstance) =>
      scope.route({
        method,
        url: path,
        bodyLimit: bodyMaxOf(route),
        // Before the body is read: an unauthorized caller cannot make the server read one.
        onRequest: async (request) => {
          admissions.set(request, await authorizeRoute(mount.app, mount.clientLimits, { line, route, request }))
        },
        handler: async (request, reply) => {
          const personal = contextOf(mount.app, { line, request, reply, admitted: admissions.get(request) })
          requireNoDemo(personal, { line, route, body: request.body })
          const organisation = await organisationOf(mount.app, { line, route, request }, personal.caller)
          const context = organisation ? { ...personal, organisation } : personal
          if (route.text?.fileName !== undefined) finished(reply.raw, mount.app.downloads.begin(requireCaller(context).id))
          const answer = await inForce(mount.app, () => handler(context, readInput(route, request)))
          if (route.cacheSeconds && !context.caller) reply.headers(cacheHeaders(route.cacheSeconds))
          if (!route.text) return reply.send(envelopeOf(route, answer))
          // By the type of the handler table, handlers of such routes return the pieces.
          return sendText(mount.app, { line, route, text: route.text, request, reply }, answer as AsyncIterable<string>)
        },
        ...(route.text?.refusal === undefined ? {} : { errorHandler: refuseInText(mount.app, route.text.refusal) }),
      })
    if (route.bodyAs === 'text') server.register(async (scope) => void add(takingText(scope)))
    else add(server)
  }
}

/** The answer of a handler, when every process of this start has in force what the call has changed. */
export async function inForce({ bus }: App, handle: () => unknown): Promise<unknown> {
  const { publications } = bus
  const answer = await handle()
  if (bus.publications !== publications) await bus.inForce()
  return answer
}

/** Headers of a reply for anonymous callers. Signed-in users do not get it from a cache. */
function cacheHeaders(seconds: number): Record<string, string> {
  return { 'cache-control': `public, max-age=${seconds}`, vary: 'cookie, authorization, new-api-user' }
}

function bodyMaxOf({ access, bodyAs }: Route): number {
  if (bodyAs === 'text') return bodyMax.text
  return access === 'public' ? bodyMax.anonymous : bodyMax.console
}

/** A scope of the server that passes bodies as raw text. */
function takingText(scope: FastifyInstance): FastifyInstance {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  return scope
}

/** The failure is logged and keeps its status like any other; but the peer only reads this text. */
function refuseInText(app: App, text: string) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    answerFailure(app, { request, reply }, error, () => reply.type('text/plain; charset=utf-8').send(text))
}

interface Called {
  readonly line: string
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly admitted: AuthorizedCall | undefined
}

function contextOf(app: App, { line, request, reply, admitted }: Called): Context {
  if (!admitted) throw new Error('A console call reached its handler without having been admitted')
  const { client, identity } = admitted
  const { account } = identity ?? {}

  return {
    app,
    caller: account && {
      id: account.id,
      username: account.username,
      role: account.role,
      group: account.group,
      address: client.address,
    },
    organisation: undefined,
    mustChangePassword: account?.must_change_password === 1,
    sessionToken: identity?.sessionToken,
    browserToken: readBrowserToken(app, request.headers.cookie),
    address: client.address,
    userAgent: request.headers['user-agent'] ?? '',
    signature: headerText(request, 'stripe-signature'),
    language: languageOf(request.headers['accept-language']),
    requestId: request.id,
    route: line,
    disconnected: abortedOnClose(reply),
    setSession: (token) => void reply.header('set-cookie', sessionCookie(app, token)),
    clearSession: () => void reply.header('set-cookie', clearedSessionCookies(app)),
    keepBrowser: (token) => void reply.header('set-cookie', browserCookie(app, token)),
    setTotal: (rows) => void reply.header('x-total-count', rows),
  }
}

function abortedOnClose({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  raw.once('close', () => controller.abort())
  return controller.signal
}

function headerText({ headers }: FastifyRequest, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

function readInput(route: Route, request: FastifyRequest): Received<Route> {
  return {
    params: route.params && parse(route.params, request.params),
    query: route.query && parse(route.query, request.query),
    body: route.body && parse(route.body, request.body),
  }
}

/** Throws `field_invalid` for the first field that its schema refuses. */
function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new AppError('field_invalid', {
    field: issue?.path.map(String).join('.') || 'body',
    reason: explain({ issues: issue ? [{ ...issue, path: [], ...(isMissing(value, issue.path) && { input: undefined }) }] : [] }),
  })
}

/** Whether the member at a path is missing: a coercing schema would report the coerced value. */
function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  return path.reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), value) === undefined
}

function envelopeOf(route: Route, answer: unknown): Record<string, unknown> {
  if (!route.extra) return { success: true, message: '', data: route.reply.parse(answer) }
  // By the type of the handler table, handlers of routes with extra fields return this form.
  const { data, extra } = answer as { data: unknown; extra: unknown }
  return { success: true, message: '', data: route.reply.parse(data), ...route.extra.parse(extra) }
}

function requireComplete(routes: Routes, handlers: Readonly<Record<string, unknown>>): void {
  const lines = Object.keys(routes)
  const faults = [
    ...lines.filter((line) => !Object.hasOwn(handlers, line)).map((line) => `${line} has no handler`),
    ...Object.keys(handlers)
      .filter((line) => !Object.hasOwn(routes, line))
      .map((line) => `${line} is not a route`),
    ...lines.filter((line) => routes[line]?.summary.trim() === '').map((line) => `${line} has no summary`),
  ]
  if (faults.length > 0) throw new Error(`The handlers do not fit the contract: ${faults.join('; ')}`)
}
