import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { masterKeyFile } from '../../base/db/key-ring.ts'
import { migrate, requireCurrentSchema } from '../../base/db/migrate.ts'
import { copyDatabaseFile, type Database, databaseFile, openDatabase } from '../../base/db/open.ts'
import { type Env, readEnv } from '../../base/env.ts'
import { newLogger } from '../../base/lib/log/logger.ts'
import { openCore } from '../../base/open-core.ts'
import type { Core } from '../../base/options/core.ts'
import type { IntoExisting } from '../import/context.ts'
import { type Family, type FamilyName, families } from '../import/families.ts'
import { openLitellmSource } from '../import/litellm-source.ts'
import { openSource } from '../import/open-source.ts'
import { linesOfReport } from '../import/report.ts'
import { runImport } from '../import/run.ts'
import type { Source } from '../import/source.ts'
import { inTemporaryFolder, progress, reporting } from './command.ts'

interface Options {
  readonly json?: true
  readonly logs?: string
  readonly logsDays?: number
  readonly intoExisting?: IntoExisting
  readonly dryRun?: true
  readonly yes?: true
}

export const importCommand = reporting<Options>(
  new Command('import')
    .description(
      'Take over a database of new-api or one-api, or the channels of LiteLLM, into the database that the settings of the server name',
    )
    .addArgument(new Argument('<family>', 'the program that the data comes from').choices(Object.keys(families)))
    .argument('[source]', 'a file, or the address of a database; default: SQL_DSN')
    .option('--logs <source>', 'the database of the log if it is a separate one; default: LOG_SQL_DSN')
    .option('--logs-days <number>', 'import log rows of the last days only', wholeDays)
    .addOption(new Option('--into-existing <way>', 'what to do with users whose names already exist').choices(['rename', 'skip']))
    .option(
      '--dry-run',
      'report what would be done, and write nothing: in a temporary copy of an embedded database, on PostgreSQL in one transaction that is rolled back and locks rows meanwhile',
    )
    .option('--yes', 'do it'),
  async ({ intoExisting = 'refuse', logs: logsWanted, logsDays, dryRun = false, yes }, args) => {
    const [name = '', given = process.env.SQL_DSN ?? ''] = args
    // commander accepts only the names of families.
    const family: Family = families[name as FamilyName]
    const hasLogs = Object.hasOwn(family.columns, 'logs')
    if (logsWanted && !hasLogs) throw new Error(`No log is taken over from ${family.name}: leave out --logs`)
    const logsGiven = logsWanted ?? (hasLogs ? process.env.LOG_SQL_DSN : undefined)
    if (!yes && !dryRun)
      throw new Error(
        'This writes into the database that DATA_DIR or DATABASE_URL names: try --dry-run first, then repeat with --yes',
      )
    if (given === '') throw new Error('Give the database: a file, an address, or SQL_DSN')
    const source = family === families.litellm ? await openLitellmSource(given) : await openSource(given, progress)
    const logs = logsGiven ? await openLogs(logsGiven).catch((error) => closeAndThrow(source, error)) : undefined
    const logsSince = logsDays === undefined ? 0 : Math.trunc(Date.now() / 1000) - logsDays * daySeconds
    try {
      const report = await withDestination(dryRun, (core) =>
        runImport(core, {
          family,
          source,
          logs,
          logsSince,
          intoExisting,
          dryRun,
          onProgress: progress,
        }),
      )
      progress('')
      const notes = process.env.REDIS_CONN_STRING ? [redisNote] : []
      return { ok: report.balances.agree, data: { ...report, notes }, lines: [...linesOfReport(report), ...notes] }
    } finally {
      await logs?.close()
      await source.close()
    }
  },
)

const daySeconds = 86_400
const redisNote =
  'REDIS_CONN_STRING: nothing was read from Redis, which only holds copies. Stop the old server before the import, so that it writes its pending updates.'

function wholeDays(text: string): number {
  const days = Number(text)
  if (!Number.isSafeInteger(days) || days < 0) throw new InvalidArgumentError('Give a whole number of days.')
  return days
}

async function openLogs(given: string): Promise<Source> {
  const logs = await openSource(given, progress)
  if (logs.tables.has('logs')) return logs
  return closeAndThrow(logs, new Error('The database that --logs or LOG_SQL_DSN names has no table `logs`'))
}

async function closeAndThrow(source: Source, error: unknown): Promise<never> {
  await source.close()
  throw error
}

/**
 * The database of the server, which is created if it does not exist. A dry run gets a copy of an embedded database in a folder that
 * is removed afterwards: its one long transaction would block the writes of a running server.
 */
async function withDestination<Result>(dryRun: boolean, work: (core: Core) => Promise<Result>): Promise<Result> {
  const env = readEnv(process.env)
  if (!dryRun) return withDatabase(env, migrate, work)
  if (await isAbsent(env))
    return inTemporaryFolder('dry-run', (DATA_DIR) =>
      withDatabase({ ...env, DATABASE_URL: '', DATA_DIR, MASTER_KEY: '', MASTER_KEY_FILE: '' }, migrate, work),
    )
  if (env.DATABASE_URL !== '') return withDatabase(env, requireCurrentSchema, work)
  return inTemporaryFolder('dry-run', (DATA_DIR) => {
    progress('copying the database')
    copyDatabaseFile(join(env.DATA_DIR, databaseFile), join(DATA_DIR, databaseFile))
    return withDatabase({ ...env, DATA_DIR, MASTER_KEY_FILE: masterKeyFile(env) }, migrate, work)
  })
}

async function isAbsent(env: Env): Promise<boolean> {
  if (env.DATABASE_URL === '') return !existsSync(join(env.DATA_DIR, databaseFile))
  const database = await openDatabase(env)
  try {
    return (await database.db.introspection.getTables()).length === 0
  } finally {
    await database.close()
  }
}

async function withDatabase<Result>(
  env: Env,
  prepare: (database: Database) => Promise<void>,
  work: (core: Core) => Promise<Result>,
): Promise<Result> {
  const clock = { now: Date.now, steady: () => performance.now() }
  const { core, close } = await openCore(env, { ...clock, logger: newLogger('error'), prepare })
  try {
    return await work(core)
  } finally {
    await close()
  }
}
