import { hash } from 'node:crypto'
import type { CallerHeaders } from '../../providers/provider.ts'
import type { AdmittedRequest, RelayParts } from '../relay-parts.ts'

/** The caller's headers, of which providers pick what they pass on. Their idempotency key is not among them: see `keyedHeaders`. */
export function callerHeaders({ call }: Pick<AdmittedRequest, 'call'>): CallerHeaders {
  // A header that came twice is a list only for names that no provider picks.
  const headers = call.request.headers as CallerHeaders
  return headers['idempotency-key'] === undefined ? headers : { ...headers, 'idempotency-key': undefined }
}

/**
 * The same with an idempotency key for the upstream. Callers of a channel share its account there, so that the key is derived from whose it is;
 * and from the body, because an attempt may change it. The bytes of a form differ without meaning in their boundaries.
 */
export function keyedHeaders(
  { secrets }: Pick<RelayParts, 'secrets'>,
  request: AdmittedRequest,
  { body, contentType }: { readonly body: Buffer; readonly contentType: string },
): CallerHeaders {
  const headers = callerHeaders(request)
  const key = request.call.request.headers['idempotency-key']
  if (key === undefined) return headers
  const { userId, tokenId } = request.caller
  const sent = contentType.startsWith('application/json') ? hash('sha256', body) : ''
  return { ...headers, 'idempotency-key': secrets.mac('upstream-idempotency-key', JSON.stringify([userId, tokenId, key, sent])) }
}
