import type { RequestLimit } from '../../../contract/entities/request-limit.ts'
import { neverExpires, tokenStatus } from '../../../contract/entities/token.ts'
import type { Row } from '../../base/db/schema.ts'

type Times = Pick<Row<'tokens'>, 'expired_time'>
type Limits = Pick<Row<'tokens'>, 'limit_seconds' | 'limit_requests' | 'limit_tokens' | 'limit_concurrency'>
type Balance = Pick<Row<'tokens'>, 'unlimited_quota' | 'remain_quota'>

/** The last second of a token's life is its `expired_time`. */
export function isExpired({ expired_time }: Times, nowSeconds: number): boolean {
  return expired_time !== neverExpires && expired_time < nowSeconds
}

export function isExhausted({ unlimited_quota, remain_quota }: Balance): boolean {
  return unlimited_quota === 0 && remain_quota <= 0
}

/** The current status of a token, even if the row is older: a token that ran out is expired or exhausted at once. */
export function statusNow(token: Times & Balance & { status: number }, nowSeconds: number): number {
  if (token.status !== tokenStatus.enabled) return token.status
  if (isExpired(token, nowSeconds)) return tokenStatus.expired
  return isExhausted(token) ? tokenStatus.exhausted : tokenStatus.enabled
}

/** The models of a stored or typed list: trimmed, each once. */
export function readModelList(text: string): string[] {
  const names = text.split(/[,\r\n]+/).map((name) => name.trim())
  return [...new Set(names)].filter((name) => name !== '')
}

/** The limits of a token's own; null when it has none. */
export function readLimits(token: Limits): RequestLimit | null {
  const { limit_seconds: seconds, limit_requests: requests, limit_tokens: tokens, limit_concurrency: concurrency } = token
  return requests > 0 || tokens > 0 || concurrency > 0 ? { seconds, requests, tokens, concurrency } : null
}
