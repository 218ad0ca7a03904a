import type { StoppedBy } from '../../../../contract/entities/log.ts'
import type { ErrorCode } from '../../../../contract/errors.ts'
import type { Text } from '../../../../contract/text.ts'
import { AppError } from '../../../base/lib/failure.ts'
import type { Core } from '../../../base/options/core.ts'
import type { BudgetWindow } from '../../../money/ledger/budget-window.ts'
import type { BudgetsLeft } from '../../../money/ledger/ledger.ts'
import type { BudgetStatus } from '../../limits/budgets.ts'
import type { LeaseRequest, RateLimitLease } from '../../limits/rate-limit-lease.ts'
import type { LimitStatus, Measure, Refusal, Rule } from '../../limits/rule.ts'
import type { Dialect } from '../../protocols/format.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'

/** The rate limits and budgets of a call: how it enters them, and what its caller is told of them, by errors and headers. */

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

type BudgetParts = Pick<GatewayParts, 'budgets' | 'now' | 'options'>

/** Sets the reply headers that report the remainder of the tightest hard budget of the caller's own money. */
export function setBudgetHeaders(
  app: BudgetParts,
  call: ClientExchange,
  { windows, left }: { readonly windows: readonly Pick<BudgetWindow, 'budgetId'>[] | undefined; readonly left: BudgetsLeft },
): void {
  if (!windows || !left) return
  const status = app.budgets.tightestOf(windows, left)
  if (!status) return
  const units = { nowMs: app.now(), perUsd: app.options.current.QuotaPerUnit }
  for (const [name, value] of budgetHeaders(call.dialect, status, units)) call.setHeader(name, value)
}

/** The error for the caller when a hold is refused, with the headers of a budget that refuses it. Returns any other error unchanged. */
export function explainRefusedHold(app: BudgetParts, call: ClientExchange, error: unknown): unknown {
  if (error instanceof AppError && error.code === 'budget_exceeded') {
    const { budgetId, have } = error.params
    setBudgetHeaders(app, call, { windows: [{ budgetId: Number(budgetId) }], left: [Number(have)] })
  }
  return app.budgets.explain(error)
}

type Header = [name: string, value: string]

/** Usage of one limit: the one with the least remaining. */
interface LimitUse {
  readonly limit: number | string
  readonly remaining: number | string
  /** Undefined when it never resets. */
  readonly resetMs: number | undefined
}

/** The headers that SDKs and agents of the dialect read to pace themselves. Source: API references of both vendors, 2026-11. */
function limitHeaders(dialect: Dialect, statuses: readonly LimitStatus[], nowMs: number): Header[] {
  return [
    ...headersOf(dialect, { kind: 'requests', use: tightestLimit(statuses, ['requests', 'successes']), nowMs }),
    ...headersOf(dialect, { kind: 'tokens', use: tightestLimit(statuses, ['tokens']), nowMs }),
  ]
}

/** The headers for the caller's money, in US dollars. No vendor has such headers; their names follow the others. */
function budgetHeaders(
  dialect: Dialect,
  { limit, remaining, renewsAt }: BudgetStatus,
  { nowMs, perUsd }: { nowMs: number; perUsd: number },
): Header[] {
  const resetMs = renewsAt === undefined ? undefined : Math.max(0, renewsAt * 1000 - nowMs)
  const use = { limit: dollars(limit / perUsd), remaining: dollars(remaining / perUsd), resetMs }
  return headersOf(dialect, { kind: 'budget', use, nowMs })
}

interface Family {
  readonly kind: 'requests' | 'tokens' | 'budget'
  readonly use: LimitUse | undefined
  readonly nowMs: number
}

function headersOf(dialect: Dialect, { kind, use, nowMs }: Family): Header[] {
  if (!use) return []
  const { limit, remaining, resetMs } = use
  const values: [name: string, value: string][] = [
    ['limit', String(limit)],
    ['remaining', String(remaining)],
  ]
  if (resetMs !== undefined) values.push(['reset', dialect === 'anthropic' ? timeText(nowMs + resetMs) : shortDuration(resetMs)])
  return values.map(([name, value]) => [
    dialect === 'anthropic' ? `anthropic-ratelimit-${kind}-${name}` : `x-ratelimit-${name}-${kind}`,
    value,
  ])
}

/** An amount in dollars, rounded down to a millionth. */
function dollars(amount: number): string {
  return String(Math.floor(amount * 1e6 + 1e-6) / 1e6)
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
