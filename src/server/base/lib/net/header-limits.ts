import type { IncomingMessage } from 'node:http'
import { fail } from '../failure.ts'

/** Far more than programs, browsers, proxies and vendors send. */
const requestHeadersMax = 100
export const replyHeadersMax = 200

/** Throws `headers_too_many`. A repeated header counts twice. */
export function requireFewHeaders({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void {
  if (rawHeaders.length / 2 > requestHeadersMax) fail('headers_too_many', { limit: requestHeadersMax })
}

/** Whether a reply has more headers than are accepted. */
export function hasTooManyHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  let count = 0
  for (const name in headers) {
    const value = headers[name]
    count += Array.isArray(value) ? value.length : 1
  }
  return count > replyHeadersMax
}
