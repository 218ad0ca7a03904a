import { readCookie, writeCookie } from '../lib/cookies.ts'
import type { Core } from '../options/core.ts'
import { sessionLifetimeSeconds } from './sessions.ts'

/** A browser accepts a cookie of this name only over https, for exactly this host. */
const secureName = '__Host-session'
const plainName = 'session'

export function readSessionToken(cookies: string | undefined): string | undefined {
  return readCookie(cookies, secureName) ?? readCookie(cookies, plainName)
}

export function sessionCookie(core: Core, token: string): string {
  const secure = core.options.current.ServerAddress.startsWith('https://')
  return writeCookie(secure ? secureName : plainName, token, { maxAgeSeconds: sessionLifetimeSeconds, secure })
}

/** Removes the session cookie under either name. */
export function clearedSessionCookies(): string[] {
  return [
    writeCookie(secureName, '', { maxAgeSeconds: 0, secure: true }),
    writeCookie(plainName, '', { maxAgeSeconds: 0, secure: false }),
  ]
}
