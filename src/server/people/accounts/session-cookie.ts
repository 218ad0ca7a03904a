import { cookieName, readCookie, writeCookie } from '../../base/lib/net/cookies.ts'
import type { Core } from '../../base/options/core.ts'
import { sessionLifetimeSeconds } from './sessions.ts'

const name = 'session'

export function readSessionToken({ env }: Pick<Core, 'env'>, cookies: string | undefined): string | undefined {
  return readCookie(cookies, cookieName(name, { secure: true, basePath: env.BASE_PATH })) ?? readCookie(cookies, name)
}

export function sessionCookie({ env, options }: Pick<Core, 'env' | 'options'>, token: string): string {
  const secure = options.current.ServerAddress.startsWith('https://')
  return writeCookie(name, token, { maxAgeSeconds: sessionLifetimeSeconds, secure, basePath: env.BASE_PATH })
}

/** Removes the session cookie under either name. */
export function clearedSessionCookies({ env }: Pick<Core, 'env'>): string[] {
  return [true, false].map((secure) => writeCookie(name, '', { maxAgeSeconds: 0, secure, basePath: env.BASE_PATH }))
}
