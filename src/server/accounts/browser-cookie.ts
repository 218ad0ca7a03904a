import { readCookie, writeCookie } from '../lib/cookies.ts'
import type { Core } from '../options/core.ts'

/**
 * Tells one browser from another while somebody logs in over several steps and has no session yet. The first name is taken by browsers
 * only over https and for exactly this host, so that nobody can plant it.
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
