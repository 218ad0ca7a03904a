import { once } from 'node:events'
import { sql } from 'kysely'
import type { Core } from '../../base/options/core.ts'
import { startThread } from './sqlite/sqlite-threads.ts'

/** A user whose balance is not the sum of the ledger. */
export interface Discrepancy {
  readonly userId: number
  readonly quota: number
  readonly ledger: number
}

const query = `
select users.id as "userId", users.quota, coalesce(sums.amount, 0) as ledger
from users left join (select user_id, sum(amount) as amount from ledger group by user_id) sums on sums.user_id = users.id
where users.quota <> coalesce(sums.amount, 0)
order by users.id`

/** Compares every balance with the ledger, in one consistent view. Reads the whole ledger: for a job, not for a request. */
export async function reconcile({ db, database }: Core): Promise<Discrepancy[]> {
  if (database.dialect === 'postgres') return (await sql.raw<Discrepancy>(query).execute(db)).rows
  const thread = startThread('sqlite-query', { file: database.file, query })
  // The columns are those of the query.
  const [rows] = (await once(thread, 'message')) as [Discrepancy[]]
  return rows
}
