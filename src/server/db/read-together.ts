import type { Database, Queries } from './open.ts'

/** Reads from several tables as they are at one moment: what others commit meanwhile is in all of them or in none. */
export function readTogether<Result>({ dialect, db }: Database, read: (db: Queries) => Promise<Result>): Promise<Result> {
  if (dialect === 'sqlite') return db.connection().execute(read)
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)
}
