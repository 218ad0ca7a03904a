import { statSync } from 'node:fs'
import { Command } from 'commander'
import { writeBackup } from '../db/backup.ts'
import { openDatabase } from '../db/open.ts'
import { interruptible, prepareToRead, progress, readServerEnv, reporting } from './command.ts'

export const backupCommand = reporting(
  new Command('backup')
    .description(
      'Write all rows of the database into one file, of one consistent state, also while servers run. The master key is not in it.',
    )
    .argument('<file>', 'which must not exist'),
  async (_options, [file = '']) => {
    const database = await openDatabase(readServerEnv())
    try {
      await prepareToRead(database)
      const onProgress = (text: string) => progress(`backing up: ${text}`)
      const { rows } = await interruptible('backup', (signal) => writeBackup(database, file, { onProgress, signal }))
      progress('')
      const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
      const bytes = statSync(file).size
      return {
        ok: true,
        data: { file, bytes, rows },
        lines: [`${total} rows, ${bytes} bytes: ${file}`, 'Keep the master key apart from it.'],
      }
    } finally {
      await database.close()
    }
  },
)
