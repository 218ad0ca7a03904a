import { callConfigured, fetchUntrusted, type UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { CallFailure, type Reply } from '../../base/lib/net/upstream-http/exchange.ts'
import type { Core } from '../../base/options/core.ts'

export type PostParts = Pick<Core, 'options'> & { readonly upstream: UpstreamAgents }

interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** A JSON text. */
  readonly body: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

const answerMaxBytes = 64 * 1024

/**
 * Posts JSON to an address that a user or an admin has entered: only https on the public internet, or through the operator's worker. No
 * redirect is followed. Any status is a result. Throws `CallFailure`.
 */
export function postJson({ upstream, options }: PostParts, { url, headers, body, timeoutMs, signal }: Post): Promise<Reply> {
  const { WorkerUrl, WorkerValidKey } = options.current
  const limits = { method: 'POST', timeoutMs, sizeBytesMax: answerMaxBytes } as const
  if (WorkerUrl === '') return fetchUntrusted(upstream, { ...limits, url, headers, body, signal })

  if (!url.startsWith('https://')) throw new CallFailure('bad_url')
  const errand = JSON.stringify({ url, key: WorkerValidKey, method: 'POST', headers, body: JSON.parse(body) })
  const asJson = { 'content-type': 'application/json' }
  return callConfigured(upstream, { ...limits, url: `${WorkerUrl}/`, headers: asJson, body: errand })
}
