import { Command } from 'commander'
import { type CompactPlan, compact, mb, planCompact } from '../../base/db/compact.ts'
import { openDatabase } from '../../base/db/open.ts'
import { prepareToRead, readServerEnv, reporting } from './command.ts'

export const compactCommand = reporting(
  new Command('compact')
    .description(
      'Write the file of SQLite anew without the space of deleted rows, while no server runs. PostgreSQL drops whole months of the log by itself.',
    )
    .option('--dry-run', 'only tell what it gives back, and what it needs in time and disk'),
  async ({ dryRun }: { readonly json?: true; readonly dryRun?: true }) => {
    const database = await openDatabase(readServerEnv())
    try {
      if (database.dialect === 'postgres')
        throw new Error('PostgreSQL keeps no space for months of the log that were deleted: there is nothing to compact')
      await prepareToRead(database)
      const plan = await planCompact(database)
      const { bytes, unusedBytes, neededBytes, freeBytes, seconds } = plan
      const needs = `${mb(unusedBytes)} of ${mb(bytes)} MB are the space of deleted rows. Needs about ${seconds} s and ${mb(neededBytes)} MB of disk; ${mb(freeBytes)} MB are free.`
      if (dryRun) return { ok: true, data: { dry_run: true, ...dataOf(plan) }, lines: [needs] }
      process.stderr.write(`${needs}\n`)
      const after = await compact(database)
      return {
        ok: true,
        data: { dry_run: false, ...dataOf(plan), bytes_after: after },
        lines: [`The file has ${mb(after)} MB now, ${mb(bytes - after)} less.`],
      }
    } finally {
      await database.close()
    }
  },
)

function dataOf({ bytes, unusedBytes, neededBytes, freeBytes, seconds }: CompactPlan) {
  return { bytes, unused_bytes: unusedBytes, needed_bytes: neededBytes, free_bytes: freeBytes, seconds }
}
