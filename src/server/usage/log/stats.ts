import { logType } from '../../../contract/entities/log.ts'
import type { Queries } from '../../base/db/open.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { type LogFilter, type ResolvedFilter, resolveFilter } from '../filter.ts'
import { sumWithoutRows } from '../sums/hour-buckets.ts'
import { isLocated, matchingRows, sumLocated } from './rows.ts'

const rateSeconds = 60
const shortSeconds = 5
/** A minute of such a rate takes a third of a second to read, and at 13,000 calls a second more than a second. */
const shortRowsMin = 10_000

/**
 * Consumption: `quota` in units within the filter; `rpm` and `tpm`, requests and tokens (input and output) per minute with the same
 * filter but its times, as in the last minute or, at thousands of calls a second, the last seconds. The filter's type, status and
 * code are ignored: failed calls are not part of any sum. Whole hours are read from the hour buckets, so that purging the log
 * changes no sum; only sums that these do not have, such as a model of a token, are computed over rows.
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

/** Of the last minute; with `shortRowsMin` rows in the last complete `shortSeconds`, of these alone. */
async function pace(core: Core, filter: ResolvedFilter): Promise<{ rpm: number; tpm: number }> {
  const now = seconds(core.now())
  const short = await requestsOf(core.db, { ...filter, start_timestamp: now - shortSeconds, end_timestamp: now - 1 })
  if (short.rpm >= shortRowsMin) {
    const times = rateSeconds / shortSeconds
    return { rpm: short.rpm * times, tpm: short.tpm * times }
  }
  return requestsOf(core.db, { ...filter, start_timestamp: now - rateSeconds, end_timestamp: 0 })
}

function requestsOf(db: Queries, filter: ResolvedFilter): Promise<{ rpm: number; tpm: number }> {
  return matchingRows(db, filter)
    .select((eb) => [
      eb.fn.countAll<number>().as('rpm'),
      eb.fn.coalesce(eb.fn.sum<number>(eb('logs.prompt_tokens', '+', eb.ref('logs.completion_tokens'))), eb.lit(0)).as('tpm'),
    ])
    .executeTakeFirstOrThrow()
}
