import type { SelectQueryBuilder } from 'kysely'
import type { Database } from './open.ts'

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
