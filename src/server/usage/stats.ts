import { logType } from '../../contract/entities/log.ts'
import { seconds } from '../lib/clock.ts'
import type { Core } from '../options/core.ts'
import { type LogFilter, matching } from './filter.ts'

const rateSeconds = 60

/**
 * Sums over consume rows: `quota` in units within the filter; `rpm` and `tpm`, requests and tokens (input and output), of the last
 * minute with the same filter but its times. The filter's type plays no part.
 */
export async function logStatistics(core: Core, filter: LogFilter): Promise<{ quota: number; rpm: number; tpm: number }> {
  const consumed = { ...filter, type: logType.consume }
  const lastMinute = { ...consumed, start_timestamp: seconds(core.now()) - rateSeconds, end_timestamp: 0 }

  const { quota } = await core.db
    .selectFrom('logs')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('quota'), eb.lit(0)).as('quota'))
    .where(matching(consumed))
    .executeTakeFirstOrThrow()
  const rates = await core.db
    .selectFrom('logs')
    .select((eb) => [
      eb.fn.countAll<number>().as('rpm'),
      eb.fn.coalesce(eb.fn.sum<number>(eb('prompt_tokens', '+', eb.ref('completion_tokens'))), eb.lit(0)).as('tpm'),
    ])
    .where(matching(lastMinute))
    .executeTakeFirstOrThrow()
  return { quota, ...rates }
}
