import { csvLine, csvText } from '../../../contract/csv.ts'
import {
  cachedTokensOf,
  type Log,
  type LogColumn,
  type LogFailure,
  type LogOther,
  logColumnsFor,
  logTypeLabels,
} from '../../../contract/entities/log.ts'
import { usdFigure } from '../../../contract/quota.ts'
import type { Queries } from '../../base/db/open.ts'
import { readJson } from '../../base/lib/bytes/read-json.ts'
import { zoneClock } from '../../base/lib/time/zone-clock.ts'
import type { Core } from '../../base/options/core.ts'
import { type LogFilter, type ResolvedFilter, resolveFilter } from '../filter.ts'
import { hoursWithMatches } from '../sums/hour-buckets.ts'
import { hourSeconds, type Span } from '../sums/hours.ts'
import { forOwner, presentLog } from './log.ts'
import { daysOf, isLocated, newestLogs } from './rows.ts'

export interface Export {
  readonly filter: LogFilter
  readonly format: 'csv' | 'jsonl'
  /** An IANA name; times include its offset, and columns its name. Unknown names mean UTC. */
  readonly timeZone: string
  /** Names of columns of a CSV file; all without one. Unknown ones are left out. */
  readonly columns?: readonly string[]
  /** The user whose rows are exported, as their owner sees them; undefined for all rows as admins see them. */
  readonly ownerId?: number
}

const rowsAtOnce = 500

/**
 * All matching rows, newest first, as the pieces of a file. Some hundred rows are read at a time, with back-pressure, so that a slow
 * reader blocks no one and takes no memory. Rows written meanwhile are not included.
 */
export async function* exportLogs(
  core: Core,
  { filter, format, timeZone, columns: chosen = [], ownerId }: Export,
): AsyncGenerator<string> {
  const isOwner = ownerId !== undefined
  const { zone, timeText } = zoneClock(timeZone)
  const offered = logColumnsFor(!isOwner)
  const columns = chosen.length === 0 ? offered : offered.filter((name) => chosen.includes(name))
  if (format === 'csv') yield csvText([[`time (${zone})`, ...columns]])

  const found = await resolveFilter(core.db, isOwner ? { ...filter, userId: ownerId } : filter)
  if (!found) return
  const perUsd = core.options.current.QuotaPerUnit
  for await (const rows of chunks(core.db, found)) {
    const logs = rows.map(presentLog)
    const shown = isOwner ? forOwner(logs) : logs
    yield shown
      .map((log) => (format === 'csv' ? csvOf(log, columns, { perUsd, timeText }) : jsonOf(log, timeText, isOwner)))
      .join('')
  }
}

/** Reads hour by hour where the hour buckets name the hours, otherwise day by day, so that no single query scans the entire log. */
async function* chunks(db: Queries, filter: ResolvedFilter) {
  for await (const span of isLocated(filter) ? hoursOf(db, filter) : daysOf(db, filter)) {
    const within = {
      ...filter,
      start_timestamp: Math.max(filter.start_timestamp ?? 0, span.from),
      end_timestamp: Math.min(filter.end_timestamp || span.to, span.to),
    }
    let last = { created_at: within.end_timestamp, id: Number.MAX_SAFE_INTEGER }
    for (;;) {
      const rows = await newestLogs(db, { ...within, end_timestamp: last.created_at })
        .where((eb) => eb.or([eb('logs.created_at', '<', last.created_at), eb('logs.id', '<', last.id)]))
        .limit(rowsAtOnce)
        .execute()
      if (rows.length > 0) yield rows
      if (rows.length < rowsAtOnce) break
      last = rows.at(-1) ?? last
    }
  }
}

async function* hoursOf(db: Queries, filter: ResolvedFilter): AsyncGenerator<Span> {
  for (const hour of await hoursWithMatches(db, filter)) yield { from: hour, to: hour + hourSeconds - 1 }
}

interface Shown {
  readonly perUsd: number
  readonly timeText: (unixSeconds: number) => string
}

type Other = Partial<LogOther> & Partial<Pick<LogFailure, 'status' | 'code'>>

type ColumnValue = (log: Log, other: Other, perUsd: number) => string | number | undefined

const columnValues: Readonly<Record<LogColumn, ColumnValue>> = {
  type: (log) => logTypeLabels[log.type]?.label.en ?? log.type,
  request_id: (log) => log.request_id,
  user_id: (log) => log.user_id,
  username: (log) => log.username,
  token: (log) => log.token_name,
  group: (log) => log.group,
  model: (log) => log.model_name,
  upstream_model: (_log, other) => other.upstream_model_name,
  replaced_model: (_log, other) => other.replaced_model,
  answered_model: (_log, other) => other.answered_model,
  upstream_format: (_log, other) => other.upstream_format,
  dropped_fields: (_log, other) => other.dropped?.join(' '),
  channel: (log) => log.channel || undefined,
  channel_name: (log) => log.channel_name,
  channels_tried: (_log, other) => other.admin_info?.use_channel.join(' '),
  stream: (log) => String(log.is_stream),
  usage_implausible: (_log, other) => (other.usage_implausible ? 'true' : undefined),
  usage_unexplained: (_log, other) => other.usage_unexplained,
  cached_above_prompt: (_log, other) => other.cached_above_prompt,
  above_hold: (_log, other) => (other.above_hold ? 'true' : undefined),
  site_cost: (_log, other) => other.admin_info?.site_cost?.amount,
  site_cost_reason: (_log, other) => other.admin_info?.site_cost?.reason,
  duration_ms: (log, other) => other.use_time_ms ?? log.use_time * 1000,
  first_token_ms: (_log, other) => other.frt,
  prompt_tokens: (log) => log.prompt_tokens,
  cached_tokens: (_log, other) => cachedTokensOf(other),
  completion_tokens: (log) => log.completion_tokens,
  service_tier: (_log, other) => other.tier_served ?? other.tier_asked,
  quota: (log) => log.quota,
  amount: (log) => log.amount,
  usd: (log, other, perUsd) => usdFigure(log.quota || log.amount, other.quota_per_unit ?? perUsd),
  content: (log) => log.content,
  status: (_log, other) => other.status,
  code: (_log, other) => other.code,
}

function csvOf(log: Log, columns: readonly LogColumn[], { perUsd, timeText }: Shown): string {
  const other = readOther(log.other)
  return csvLine([timeText(log.created_at), ...columns.map((name) => columnValues[name](log, other, perUsd) ?? '')])
}

function jsonOf({ id, other, ...log }: Log, timeText: Shown['timeText'], isOwner: boolean): string {
  const { channel: _channel, channel_name: _name, ...own } = log
  const shown = isOwner ? own : { id, ...log }
  return `${JSON.stringify({ time: timeText(log.created_at), ...shown, other: readOther(other) })}\n`
}

function readOther(text: string): Other {
  const value = readJson(text)
  // Written by `gateway/relay/charge/charge-row.ts`; rows of other origin have other members, which are read as absent or shown
  // unchanged.
  return typeof value === 'object' && value !== null ? (value as Other) : {}
}
