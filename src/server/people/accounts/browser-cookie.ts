import { type CookieScope, cookieName, readCookie, writeCookie } from '../../base/lib/net/cookies.ts'
import type { Core } from '../../base/options/core.ts'

/** Identifies a browser during a login of several steps, before there is a session. Over https nobody else can plant it. */
const name = 'browser'
const lifetimeSeconds = 15 * 60

export function readBrowserToken(core: Core, cookies: string | undefined): string | undefined {
  const token = readCookie(cookies, cookieName(name, scopeOf(core)))
  return token === '' ? undefined : token
}

export function browserCookie(core: Core, token: string): string {
  return writeCookie(name, token, { maxAgeSeconds: lifetimeSeconds, ...scopeOf(core) })
}

function scopeOf({ env, options }: Core): CookieScope {
  return { secure: options.current.ServerAddress.startsWith('https://'), basePath: env.BASE_PATH }
}
