import { userStatus } from '../../../contract/entities/user.ts'
import type { Queries } from '../../base/db/open.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { hourSeconds } from '../../usage/sums/hours.ts'
import type { App } from '../parts.ts'
import type { Measured, PastMeasured } from './measures.ts'
import type { Asked } from './rule-source.ts'

const usersMax = 200
const spentWithinSeconds = 86_400

/** Balances in US dollars of users who spent within a day, the lowest first. */
export async function measureBalances({ db, now, options }: App, { scope }: Asked): Promise<Measured[]> {
  const users = await readUsers(db, scope, seconds(now()) - spentWithinSeconds)
  return users.map(({ id, username, quota }) => ({
    subject: `user:${id}`,
    name: username,
    value: quota / options.current.QuotaPerUnit,
  }))
}

/** The balances at the end of each hour, computed back from the current ones by charges and credits. */
export async function pastBalances(
  { reader, now, options }: App,
  { scope, from, to, signal }: Asked & { from: number; to: number },
): Promise<PastMeasured[]> {
  const db = reader.queries(signal)
  const users = await readUsers(db, scope, from)
  if (users.length === 0) return []
  const changes = await readChanges(
    db,
    users.map(({ id }) => id),
    from,
  )
  const perUsd = options.current.QuotaPerUnit
  const thisHour = hourOf(seconds(now()))
  return users.flatMap(({ id, username, quota }) => {
    const ofUser = changes.get(id) ?? new Map<number, number>()
    const past: PastMeasured[] = []
    let balance = quota
    for (let hour = thisHour; hour >= hourOf(from); hour -= hourSeconds) {
      const measured = { subject: `user:${id}`, name: username, value: balance / perUsd, from: hour, to: hour + hourSeconds }
      if (hour <= to) past.push(measured)
      balance -= ofUser.get(hour) ?? 0
    }
    return past.reverse()
  })
}

function readUsers(db: Queries, scope: readonly string[], spentSince: number) {
  const ids = scope.flatMap((text) => (/^\d{1,15}$/.test(text) ? [Number(text)] : []))
  return db
    .selectFrom('users')
    .select(['id', 'username', 'quota'])
    .where('status', '=', userStatus.active)
    .where('deleted_at', 'is', null)
    .where('id', 'in', (spent) => spent.selectFrom('quota_data').select('user_id').where('created_at', '>=', hourOf(spentSince)))
    .$if(scope.length > 0, (query) => query.where((row) => row.or([row('username', 'in', scope), row('id', 'in', [0, ...ids])])))
    .orderBy('quota')
    .orderBy('id')
    .limit(usersMax)
    .execute()
}

/** Signed changes in quota units, by user and hour. */
async function readChanges(db: Queries, ids: readonly number[], from: number): Promise<Map<number, Map<number, number>>> {
  const changes = new Map<number, Map<number, number>>()
  const note = (id: number, at: number, units: number) => {
    const ofUser = changes.get(id) ?? new Map<number, number>()
    changes.set(id, ofUser.set(hourOf(at), (ofUser.get(hourOf(at)) ?? 0) + units))
  }
  const charges = await db
    .selectFrom('quota_data')
    .select(['user_id', 'created_at'])
    .select((row) => row.fn.sum<number>('quota').as('quota'))
    .where('user_id', 'in', ids)
    .where('created_at', '>=', hourOf(from))
    .groupBy(['user_id', 'created_at'])
    .execute()
  for (const { user_id, created_at, quota } of charges) note(user_id, created_at, -Number(quota))
  const credits = await db
    .selectFrom('ledger')
    .select(['user_id', 'created_at', 'amount'])
    .where('user_id', 'in', ids)
    .where('kind', '<>', 'charge')
    .where('created_at', '>=', hourOf(from))
    .execute()
  for (const { user_id, created_at, amount } of credits) note(user_id, created_at, amount)
  return changes
}

function hourOf(at: number): number {
  return at - (at % hourSeconds)
}
