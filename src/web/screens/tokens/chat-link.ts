import type { TokenUse } from './snippets.ts'
import { fullKey } from './token-lines.ts'

const scripted: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'file:'])

/** A chat link with the key and the server in their places; undefined when it is no address, or one that could act in this page. */
export function chatUrl(link: string, { token, address }: TokenUse): URL | undefined {
  const filled = link.replaceAll('{address}', encodeURIComponent(address)).replaceAll('{key}', fullKey(token))
  if (!URL.canParse(filled)) return undefined
  const url = new URL(filled)
  return scripted.has(url.protocol) ? undefined : url
}

/** A web page opens beside this one; an address of a program is handed to it. */
export function openChat(url: URL): void {
  if (url.protocol === 'https:' || url.protocol === 'http:') window.open(url, '_blank', 'noopener,noreferrer')
  else window.location.assign(url)
}
