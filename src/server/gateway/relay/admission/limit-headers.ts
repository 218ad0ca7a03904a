import type { BudgetStatus } from '../../limits/budgets.ts'
import type { LimitStatus } from '../../limits/rule.ts'
import type { Dialect } from '../../protocols/format.ts'

type Header = [name: string, value: string]

/** Usage of one limit: the one with the least remaining. */
interface LimitUse {
  readonly limit: number | string
  readonly remaining: number | string
  /** Undefined when it never resets. */
  readonly resetMs: number | undefined
}

/** The headers that SDKs and agents of the dialect read to pace themselves. Source: API references of both vendors, 2026-11. */
export function limitHeaders(dialect: Dialect, statuses: readonly LimitStatus[], nowMs: number): Header[] {
  return [
    ...headersOf(dialect, { kind: 'requests', use: tightestLimit(statuses, ['requests', 'successes']), nowMs }),
    ...headersOf(dialect, { kind: 'tokens', use: tightestLimit(statuses, ['tokens']), nowMs }),
  ]
}

/** The headers for the caller's money, in US dollars. No vendor has such headers; their names follow the others. */
export function budgetHeaders(
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
