import { type SelectQueryBuilder, sql } from 'kysely'
import type { Database, Within } from './open.ts'

/**
 * A query that locks its rows until the end of the transaction, so that decisions made from them stay valid. A query for several rows
 * sorts them by id, as the ledger's commits do, so that the two never deadlock. On SQLite a transaction holds the only write lock
 * already.
 */
export function locked<Joined, From extends keyof Joined, Output>(
  { database }: { readonly database: Pick<Database, 'dialect'> },
  query: SelectQueryBuilder<Joined, From, Output>,
): SelectQueryBuilder<Joined, From, Output> {
  return database.dialect === 'postgres' ? query.forUpdate() : query
}

/**
 * The number of rows of a table to which nobody else adds any until the end of the transaction, so that a limit on them holds. It is
 * the first statement of its transaction, which therefore holds nothing that the current writers of the table could wait for.
 */
export async function countLocked(
  { database }: { readonly database: Pick<Database, 'dialect'> },
  within: Within,
  table: 'quality_checks' | 'destinations',
): Promise<number> {
  if (database.dialect === 'postgres') await sql`lock table ${sql.table(table)} in share row exclusive mode`.execute(within)
  const { count } = await within
    .selectFrom(table)
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
