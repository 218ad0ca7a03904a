import { readCookie, writeCookie } from '../lib/cookies.ts'
import type { Core } from '../options/core.ts'

/**
 * Identifies a browser during a login of several steps, before there is a session. Browsers accept the `__Host-` name only over https
 * and for exactly this host, so nobody can plant it.
 */
const secureName = '__Host-browser'
const plainName = 'browser'
const lifetimeSeconds = 15 * 60

export function readBrowserToken(core: Core, cookies: string | undefined): string | undefined {
  const token = readCookie(cookies, isSecure(core) ? secureName : plainName)
  return token === '' ? undefined : token
}

export function browserCookie(core: Core, token: string): string {
  const secure = isSecure(core)
  return writeCookie(secure ? secureName : plainName, token, { maxAgeSeconds: lifetimeSeconds, secure })
}

function isSecure({ options }: Core): boolean {
  return options.current.ServerAddress.startsWith('https://')
}
