import { Command } from 'commander'
import { migrate } from '../../base/db/migrate.ts'
import { type PlannedStep, planMigrations } from '../../base/db/migration-plan.ts'
import { openDatabase } from '../../base/db/open.ts'
import { readEnv } from '../../base/env.ts'
import { readServerEnv, reporting } from './command.ts'

/** About what an ordinary disk takes; an index has about as many bytes for each row. */
const rowsPerSecond = 200_000
const bytesPerRow = 60

export const migrateCommand = reporting(
  new Command('migrate')
    .description(
      'Bring the database up to date, as the start of the server does. The server builds indexes of large tables on PostgreSQL after its start, beside requests.',
    )
    .option('--dry-run', 'only tell what each migration does, what it locks and what it needs'),
  async ({ dryRun }: { readonly json?: true; readonly dryRun?: true }) => {
    const database = await openDatabase(dryRun ? readServerEnv() : readEnv(process.env))
    try {
      const planned = await planMigrations(database)
      if (!dryRun) await migrate(database)
      const lines = planned.flatMap(({ name, steps }) => [name, ...steps.map((step) => `  ${textOf(step)}`)])
      const summary =
        planned.length === 0
          ? 'The database is up to date.'
          : `${dryRun ? 'Would run' : 'Has run'}: ${planned.length} ${planned.length === 1 ? 'migration' : 'migrations'}.`
      return { ok: true, data: { dry_run: dryRun === true, migrations: planned }, lines: [...lines, summary] }
    } finally {
      await database.close()
    }
  },
)

function textOf({ what, lock, isOnline, rows }: PlannedStep): string {
  const locks = { none: 'locks nothing', moment: 'locks its table for a moment', whole: 'locks its table while it runs' }[lock]
  const needs =
    rows === 0
      ? []
      : [`about ${rows} rows`, `${Math.ceil(rows / rowsPerSecond)} s`, `${Math.ceil((rows * bytesPerRow) / 1e6)} MB of disk`]
  return `${what}: ${[locks, ...needs, ...(isOnline ? ['built by the server after its start'] : [])].join(', ')}`
}
