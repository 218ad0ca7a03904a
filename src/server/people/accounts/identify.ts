import type { IncomingHttpHeaders } from 'node:http'
import { isRoot } from '../../../contract/roles.ts'
import { withDatabaseTimeout } from '../../base/db/with-timeout.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Client } from '../../base/lib/net/client-address.ts'
import { parseUrl } from '../../base/lib/net/parse-url.ts'
import type { Core } from '../../base/options/core.ts'
import { findByAccessToken } from './access-tokens.ts'
import { readSessionToken } from './session-cookie.ts'
import type { Sessions } from './sessions.ts'
import type { Account } from './users.ts'

/**
 * Identifies the caller of the console or the playground, and whether the call comes from a page of this site. A call with an
 * `Authorization` header is decided by that alone; its cookie is ignored.
 */
export interface Identity {
  readonly account: Account
  /** Undefined for calls with an access token. */
  readonly sessionToken: string | undefined
}

type Accounts = Core & { readonly sessions: Sessions }

export async function identify(accounts: Accounts, headers: IncomingHttpHeaders): Promise<Identity | undefined> {
  if (headers.authorization !== undefined) {
    const account = await withDatabaseTimeout(findByAccessToken(accounts, headers.authorization))
    return account && { account, sessionToken: undefined }
  }

  const sessionToken = readSessionToken(accounts, headers.cookie)
  const session = sessionToken ? await withDatabaseTimeout(accounts.sessions.find(sessionToken)) : undefined
  return session && { account: session.account, sessionToken }
}

/**
 * The caller of any route that is not public. Throws `not_signed_in`, `access_token_invalid`, `user_header_invalid`, `origin_refused`.
 */
export async function requireIdentity(accounts: Accounts, headers: IncomingHttpHeaders): Promise<Identity> {
  const identity = await identify(accounts, headers)
  if (!identity) return fail(headers.authorization === undefined ? 'not_signed_in' : 'access_token_invalid')
  requireUserHeader(headers, identity.account.id)
  requireSameOrigin(accounts, headers)
  return identity
}

/**
 * Refuses cross-site requests that carry the session cookie. Browsers send the origin of a call in `Sec-Fetch-Site` when the site
 * is served over https, and in `Origin` always; other clients send neither.
 */
export function requireSameOrigin(core: Core, headers: IncomingHttpHeaders): void {
  // Another site's page cannot send this header without a preflight, which is never granted.
  if (headers.authorization !== undefined) return

  const site = headers['sec-fetch-site']
  if (site !== undefined) {
    if (site !== 'same-origin' && site !== 'none') fail('origin_refused')
    return
  }
  if (headers.origin === undefined) return
  const own = [hostOf(`http://${headers.host}`), hostOf(core.options.current.ServerAddress)]
  const host = hostOf(headers.origin)
  if (host === undefined || !own.includes(host)) fail('origin_refused')
}

/**
 * Refuses cross-site GET requests that change state. Over plain http a browser may send neither header for them: then only the
 * header that the console adds distinguishes them from a link, an image or a window of another site. Clients other than browsers do
 * not need it.
 */
export function requireOwnPage(core: Core, headers: IncomingHttpHeaders): void {
  requireSameOrigin(core, headers)
  const says = [headers.authorization, headers['sec-fetch-site'], headers.origin, headers['new-api-user']]
  if (says.every((header) => header === undefined) && isBrowser(headers)) fail('origin_refused')
}

/** While the password is the well-known default, the super admin can act only from this machine. */
export function requireChangedPassword({ account }: Identity, client: Client): void {
  if (account.must_change_password === 1 && isRoot(account.role) && !client.local) fail('must_change_password')
}

/** A page of another site cannot set this header, so that it also guards the calls that change something by GET. */
function requireUserHeader(headers: IncomingHttpHeaders, id: number): void {
  if (headers['new-api-user'] !== String(id)) fail('user_header_invalid')
}

function isBrowser(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent']?.startsWith('Mozilla/') ?? false
}

function hostOf(url: string): string | undefined {
  return parseUrl(url)?.host
}
