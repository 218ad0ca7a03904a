import type { Database, Queries } from './open.ts'

/** Reads several tables from one snapshot of the database: a concurrent commit is visible in all of them or in none. */
export function readSnapshot<Result>({ dialect, db }: Database, read: (db: Queries) => Promise<Result>): Promise<Result> {
  if (dialect === 'sqlite') return db.connection().execute(read)
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)
}
