import type { QuotaData } from '../../contract/entities/usage-sum.ts'
import { seconds } from '../lib/clock.ts'
import { fail } from '../lib/failure.ts'
import type { Core } from '../options/core.ts'
import { type LogFilter, matchingHours, resolveFilter } from './filter.ts'
import { hourSeconds } from './hours.ts'

/**
 * The roll-up for dashboards: charges by hour, written in the commit of each charge, so that its sums are those of the ledger, whatever
 * became of the log.
 */

const daySeconds = 86_400
export const spanMaxDays = { own: 30, all: 366 } as const

/**
 * Charges by model and hour, oldest first; with a user in the filter those of that user. Hours that the span cuts count as a whole.
 * Throws `data_span_too_long`.
 */
export async function listQuotaData(core: Core, filter: LogFilter, maxDays: number): Promise<QuotaData[]> {
  const found = await resolveFilter(core.db, wholeHours(core, filter, maxDays))
  if (!found) return []
  const user = found.userId
    ? await core.db.selectFrom('users').select(['id', 'username']).where('id', '=', found.userId).executeTakeFirst()
    : undefined
  const rows = await core.db
    .selectFrom('quota_data')
    .select(['quota_data.model_name', 'quota_data.created_at'])
    .select(({ fn }) => [
      fn.sum<number>('token_used').as('token_used'),
      fn.sum<number>('count').as('count'),
      fn.sum<number>('quota').as('quota'),
    ])
    .where(matchingHours(found))
    .groupBy(['quota_data.created_at', 'quota_data.model_name'])
    .orderBy('quota_data.created_at')
    .orderBy('quota_data.model_name')
    .execute()
  return rows.map((row) => ({ id: 0, user_id: user?.id ?? 0, username: user?.username ?? '', ...row }))
}

/** The filter with its beginning at that of an hour, and an end where it had none. Throws `data_span_too_long`. */
export function wholeHours(core: Pick<Core, 'now'>, filter: LogFilter, maxDays: number): LogFilter {
  const start = filter.start_timestamp ?? 0
  const end = filter.end_timestamp || seconds(core.now())
  if (end - start > maxDays * daySeconds) fail('data_span_too_long', { days: maxDays })
  return { ...filter, start_timestamp: start - (start % hourSeconds), end_timestamp: end }
}
