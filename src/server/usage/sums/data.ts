import type { QuotaData } from '../../../contract/entities/usage-sum.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { type LogFilter, resolveFilter } from '../filter.ts'
import { hourSeconds } from './hours.ts'
import { eachSum, hourSums } from './rollup.ts'

/**
 * The data of dashboards: charges by hour, written in the commit of each charge, so that its sums are those of the ledger, also
 * after purges of the log.
 */

const daySeconds = 86_400
/** The default time span. */
const usualDays = 30
export const spanMaxDays = { own: 30, all: 366 } as const

/**
 * Charges by model and hour, oldest first; with a user in the filter, only that user's. Hours that are partly in the span are
 * counted completely. Throws `data_span_too_long`.
 */
export async function listQuotaData(core: Core, filter: LogFilter, maxDays: number): Promise<QuotaData[]> {
  const found = await resolveFilter(core.db, wholeHours(core, filter, maxDays))
  if (!found) return []
  const user = found.userId
    ? await core.db.selectFrom('users').select(['id', 'username']).where('id', '=', found.userId).executeTakeFirst()
    : undefined
  const of = { id: 0, user_id: user?.id ?? 0, username: user?.username ?? '' }
  const rows: QuotaData[] = []
  for await (const piece of hourSums(core.db, found, 'model')) {
    for (const { hour, sums } of piece) {
      eachSum(sums, (key, sum) => rows.push({ ...of, created_at: hour, model_name: String(key), ...sum }))
    }
  }
  return rows
}

/**
 * The filter with its start rounded down to the hour, and defaults: the last 30 days, or an end of now. Throws
 * `data_span_too_long`.
 */
export function wholeHours(core: Pick<Core, 'now'>, filter: LogFilter, maxDays: number): LogFilter {
  const end = filter.end_timestamp || seconds(core.now())
  const start = filter.start_timestamp || (filter.end_timestamp ? 0 : end - usualDays * daySeconds)
  if (end - start > maxDays * daySeconds) fail('data_span_too_long', { days: maxDays })
  return { ...filter, start_timestamp: start - (start % hourSeconds), end_timestamp: end }
}
