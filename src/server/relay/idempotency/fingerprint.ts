import { createHash } from 'node:crypto'
import type { Body } from '../http/read-body.ts'

/**
 * What two requests with one idempotency key must have in common, as SHA-256 in hex: method, path, query, the channel that the key of the
 * caller names, and the body. An API key in the query does not count. A form counts by its fields and files, because each repeat of it has
 * another boundary.
 */
export function fingerprintOf(asked: { method: string; url: string; pinnedChannel: number; body: Body }): string {
  const { method, url, pinnedChannel, body } = asked
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
