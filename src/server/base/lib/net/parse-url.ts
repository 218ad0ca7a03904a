/** The URL of a text, or undefined when it is not a URL. */
export function parseUrl(text: string, base?: string): URL | undefined {
  return URL.parse(text, base) ?? undefined
}

/** Decodes percent-escapes; a text with malformed ones stays as it is. */
export function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const proxyPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'socks5:': '1080', 'socks5h:': '1080' }

/** Whether a text is the URL of a proxy: http, https, socks5 or socks5h, a host, perhaps a login. */
export function isProxyUrl(text: string): boolean {
  const url = parseUrl(text)
  if (!url) return false
  return Object.hasOwn(proxyPorts, url.protocol) && url.hostname !== '' && url.search === '' && /^\/?$/.test(url.pathname)
}

/** The port of a proxy, or the usual one of its protocol. */
export function proxyPort({ port, protocol }: URL): string {
  return port || (proxyPorts[protocol] ?? '')
}
