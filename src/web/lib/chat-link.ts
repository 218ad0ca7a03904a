import { withoutTrailing } from '../../contract/trailing.ts'

/** Links of chat pages, into which the key of a token and the address of this server are put. */

const scripted: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'file:'])

interface KeyUse {
  /** The key of the token, with its prefix. */
  readonly key: string
  /** The address of the server, without a trailing slash. */
  readonly address: string
}

/**
 * A chat link with the key and the server address filled in; undefined when it is not a URL, or its scheme could run a script in this
 * page.
 */
export function chatUrl(link: string, { key, address }: KeyUse): URL | undefined {
  const filled = link.replaceAll('{address}', encodeURIComponent(address)).replaceAll('{key}', key)
  if (!URL.canParse(filled)) return undefined
  const url = new URL(filled)
  return scripted.has(url.protocol) ? undefined : url
}

/** The single links of older settings only name a page: appends the parameters after the hash, in the usual form. */
export function withPlaces(link: string): string {
  if (link.includes('{key}') || link.includes('{address}')) return link
  return `${withoutTrailing(link, '/')}/#/?settings={"key":"{key}","url":"{address}"}`
}

export const isWebPage = ({ protocol }: URL): boolean => protocol === 'https:' || protocol === 'http:'

/** A web page opens in a new tab; a link with the scheme of an application opens that application. */
export function openChat(url: URL): void {
  if (isWebPage(url)) window.open(url, '_blank', 'noopener,noreferrer')
  else window.location.assign(url)
}
