import type { IncomingMessage } from 'node:http'
import { newDetachedRequest } from '../../lib/node-internals.ts'

/** A request with a body and `more` headers of its own and the headers of another, on no connection: what it answers goes elsewhere. */
export function detachedRequest(
  from: IncomingMessage,
  path: string,
  body: object,
  more: Readonly<Record<string, string>> = {},
): IncomingMessage {
  const request = newDetachedRequest()
  const { 'content-encoding': _encoding, 'content-length': _length, 'transfer-encoding': _transfer, ...headers } = from.headers
  Object.assign(request.headers, headers, more, { 'content-type': 'application/json' })
  request.method = 'POST'
  request.url = path
  request.push(JSON.stringify(body))
  request.push(null)
  request.complete = true
  return request
}
