import { Command } from 'commander'
import { restoreBackup } from '../db/backup.ts'
import { openDatabase } from '../db/open.ts'
import { readEnv } from '../env.ts'
import { progress, reporting } from './command.ts'

export const restoreCommand = reporting<{ json?: true; yes?: true }>(
  new Command('restore')
    .description(
      'Load a backup into the database that the settings name, SQLite or PostgreSQL, which must have no rows. Stop all servers first.',
    )
    .argument('<file>', 'what `sluice backup` wrote')
    .option('--yes', 'do it'),
  async ({ yes }, [file = '']) => {
    if (!yes) throw new Error('This fills the database that DATA_DIR or DATABASE_URL names: say --yes')
    const database = await openDatabase(readEnv(process.env))
    try {
      const { rows } = await restoreBackup(file, database, (text) => progress(`restoring: ${text}`))
      progress('')
      const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
      return {
        ok: true,
        data: { rows },
        lines: [`${total} rows restored. Start with the master key of the backup, and run: sluice verify`],
      }
    } finally {
      await database.close()
    }
  },
)
