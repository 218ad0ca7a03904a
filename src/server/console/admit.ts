import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { isRoot, mayAccess } from '../../contract/roles.ts'
import { type Route, userOfLink } from '../../contract/route.ts'
import type { Line } from '../../contract/routes/index.ts'
import {
  type Identity,
  identify,
  requireChangedPassword,
  requireIdentity,
  requireOwnOrigin,
  requireOwnPage,
} from '../accounts/identify.ts'
import { isDatabaseFailure } from '../db/open.ts'
import type { Client, ClientReader } from '../lib/client-address.ts'
import { fail } from '../lib/failure.ts'
import type { ConsoleRateLimits } from '../limits/console-rate-limits.ts'
import type { App } from '../parts.ts'
import type { Context } from './context.ts'

/** What tells one client from another, and counts how often each calls. */
export interface Gate {
  readonly clientOf: ClientReader
  readonly requests: ConsoleRateLimits
}

/** What is known of a call once it may be made. */
export interface Admitted {
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
/** Open to strangers; but of who is signed in it begins a binding, which would outlive the password. */
const visitLine: string = 'GET /api/oauth/state' satisfies Line
const optionLine: string = 'PUT /api/option/' satisfies Line

/**
 * Lets a call in, by what its headers say, or throws: from which page, how often, who, with which role. Nothing is open unless its
 * route says so.
 */
export async function admit(
  app: App,
  gate: Gate,
  { line, route, request }: { line: string; route: Route; request: FastifyRequest },
): Promise<Admitted> {
  // Before it is counted: a page of another site must not use up what our user may ask for.
  if (route.writes) requireOwnPage(app, request.headers)
  else if (isWriting(line, route)) requireOwnOrigin(app, request.headers)
  const client = gate.clientOf(request.raw)
  await gate.requests.count(route.limit ? ['every', route.limit] : ['every'], client.address)

  if (route.access === 'public') {
    const identity = await identifyVisitor(app, request.headers)
    if (identity && line === visitLine) requireChangedPassword(identity, client)
    return { client, identity }
  }

  const identity = await requireCallerOf(app, route, request)
  if (!passwordLines.includes(line)) requireChangedPassword(identity, client)
  return { client, identity }
}

/** Who asks, where the route may be used by nobody unknown. Throws when they may not, or may no longer. */
export async function requireCallerOf(app: App, route: Route, request: FastifyRequest): Promise<Identity> {
  const identity = await requireIdentity(app, headersOf(route, request))
  if (!mayAccess(identity.account.role, route.access)) fail('permission_denied')
  return identity
}

/**
 * A link that downloads a file has no header to say who asks, and says it in the address. That counts when the browser vouches that a
 * page of ours has the link, which it does as it does for the header: on sites over https, and on this machine.
 */
function headersOf({ text }: Route, { headers, query }: FastifyRequest): IncomingHttpHeaders {
  if (text?.fileName === undefined || headers['new-api-user'] !== undefined || headers['sec-fetch-site'] !== 'same-origin')
    return headers
  const asking = typeof query === 'object' && query !== null && userOfLink in query ? String(query[userOfLink]) : undefined
  return { ...headers, 'new-api-user': asking }
}

/** On a demo site nothing changes, but that people sign in and out, and that the super admin ends the demonstration. */
export function requireNoDemo(context: Context, { line, route, body }: { line: string; route: Route; body: unknown }): void {
  if (!context.app.options.current.DemoSiteEnabled || !isWriting(line, route) || signingLines.includes(line)) return
  const endsDemo = line === optionLine && isRoot(context.caller?.role ?? 0) && keyOf(body) === 'DemoSiteEnabled'
  if (!endsDemo) fail('demo_site')
}

/** Public pages stay up while the database is away: then everybody is a stranger. */
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
