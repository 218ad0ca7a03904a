import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { logType } from '../../../contract/entities/log.ts'
import { type SumsBy, sumsBy } from '../../../contract/entities/usage-sum.ts'
import type { Queries } from '../../base/db/open.ts'
import type { NewRow, Row } from '../../base/db/schema.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { hourSeconds } from './hours.ts'
import { add, dimensionColumns, eachSum, flatten, type Key, rollupEnd, type Sum, type Sums } from './rollup.ts'

/** An hour is rolled up this long after its end, so that charges that commit late are included. */
const slackSeconds = 120
/** For this long an hour is checked repeatedly, and rolled up again when charges were added to it. */
const watchedSeconds = 3 * 86_400
const pauseMs = 5
const daySeconds = 86_400

/**
 * Rolls up past hours into sums by each dimension, and stores the sums of their tokens; oldest first, each hour in one transaction.
 * Idempotent, also when several runs overlap. Returns the number of hours.
 */
export async function rollUpHours(core: Core, signal?: AbortSignal): Promise<number> {
  const now = seconds(core.now())
  const end = now - slackSeconds - hourSeconds
  await forgetAfter(core.db, end)
  const mark = await rollupEnd(core.db)
  let rolledUp = 0
  for (let from = Math.max(0, mark - watchedSeconds); from < mark; from += daySeconds) {
    for (const hour of await changedHours(core.db, { from, to: Math.min(mark, from + daySeconds) - 1 })) {
      await rollUpHour(core, hour)
      rolledUp++
    }
    await setTimeout(pauseMs)
  }
  for (let hour = await nextHour(core.db, mark); hour !== undefined && hour <= end && !signal?.aborted; ) {
    await rollUpHour(core, hour)
    rolledUp++
    await setTimeout(pauseMs)
    hour = await nextHour(core.db, hour + hourSeconds)
  }
  return rolledUp
}

/** Deletes hours that a wrong clock rolled up before they were over. */
async function forgetAfter(db: Queries, end: number): Promise<void> {
  const future = db.deleteFrom('usage_hours').where('side', 'in', sumsBy).where('hour', '>', end)
  const { numDeletedRows } = await future.executeTakeFirstOrThrow()
  // No index begins with the hour.
  if (numDeletedRows > 0n) await db.deleteFrom('token_hours').where('hour', '>', end).execute()
}

async function nextHour(db: Queries, from: number): Promise<number | undefined> {
  const next = await db
    .selectFrom('quota_data')
    .select('created_at')
    .where('created_at', '>=', from)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return next?.created_at
}

async function rollUpHour(core: Core, hour: number): Promise<void> {
  await core.db.transaction().execute(async (within) => {
    const rows = await within.selectFrom('quota_data').selectAll().where('created_at', '=', hour).execute()
    await within
      .insertInto('usage_hours')
      .values(sumsBy.map((side): NewRow<'usage_hours'> => ({ side, hour, sums: JSON.stringify(sumsOf(rows, side)) })))
      .onConflict((conflict) => conflict.columns(['side', 'hour']).doUpdateSet({ sums: sql`excluded.sums` }))
      .execute()
    await within
      .insertInto('token_hours')
      .columns(['user_id', 'token_name', 'hour', 'count', 'quota'])
      .expression((eb) =>
        eb
          .selectFrom('logs')
          .select(['user_id', 'token_name', eb.val(hour).as('hour')])
          .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number>('quota').as('quota')])
          .where('created_at', '>=', hour)
          .where('created_at', '<', hour + hourSeconds)
          .where('type', '=', logType.consume)
          .where('token_name', '<>', '')
          .groupBy(['user_id', 'token_name']),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['user_id', 'token_name', 'hour'])
          // Rows that were counted before may have been purged since: stored sums must not decrease.
          .doUpdateSet({ count: larger('count'), quota: larger('quota') }),
      )
      .execute()
  })
}

function larger(column: 'count' | 'quota') {
  const [known, read] = [sql.ref(`token_hours.${column}`), sql.ref(`excluded.${column}`)]
  return sql<number>`case when ${known} > ${read} then ${known} else ${read} end`
}

function sumsOf(rows: readonly Row<'quota_data'>[], side: SumsBy): Sums {
  const sums = new Map<Key, Sum>()
  for (const row of rows) {
    const key = row[dimensionColumns[side]]
    const sum = sums.get(key) ?? { quota: 0, count: 0, token_used: 0 }
    add(sum, row)
    sums.set(key, sum)
  }
  return flatten([...sums].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Hours whose rollup differs from their hour buckets. */
async function changedHours(db: Queries, { from, to }: { from: number; to: number }): Promise<number[]> {
  const rolledUp = await db
    .selectFrom('usage_hours')
    .select(['hour', 'sums'])
    .where('side', '=', 'group')
    .where('hour', '>=', from)
    .where('hour', '<=', to)
    .execute()
  const known = new Map(rolledUp.map(({ hour, sums }) => [hour, totalsOf(sums)]))
  const rolled = await db
    .selectFrom('quota_data')
    .select('created_at as hour')
    .select(({ fn }) => [
      fn.sum<number>('quota').as('quota'),
      fn.sum<number>('count').as('count'),
      fn.sum<number>('token_used').as('token_used'),
    ])
    .where('created_at', '>=', from)
    .where('created_at', '<=', to)
    .groupBy('created_at')
    .execute()
  return rolled
    .filter(({ hour, quota, count, token_used }) => known.get(hour) !== `${quota}:${count}:${token_used}`)
    .map(({ hour }) => hour)
}

function totalsOf(text: string): string {
  const total = { quota: 0, count: 0, token_used: 0 }
  // Written by `rollUpHour`.
  eachSum(JSON.parse(text) as Sums, (_key, sum) => add(total, sum))
  return `${total.quota}:${total.count}:${total.token_used}`
}
