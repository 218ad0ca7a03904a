import type { Queries } from './open.ts'
import type { Row } from './schema.ts'

/**
 * The newest backup that `sluice backup` has written, noted in the database that it was made of: the command may run on another machine
 * than the servers. Backups leave the note out, so that a restored database tells of none until one is made of it. `made_at` is when the
 * backup was complete, `bytes` the size of its file.
 */
type LastBackup = Omit<Row<'last_backup'>, 'id'>

const id = 1

export async function noteBackup(db: Queries, backup: LastBackup): Promise<void> {
  await db
    .insertInto('last_backup')
    .values({ id, ...backup })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...backup }))
    .execute()
}

/** Undefined before the first. */
export function readLastBackup(db: Queries): Promise<LastBackup | undefined> {
  return db.selectFrom('last_backup').select(['made_at', 'duration_ms', 'bytes', 'rows']).where('id', '=', id).executeTakeFirst()
}
