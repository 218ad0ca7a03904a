import { createHash } from 'node:crypto'
import { isHeavy, yieldWithPriority } from '../../../base/lib/time/yield-to-event-loop.ts'
import type { ClientExchange } from './client-exchange.ts'

/**
 * The fingerprint that a request and its repeat share, as SHA-256 in hex: of method, path, query, the channel that the caller's key
 * pins, and the body, which is read for it. An API key in the query is left out. A form is hashed by its fields and files, because
 * each repeat has another boundary.
 */
export async function requestFingerprint(
  call: ClientExchange,
  { pinnedChannel }: { readonly pinnedChannel: number },
): Promise<string> {
  const { method = '', url = '' } = call.request
  const body = await call.readBody()
  if (isHeavy(body.bytes.length)) await yieldWithPriority()
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  searchParams.delete('key')
  searchParams.sort()
  const hash = createHash('sha256').update(JSON.stringify([method, pathname, searchParams.toString(), pinnedChannel]))
  if (!body.form) return hash.update(body.bytes).digest('hex')

  hash.update(JSON.stringify(body.json))
  for (const { field, name, mediaType, bytes } of body.form.files) {
    hash.update(JSON.stringify([field, name, mediaType, bytes.length])).update(bytes)
  }
  return hash.digest('hex')
}
