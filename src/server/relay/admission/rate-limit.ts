import type { StoppedBy } from '../../../contract/entities/log.ts'
import type { ErrorCode } from '../../../contract/errors.ts'
import type { Text } from '../../../contract/text.ts'
import { AppError } from '../../lib/failure.ts'
import type { LeaseRequest, RateLimitLease } from '../../limits/rate-limit-lease.ts'
import type { LimitStatus, Measure, Refusal, Rule } from '../../limits/rule.ts'
import type { Core } from '../../options/core.ts'
import type { Dialect } from '../../protocols/format.ts'
import type { ClientExchange } from '../http/client-exchange.ts'

type Clock = Pick<Core, 'now'>

/**
 * Runs a rate-limited request and releases its lease. A request that fails before its limits were acquired is counted as failed.
 * `answered` returns whether it succeeded.
 */
export async function withinLimits(
  app: Clock,
  call: ClientExchange,
  lease: RateLimitLease,
  run: () => Promise<void>,
  answered: () => boolean = () => call.isCommitted && call.response.statusCode < 400,
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

/** Usage of one limit: the one with the least remaining. */
interface LimitUse {
  readonly limit: number
  readonly remaining: number
  readonly resetMs: number
}

/** The headers that SDKs and agents of the dialect read to pace themselves. Source: API references of both vendors, 2026-11. */
export function limitHeaders(dialect: Dialect, statuses: readonly LimitStatus[], nowMs: number): [name: string, value: string][] {
  const kinds = [
    ['requests', tightestLimit(statuses, ['requests', 'successes'])],
    ['tokens', tightestLimit(statuses, ['tokens'])],
  ] as const
  return kinds.flatMap(([kind, use]): [string, string][] => {
    if (!use) return []
    const values = { limit: String(use.limit), remaining: String(use.remaining) }
    const reset = dialect === 'anthropic' ? timeText(nowMs + use.resetMs) : shortDuration(use.resetMs)
    return Object.entries({ ...values, reset }).map(([name, value]) =>
      dialect === 'anthropic' ? [`anthropic-ratelimit-${kind}-${name}`, value] : [`x-ratelimit-${name}-${kind}`, value],
    )
  })
}

function tightestLimit(
  statuses: readonly LimitStatus[],
  measures: readonly ('requests' | 'successes' | 'tokens')[],
): LimitUse | undefined {
  return statuses
    .flatMap((status) => measures.map((measure) => ({ limit: status.rule[measure], used: status[measure], status })))
    .filter(({ limit }) => limit > 0)
    .map(({ limit, used, status }) => ({ limit, remaining: Math.max(0, limit - used), resetMs: status.resetMs }))
    .sort((a, b) => a.remaining - b.remaining)[0]
}

function timeText(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

/** `6m0s`, `12s`, `120ms`. */
function shortDuration(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`
  const seconds = Math.ceil(ms / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  return `${hours > 0 ? `${hours}h` : ''}${hours + minutes > 0 ? `${minutes}m` : ''}${seconds % 60}s`
}
