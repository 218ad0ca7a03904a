import { parseUrl } from '../../base/lib/net/parse-url.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import { toldToCallers, withoutSecrets } from '../relay/upstream/failure.ts'
import type { Details } from './advance.ts'

/**
 * Text of an upstream as it may be stored and shown to admins: without secrets of the channel, without characters that a database refuses,
 * and not too long.
 */
export function cleanText(text: string, channel: RunningChannel | undefined, lengthMax = 2000): string {
  const safe = channel && text !== '' ? withoutSecrets(text, channel) : text
  return storable(safe).slice(0, lengthMax)
}

/** The columns of a task with their texts cleaned. */
export function cleanTexts(details: Details, channel: RunningChannel): Details {
  const entries = Object.entries(details).map(([column, value]) => [
    column,
    typeof value === 'string' ? cleanText(value, channel) : value,
  ])
  return Object.fromEntries(entries)
}

/** Text of an upstream as a caller may see it. */
export function toldText(text: string, channel: RunningChannel): string {
  return storable(toldToCallers(text, channel))
}

/** Without NUL and lone surrogates, which PostgreSQL refuses. */
export function storable(text: string): string {
  return text.replace(/[\0\p{Cs}]/gu, '')
}

/** A web URL unchanged, or '' for everything else. */
export function webAddress(value: unknown): string {
  if (typeof value !== 'string' || value.length > 2000) return ''
  return /^https?:$/.test(parseUrl(value)?.protocol ?? '') ? storable(value) : ''
}

/** An object or a list as JSON text; '' for other values and for a text that is too long. */
export function jsonText(value: unknown, lengthMax: number): string {
  if (typeof value !== 'object' || value === null) return ''
  const text = JSON.stringify(value).replaceAll('\\u0000', '')
  return text.length > lengthMax ? '' : storable(text)
}
