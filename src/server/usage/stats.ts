import { logType } from '../../contract/entities/log.ts'
import type { Queries } from '../db/open.ts'
import { seconds } from '../lib/clock.ts'
import type { Core } from '../options/core.ts'
import { type LogFilter, type ResolvedFilter, resolveFilter } from './filter.ts'
import { sumWithoutRows } from './hour-buckets.ts'
import { isLocated, matchingRows, sumLocated } from './rows.ts'

const rateSeconds = 60

/**
 * Consumption: `quota` in units within the filter; `rpm` and `tpm`, requests and tokens (input and output), of the last minute with
 * the same filter but its times. The filter's type, status and code are ignored: failed calls are not part of any sum. Whole hours
 * are read from the hour buckets, so that purging the log changes no sum; only sums that these do not have, such as a model of a
 * token, are computed over rows.
 */
export async function logStatistics(core: Core, filter: LogFilter): Promise<{ quota: number; rpm: number; tpm: number }> {
  const found = await resolveFilter(core.db, { ...filter, type: logType.consume, status: 0, code: '' })
  if (!found) return { quota: 0, rpm: 0, tpm: 0 }
  return { quota: await consumed(core.db, found), ...(await pace(core, found)) }
}

async function consumed(db: Queries, filter: ResolvedFilter): Promise<number> {
  const known = await sumWithoutRows(db, filter)
  if (!known) return isLocated(filter) ? sumLocated(db, filter) : sumRows(db, filter)
  let { quota } = known.sum
  for (const { from, to } of known.left) quota += await sumRows(db, { ...filter, start_timestamp: from, end_timestamp: to })
  return quota
}

async function sumRows(db: Queries, filter: ResolvedFilter): Promise<number> {
  const { quota } = await matchingRows(db, filter)
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('logs.quota'), eb.lit(0)).as('quota'))
    .executeTakeFirstOrThrow()
  return quota
}

async function pace(core: Core, filter: ResolvedFilter): Promise<{ rpm: number; tpm: number }> {
  const lastMinute = { ...filter, start_timestamp: seconds(core.now()) - rateSeconds, end_timestamp: 0 }
  return matchingRows(core.db, lastMinute)
    .select((eb) => [
      eb.fn.countAll<number>().as('rpm'),
      eb.fn.coalesce(eb.fn.sum<number>(eb('logs.prompt_tokens', '+', eb.ref('logs.completion_tokens'))), eb.lit(0)).as('tpm'),
    ])
    .executeTakeFirstOrThrow()
}
