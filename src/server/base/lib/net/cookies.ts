/** The few cookie rules that this server needs: opaque ASCII values, the path of the site, never readable by scripts. */
export interface CookieScope {
  /** Sent over https alone. */
  readonly secure: boolean
  /** The path below which the site is; '' for the whole host. */
  readonly basePath: string
}

/**
 * The name under which a cookie is set. Browsers accept `__Host-` only for exactly this host and all of its paths; below a base path
 * `__Secure-` remains, with which at least nobody can set the cookie over plain http.
 */
export function cookieName(name: string, { secure, basePath }: CookieScope): string {
  if (!secure) return name
  return basePath === '' ? `__Host-${name}` : `__Secure-${name}`
}

/** The value of the first cookie of that name. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=')
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return undefined
}

/** A `Set-Cookie` value. An age of 0 removes the cookie. */
export function writeCookie(name: string, value: string, scope: CookieScope & { readonly maxAgeSeconds: number }): string {
  const { maxAgeSeconds, secure, basePath } = scope
  const attributes = `Path=${basePath || '/'}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  return `${cookieName(name, scope)}=${value}; ${attributes}`
}
