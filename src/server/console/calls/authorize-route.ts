import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { isRoot, mayAccess } from '../../../contract/roles.ts'
import { type Route, userOfLink } from '../../../contract/route.ts'
import type { Line } from '../../../contract/routes/index.ts'
import { isDatabaseFailure } from '../../base/db/failures.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Client, ClientReader } from '../../base/lib/net/client-address.ts'
import type { ConsoleRateLimits } from '../../gateway/limits/console-rate-limits.ts'
import {
  type Identity,
  identify,
  requireChangedPassword,
  requireIdentity,
  requireOwnPage,
  requireSameOrigin,
} from '../../people/accounts/identify.ts'
import type { App } from '../../watch/parts.ts'
import type { Context } from './context.ts'

/** Identifies clients and limits their rate. */
export interface ClientLimits {
  readonly clientOf: ClientReader
  readonly requests: ConsoleRateLimits
}

/** An authorized call. */
export interface AuthorizedCall {
  readonly client: Client
  readonly identity: Identity | undefined
}

const passwordLines: readonly string[] = ['GET /api/user/self', 'PUT /api/user/self'] satisfies Line[]
const signingLines: readonly string[] = [
  'POST /api/user/login',
  'POST /api/user/login/second',
  'POST /api/user/login/passkey/options',
  'POST /api/user/login/passkey',
  'GET /api/user/logout',
  'POST /api/user/logout',
] satisfies Line[]
/** A public route, but for a signed-in user it starts a binding, which would remain after a required change of the password. */
const oauthStateLine: string = 'GET /api/oauth/state' satisfies Line
const optionLine: string = 'PUT /api/option/' satisfies Line

/**
 * Authorizes a call by its headers, or throws: the origin, the rate limit, the identity and the role that the route requires. A route
 * is public only if declared so.
 */
export async function authorizeRoute(
  app: App,
  clientLimits: ClientLimits,
  { line, route, request }: { line: string; route: Route; request: FastifyRequest },
): Promise<AuthorizedCall> {
  // Before it is counted: a cross-site request must not use up the user's limit.
  if (route.writes) requireOwnPage(app, request.headers)
  else if (isWriting(line, route)) requireSameOrigin(app, request.headers)
  const client = clientLimits.clientOf(request.raw)
  await clientLimits.requests.count(route.limit ? ['every', route.limit] : ['every'], client.address)

  if (route.access === 'public') {
    const identity = await identifyVisitor(app, request.headers)
    if (identity && line === oauthStateLine) requireChangedPassword(identity, client)
    return { client, identity }
  }

  const identity = await requireCallerOf(app, route, request)
  if (!passwordLines.includes(line)) requireChangedPassword(identity, client)
  return { client, identity }
}

/** The identity of the caller of a route that needs one. Throws when it is missing or may not use the route. */
export async function requireCallerOf(app: App, route: Route, request: FastifyRequest): Promise<Identity> {
  const identity = await requireIdentity(app, headersOf(route, request))
  if (!mayAccess(identity.account.role, route.access)) fail('permission_denied')
  return identity
}

/**
 * A download link cannot send a header with the user's id, so its URL contains it. This is accepted when the browser confirms that
 * the link is on a page of this site, which it does over https and on this machine.
 */
function headersOf({ text }: Route, { headers, query }: FastifyRequest): IncomingHttpHeaders {
  if (text?.fileName === undefined || headers['new-api-user'] !== undefined || headers['sec-fetch-site'] !== 'same-origin')
    return headers
  const asking = typeof query === 'object' && query !== null && userOfLink in query ? String(query[userOfLink]) : undefined
  return { ...headers, 'new-api-user': asking }
}

/** Refuses changes on a demo site, except that users log in and out, and that the super admin ends the demo mode. */
export function requireNoDemo(context: Context, { line, route, body }: { line: string; route: Route; body: unknown }): void {
  if (!context.app.options.current.DemoSiteEnabled || !isWriting(line, route) || signingLines.includes(line)) return
  const endsDemo = line === optionLine && isRoot(context.caller?.role ?? 0) && keyOf(body) === 'DemoSiteEnabled'
  if (!endsDemo) fail('demo_site')
}

/** Public pages still work while the database is unavailable: then every visitor counts as anonymous. */
async function identifyVisitor(app: App, headers: IncomingHttpHeaders): Promise<Identity | undefined> {
  try {
    return await identify(app, headers)
  } catch (error) {
    if (isDatabaseFailure(error)) return undefined
    throw error
  }
}

function isWriting(line: string, route: Route): boolean {
  return route.writes === true || !line.startsWith('GET ')
}

function keyOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'key' in body ? body.key : undefined
}
