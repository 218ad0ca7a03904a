import { statSync } from 'node:fs'
import { Command } from 'commander'
import { writeBackup } from '../../base/db/backup.ts'
import { noteBackup } from '../../base/db/last-backup.ts'
import { openDatabase } from '../../base/db/open.ts'
import { messageOf } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
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
      const startedAt = performance.now()
      const { rows } = await interruptible('backup', (signal) => writeBackup(database, file, { onProgress, signal }))
      progress('')
      const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
      const bytes = statSync(file).size
      const noted = { made_at: seconds(Date.now()), duration_ms: Math.round(performance.now() - startedAt), bytes, rows: total }
      const unnoted = await noteBackup(database.db, noted).then(() => undefined, messageOf)
      return {
        ok: true,
        data: { file, bytes, rows, noted: unnoted === undefined },
        lines: [
          `${total} rows, ${bytes} bytes: ${file}`,
          'Keep the master key apart from it.',
          // The file is complete: whoever waits for it must not be told that it failed.
          ...(unnoted === undefined
            ? []
            : [`The server cannot tell how old it is, because the database took no note: ${unnoted}`]),
        ],
      }
    } finally {
      await database.close()
    }
  },
)
