import { Migrator } from 'kysely'
import { migrations } from './migrations/index.ts'
import type { Database } from './open.ts'

/** Brings the schema up to date. Several nodes may call it at once: one runs, the others wait. Refuses a schema newer than this program. */
export async function migrate({ db, dialect }: Database): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: {
      getMigrations: async () => Object.fromEntries(migrations.map(({ name, up }) => [name, { up: (trx) => up(trx, dialect) }])),
    },
  })
  const first = await migrator.migrateToLatest()
  // SQLite has no lock for migrations: a process that started at the same moment may have been first. Then nothing is left to do.
  const { error, results } = first.error && dialect === 'sqlite' ? await migrator.migrateToLatest() : first
  const failed = results?.find((result) => result.status === 'Error')
  if (error) throw new Error(`Migration ${failed?.migrationName ?? ''} failed`, { cause: error })
}
