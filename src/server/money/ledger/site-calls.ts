import { sql } from 'kysely'
import type { SiteCallReason } from '../../../contract/entities/site-cost.ts'
import { isDatabaseFailure } from '../../base/db/failures.ts'
import type { Database } from '../../base/db/open.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import type { CallLedger, Charge, Hold } from './ledger.ts'

/**
 * The cost of calls that the site makes itself: no user pays, the site bears the cost. They hold, settle and release like others,
 * but in `site_costs`: a hold is a row of its own with the greatest cost, and stays the cost if the process dies; a settled call is
 * added to the row of its reason, day (UTC), channel and model. What a reason may cost on one day is never exceeded, over all
 * nodes.
 */

const daySeconds = 86_400

/** How many units the calls of one reason may cost per day (UTC). */
export interface SiteAllowance {
  readonly reason: SiteCallReason
  readonly unitsPerDay: number
}

interface SiteCallLedger extends CallLedger {
  /** Units that its call has cost so far. */
  readonly spent: number
}

type Parts = Pick<Core, 'db' | 'database' | 'logger' | 'now'>

/** The ledger of one call of the site. `hold` throws `quota_insufficient` when the allowance of the day does not cover it. */
export function siteCallLedger(parts: Parts, model: string, allowance: SiteAllowance): SiteCallLedger {
  let spent = 0
  return {
    get spent() {
      return spent
    },
    hold: (hold) => holdSiteCost(parts, { hold, model, allowance }).then(() => undefined),
    // Budgets count only what callers are charged.
    extend() {},
    // The caller is this server, so no reply has to wait for the charge. A cost that is not written stays at its hold, which is the
    // greatest cost.
    async settle(hold, charge) {
      spent = charge.amount + (charge.siteCost?.amount ?? 0)
      await settleSiteCost(parts, { hold, charge, units: spent, ...allowance }).catch((error: unknown) =>
        parts.logger.warn({ error, request: hold.requestId }, 'the cost of a call of the site stays at its hold'),
      )
    },
    release: ({ requestId }) => releaseSiteCost(parts, requestId),
    checkpoint() {},
    withdraw: async () => false,
    charged: async () => undefined,
  }
}

/** Units that calls of a reason have cost, or hold, on the day of the time `at`. */
async function siteCallsOfDay({ db }: Pick<Parts, 'db'>, reason: SiteCallReason, at: number): Promise<number> {
  const row = await db
    .selectFrom('site_cost_days')
    .select('amount')
    .where('reason', '=', reason)
    .where('day', '=', dayOf(at))
    .executeTakeFirst()
  return row?.amount ?? 0
}

interface WantedHold {
  readonly hold: Hold
  readonly model: string
  readonly allowance: SiteAllowance
}

async function holdSiteCost(parts: Parts, { hold, model, allowance }: WantedHold): Promise<void> {
  const { reason, unitsPerDay } = allowance
  const { requestId: request_id, amount } = hold
  const created_at = seconds(parts.now())
  const day = dayOf(created_at)
  const row = { request_id, user_id: 0, channel_id: 0, model, amount, reason, created_at }
  const fits =
    amount <= unitsPerDay &&
    (await inTransaction(parts.database, async (db) => {
      const taken = await db
        .insertInto('site_cost_days')
        .values({ reason, day, amount })
        .onConflict((conflict) =>
          conflict
            .columns(['reason', 'day'])
            .doUpdateSet({ amount: sql<number>`site_cost_days.amount + ${amount}` })
            .where(sql<boolean>`site_cost_days.amount + ${amount} <= ${unitsPerDay}`),
        )
        .returning('day')
        .executeTakeFirst()
      if (taken) await db.insertInto('site_costs').values(row).execute()
      return taken !== undefined
    }))
  if (fits) return
  const used = await siteCallsOfDay(parts, reason, created_at)
  fail('quota_insufficient', { need: amount, have: Math.max(0, unitsPerDay - used) })
}

interface SettledCall extends Pick<SiteAllowance, 'reason'> {
  readonly hold: Hold
  readonly charge: Charge
  readonly units: number
}

/** Idempotent: only an open hold can be ended. */
async function settleSiteCost(parts: Parts, { hold, charge, units, reason }: SettledCall): Promise<void> {
  const { channelId: channel_id, rollup } = charge
  await inTransaction(parts.database, async (db) => {
    const held = await endHold(db, hold.requestId, units)
    if (!held) return
    const day = dayOf(held.created_at)
    const request_id = `${reason}:${day}:${channel_id}:${rollup.model}`
    await db
      .insertInto('site_costs')
      .values({ request_id, user_id: 0, channel_id, model: rollup.model, amount: units, reason, created_at: day })
      .onConflict((conflict) =>
        conflict.column('request_id').doUpdateSet({
          amount: sql<number>`site_costs.amount + excluded.amount`,
          calls: sql<number>`site_costs.calls + 1`,
        }),
      )
      .execute()
  })
}

function releaseSiteCost({ database }: Parts, requestId: string): Promise<void> {
  return inTransaction(database, async (db) => void (await endHold(db, requestId, 0)))
}

/** Deletes the row of a hold and leaves `units` of it in the sum of its day. Undefined when it has ended before. */
async function endHold(db: Database['db'], requestId: string, units: number) {
  const held = await db
    .deleteFrom('site_costs')
    .where('request_id', '=', requestId)
    .returning(['amount', 'created_at', 'reason'])
    .executeTakeFirst()
  if (!held) return undefined
  const freed = held.amount - units
  await db
    .updateTable('site_cost_days')
    .set({ amount: sql<number>`amount - ${freed}` })
    .where('reason', '=', held.reason)
    .where('day', '=', dayOf(held.created_at))
    .execute()
  return held
}

async function inTransaction<Result>({ db }: Database, work: (db: Database['db']) => Promise<Result>): Promise<Result> {
  try {
    return await db.transaction().execute(work)
  } catch (error) {
    throw isDatabaseFailure(error) ? new AppError('database_unavailable', {}, { cause: error }) : error
  }
}

function dayOf(at: number): number {
  return at - (at % daySeconds)
}
