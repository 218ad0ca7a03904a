import { Command } from 'commander'
import { type OpenBackup, openBackup, restoreBackup } from '../../base/db/backup.ts'
import { type Database, openDatabase } from '../../base/db/open.ts'
import { readEnv } from '../../base/env.ts'
import { interruptible, type Outcome, progress, reporting } from './command.ts'

export const restoreCommand = reporting<{ json?: true; yes?: true }>(
  new Command('restore')
    .description(
      'Load a backup into the database that the settings name, SQLite or PostgreSQL, which must have no rows. Stop all servers first.',
    )
    .argument('<file>', 'what `sluice backup` wrote')
    .option('--yes', 'do it'),
  async ({ yes }, [file = '']) => {
    if (!yes) throw new Error('This fills the database that DATA_DIR or DATABASE_URL names: say --yes')
    const backup = await openBackup(file, { onProgress })
    try {
      return await restoreInto(await openDatabase(readEnv(process.env)), backup)
    } finally {
      await backup.close()
    }
  },
)

const noChecksum =
  'This backup is of an earlier version and carries no checksum: damage that leaves it readable was not looked for. Make a new one after the restore.'

const onProgress = (text: string) => progress(`restoring: ${text}`)

async function restoreInto(database: Database, backup: OpenBackup): Promise<Outcome> {
  try {
    const { rows } = await interruptible('restore', (signal) => restoreBackup(backup, database, { onProgress, signal }))
    progress('')
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
    return {
      ok: true,
      data: { rows, checksum: backup.hasChecksum },
      lines: [
        `${total} rows restored. Start with the master key of the backup, and run: sluice verify`,
        ...(backup.hasChecksum ? [] : [noChecksum]),
      ],
    }
  } finally {
    await database.close()
  }
}
