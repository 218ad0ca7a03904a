import { createHash, createHmac } from 'node:crypto'

interface Tc3Request {
  readonly secretId: string
  readonly secretKey: string
  readonly service: string
  readonly action: string
  readonly host: string
  readonly path: string
  readonly contentType: string
  readonly body: Buffer
}

/**
 * The headers that sign a POST to Tencent Cloud with TC3-HMAC-SHA256. Pure: the time is a parameter. Source: signature of version 3
 * in Tencent Cloud's interface reference, read 2026-11.
 */
export function signTc3(request: Tc3Request, nowMs: number): { authorization: string; 'x-tc-timestamp': string } {
  const { secretId, secretKey, service } = request
  const timestamp = String(Math.floor(nowMs / 1000))
  const date = new Date(nowMs).toISOString().slice(0, 10)
  const scope = `${date}/${service}/tc3_request`
  const text = [algorithm, timestamp, scope, sha256(canonicalRequest(request))].join('\n')
  const key = [date, service, 'tc3_request'].reduce<Buffer | string>((last, part) => hmac(last, part), `TC3${secretKey}`)
  const signature = hmac(key, text).toString('hex')
  const authorization = `${algorithm} Credential=${secretId}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`
  return { authorization, 'x-tc-timestamp': timestamp }
}

/** The canonical text of the request. */
export function canonicalRequest({ path, contentType, host, action, body }: Tc3Request): string {
  const headers = [`content-type:${contentType.toLowerCase()}`, `host:${host}`, `x-tc-action:${action.toLowerCase()}`]
  return ['POST', path, '', ...headers, '', signedNames, sha256(body)].join('\n')
}

const signedNames = 'content-type;host;x-tc-action'
const algorithm = 'TC3-HMAC-SHA256'

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
