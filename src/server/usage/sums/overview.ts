import type { CallFigures, Consumer, Overview, OverviewPeriod } from '../../../contract/entities/call-statistics.ts'
import type { Queries } from '../../base/db/open.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import {
  type CallQuery,
  type CallSums,
  fiveMinutes,
  oneDay,
  oneHour,
  readCallSums,
  readErrors,
  readPoints,
  successShare,
  tokensPerSecond,
  topKeys,
} from '../calls/call-sums.ts'

/** `step` is the row length of the points of the charts, `align` that of the finest rows that still exist for both periods. */
const periods: Readonly<Record<OverviewPeriod, { readonly length: number; readonly step: number; readonly align: number }>> = {
  hour: { length: oneHour, step: fiveMinutes, align: fiveMinutes },
  day: { length: oneDay, step: oneHour, align: fiveMinutes },
  week: { length: 7 * oneDay, step: oneHour, align: oneHour },
  month: { length: 30 * oneDay, step: oneDay, align: oneHour },
}

const errorsMax = 12
const failingMax = 10
const topMax = 8

/**
 * The site in a period that ends now, and in the one before. Only statistics are read: some hundred rows for the site, and some
 * dozen for each model, user or token.
 */
export async function readOverview(
  { db, now }: Pick<Core, 'db' | 'now'>,
  period: OverviewPeriod,
): Promise<Omit<Overview, 'marks'>> {
  const { length, step, align } = periods[period]
  const to = seconds(now())
  const from = Math.floor((to - length) / align) * align
  const span = { from, to: to + 1 }
  const site = { side: 'site', ...span } as const
  const points = await readPoints(db, { ...site, seconds: step, from: Math.floor(from / step) * step })
  const errors = await readErrors(db, site)
  return {
    from,
    to,
    current: { ...figuresOf(await readCallSums(db, site)), seconds: to - from },
    before: { ...figuresOf(await readCallSums(db, { side: 'site', from: from - length, to: from })), seconds: length },
    step_seconds: step,
    points: points.map(({ at, sums }) => ({ at, ...figuresOf(sums) })),
    errors: errors.slice(0, errorsMax).map(({ key: _site, ...error }) => error),
    failing: await failingChannels(db, span),
    users: await consumers(db, 'user', span),
    models: await consumers(db, 'model', span),
    tokens: await consumers(db, 'token', span),
  }
}

function figuresOf(sums: CallSums): CallFigures {
  return {
    requests: sums.count,
    answered: sums.answered,
    failed: sums.failed,
    success: successShare(sums) ?? null,
    p50_ms: sums.durations.percentile(0.5) ?? null,
    p95_ms: sums.durations.percentile(0.95) ?? null,
    first_p50_ms: sums.first_bytes.percentile(0.5) ?? null,
    tokens_per_second: tokensPerSecond(sums) ?? null,
    quota: sums.quota,
  }
}

type Span = Pick<CallQuery, 'from' | 'to'>

async function failingChannels(db: Queries, span: Span): Promise<Overview['failing']> {
  const found = await topKeys(db, { side: 'channel', ...span, by: 'failed', limit: failingMax })
  if (found.length === 0) return []
  const keys = found.map(({ key }) => key)
  const names = await namesOf(db, 'channel', keys)
  const errors = (await readErrors(db, { side: 'channel', keys, ...span })).sort((one, other) => other.last_at - one.last_at)
  return found.map((sums) => {
    const last = errors.find(({ key }) => key === sums.key)
    return {
      id: Number(sums.key),
      name: names.get(sums.key) ?? '',
      attempts: sums.count,
      failed: sums.failed,
      success: successShare(sums) ?? null,
      last: last ? { code: last.code, count: last.count, message: last.message, last_at: last.last_at } : null,
    }
  })
}

async function consumers(db: Queries, side: 'user' | 'model' | 'token', span: Span): Promise<Consumer[]> {
  const found = await topKeys(db, { side, ...span, by: 'quota', limit: topMax })
  const names = await namesOf(
    db,
    side,
    found.map(({ key }) => key),
  )
  const owners = side === 'token' ? await ownersOf(db, [...names.keys()]) : new Map<string, string>()
  return found.map(({ key, count, failed, quota }) => {
    return { key, name: names.get(key) ?? '', owner: owners.get(key) ?? '', requests: count, failed, quota }
  })
}

/** The names of the users of tokens, by the ids of these. */
async function ownersOf(db: Queries, tokens: readonly string[]): Promise<Map<string, string>> {
  if (tokens.length === 0) return new Map()
  const rows = await db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select(['tokens.id', 'users.username'])
    .where('tokens.id', 'in', tokens.map(Number))
    .execute()
  return new Map(rows.map(({ id, username }) => [String(id), username]))
}

async function namesOf(
  db: Queries,
  side: 'user' | 'model' | 'token' | 'channel',
  keys: readonly string[],
): Promise<Map<string, string>> {
  if (side === 'model' || keys.length === 0) return new Map(keys.map((key) => [key, key]))
  const ids = keys.map(Number)
  const rows =
    side === 'user'
      ? await db.selectFrom('users').select(['id', 'username as name']).where('id', 'in', ids).execute()
      : side === 'token'
        ? await db.selectFrom('tokens').select(['id', 'name']).where('id', 'in', ids).execute()
        : await db.selectFrom('channels').select(['id', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, name }) => [String(id), name]))
}
