import { hash } from 'node:crypto'
import type { CallerHeaders } from '../../providers/provider.ts'
import type { RelayParts, Work } from '../relay-parts.ts'

/** The caller's headers, of which providers pick what they pass on. Their idempotency key is not among them: see `keyedHeaders`. */
export function callerHeaders({ call }: Pick<Work, 'call'>): CallerHeaders {
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
  work: Work,
  { body, contentType }: { readonly body: Buffer; readonly contentType: string },
): CallerHeaders {
  const headers = callerHeaders(work)
  const key = work.call.request.headers['idempotency-key']
  if (key === undefined) return headers
  const { userId, tokenId } = work.caller
  const sent = contentType.startsWith('application/json') ? hash('sha256', body) : ''
  return { ...headers, 'idempotency-key': secrets.mac('upstream-idempotency-key', JSON.stringify([userId, tokenId, key, sent])) }
}
