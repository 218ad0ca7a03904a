import { createHash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import type { SignedRequest } from './provider.ts'

export interface AwsIdentity {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Only temporary credentials have one. */
  readonly sessionToken: string | undefined
  readonly region: string
}

/**
 * The headers that sign a request to a service of AWS (Signature Version 4). The signature covers the host, the time and the hash
 * of the body; proxies may change other headers. Source: AWS General Reference, "Signature Version 4".
 */
export async function signForAws(
  { method, url, body }: SignedRequest,
  identity: AwsIdentity,
  more: { readonly service: string; readonly nowMs: number },
): Promise<Record<string, string>> {
  const { sessionToken, ...keys } = identity
  const signer = new AwsV4Signer({
    ...keys,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    service: more.service,
    method,
    url: url.href,
    headers: { 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') },
    datetime: new Date(more.nowMs).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  })
  const { headers } = await signer.sign()
  return Object.fromEntries(headers.entries())
}
