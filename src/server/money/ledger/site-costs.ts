import { type RawBuilder, sql } from 'kysely'
import type { SiteCostReason, SiteCostSum } from '../../../contract/entities/site-cost.ts'
import type { Queries } from '../../base/db/open.ts'

/**
 * Site costs: upstream costs of requests, or parts of them, that no user is charged for. The ledger writes a row with the charge of
 * its request, `site-calls.ts` those of calls that the site makes itself; here they are read.
 */

const daySeconds = 86_400

/** Sums by reason and channel over the last 24 hours, the last 30 days and all time before `now` (unix seconds), largest of all time first. */
export async function sumSiteCosts(db: Queries, now: number): Promise<SiteCostSum[]> {
  const day = since(now - daySeconds)
  const month = since(now - 30 * daySeconds)
  const rows = await db
    .selectFrom('site_costs')
    .leftJoin('channels', 'channels.id', 'site_costs.channel_id')
    .select(['site_costs.reason', 'site_costs.channel_id', 'channels.name'])
    .select(({ fn }) => [
      fn.sum<number>(day.calls).as('day_count'),
      fn.sum<number>(day.amount).as('day_quota'),
      fn.sum<number>(month.calls).as('month_count'),
      fn.sum<number>(month.amount).as('month_quota'),
      fn.sum<number>('site_costs.calls').as('count'),
      fn.sum<number>('site_costs.amount').as('quota'),
    ])
    .groupBy(['site_costs.reason', 'site_costs.channel_id', 'channels.name'])
    .orderBy('quota', 'desc')
    .orderBy('site_costs.channel_id')
    .execute()
  return rows.map((row) => ({
    // Only the ledger writes them, with this type.
    reason: row.reason as SiteCostReason,
    channel_id: row.channel_id,
    channel_name: row.name ?? '',
    last_24_hours: { count: Number(row.day_count), quota: Number(row.day_quota) },
    last_30_days: { count: Number(row.month_count), quota: Number(row.month_quota) },
    all: { count: Number(row.count), quota: Number(row.quota) },
  }))
}

function since(at: number): { calls: RawBuilder<number>; amount: RawBuilder<number> } {
  return {
    calls: sql<number>`case when site_costs.created_at >= ${at} then site_costs.calls else 0 end`,
    amount: sql<number>`case when site_costs.created_at >= ${at} then site_costs.amount else 0 end`,
  }
}
