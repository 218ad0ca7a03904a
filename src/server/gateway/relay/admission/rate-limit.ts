import type { StoppedBy } from '../../../../contract/entities/log.ts'
import type { ErrorCode } from '../../../../contract/errors.ts'
import type { Text } from '../../../../contract/text.ts'
import { AppError } from '../../../base/lib/failure.ts'
import type { Core } from '../../../base/options/core.ts'
import type { LeaseRequest, RateLimitLease } from '../../limits/rate-limit-lease.ts'
import type { Measure, Refusal, Rule } from '../../limits/rule.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { limitHeaders } from './limit-headers.ts'

type Clock = Pick<Core, 'now'>

interface LimitedCall {
  readonly call: ClientExchange
  readonly lease: RateLimitLease
  /** Whether the call has succeeded; by default, when it was answered without an error. */
  readonly answered?: () => boolean
}

/** Runs a rate-limited request and releases its lease. A request that fails before its limits were acquired is counted as failed. */
export async function withinLimits(
  app: Clock,
  { call, lease, answered = () => call.isCommitted && call.status < 400 }: LimitedCall,
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!lease.isDecided) applyLimits(app, call, lease, await lease.acquireForFailed())
    throw error
  } finally {
    lease.release(answered())
  }
}

/**
 * Counts a request under its limits and sets the rate-limit headers of its reply. Throws `rate_limit_requests`,
 * `rate_limit_successes`, `rate_limit_tokens`, `rate_limit_prompt` or `rate_limit_concurrency`.
 */
export async function enterLimits(app: Clock, call: ClientExchange, lease: RateLimitLease, need: LeaseRequest): Promise<void> {
  applyLimits(app, call, lease, await lease.acquire(need))
}

/** Throws the errors of `enterLimits` for limits by count, before the body is read. Does not count the request. */
export async function requireWithinCount(
  app: Clock,
  call: ClientExchange,
  lease: RateLimitLease,
  asksAll: boolean,
): Promise<void> {
  const refusal = await lease.refusedByCount(asksAll)
  if (refusal) applyLimits(app, call, lease, refusal)
}

function applyLimits(app: Clock, call: ClientExchange, lease: RateLimitLease, refusal: Refusal | undefined): void {
  for (const [name, value] of limitHeaders(call.dialect, lease.statuses, app.now())) call.setHeader(name, value)
  if (refusal) throw limitError(refusal)
}

const codes: Readonly<Record<Measure, ErrorCode>> = {
  requests: 'rate_limit_requests',
  successes: 'rate_limit_successes',
  tokens: 'rate_limit_tokens',
  concurrency: 'rate_limit_concurrency',
}

const whoseTexts: Readonly<Record<Rule['scope'], Text>> = {
  user: { zh: '您', en: 'You have' },
  group: { zh: '当前分组', en: 'Your group has' },
  token: { zh: '该令牌', en: 'This API key has' },
  client: { zh: '您', en: 'You have' },
  channel: { zh: '该渠道', en: 'The channel has' },
}

/** The error for a caller that exceeded a limit. */
export function limitError({ rule, measure, retryMs }: Refusal): AppError {
  const params = { whose: whoseTexts[rule.scope], count: rule[measure], window: durationText(rule.windowMs) }
  const detail = stoppedBy({ rule, measure, retryMs })
  if (retryMs === 'never') return new AppError('rate_limit_prompt', params, { detail })
  return new AppError(codes[measure], { ...params, retryAfter: Math.ceil(retryMs / 1000) }, { detail })
}

function stoppedBy({ rule: { scope, windowMs }, measure }: Refusal): StoppedBy {
  return { limit: { kind: measure, scope, ...(measure === 'concurrency' ? {} : { seconds: windowMs / 1000 }) } }
}

function durationText(ms: number): Text {
  const units = [
    [86_400_000, '天', 'day'],
    [3_600_000, '小时', 'hour'],
    [60_000, '分钟', 'minute'],
    [1000, '秒', 'second'],
  ] as const
  const [unitMs, zh, en] = units.find(([unit]) => ms % unit === 0) ?? units[3]
  const count = Math.ceil(ms / unitMs)
  return { zh: `${count} ${zh}`, en: `${count} ${en}${count === 1 ? '' : 's'}` }
}
