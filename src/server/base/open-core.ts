import { randomBytes } from 'node:crypto'
import { Bus } from './bus/bus.ts'
import { connectBus } from './bus/connect.ts'
import { openSiblings } from './bus/siblings.ts'
import { openSecrets, readMasterKey } from './db/key-ring.ts'
import { type Database, openDatabase } from './db/open.ts'
import type { Env } from './env.ts'
import type { Logger } from './lib/log/logger.ts'
import { newMetrics } from './lib/process/metrics.ts'
import type { Clock } from './lib/time/clock.ts'
import type { Core } from './options/core.ts'
import { openOptions } from './options/store.ts'

interface OpenCore {
  readonly core: Core
  /** Path of a master key that this call has generated. */
  readonly createdKey: string | undefined
  /** Call it last: it closes the database. */
  close(): Promise<void>
}

interface CoreSettings {
  readonly now: Clock
  readonly steady: Clock
  readonly logger: Logger
  /** How long to wait for a database that cannot be reached; not at all if absent. */
  readonly databaseWaitMs?: number
  /** Brings the schema up to date, or refuses the database. Runs before anything is read or written. */
  readonly prepare: (database: Database) => Promise<void>
}

/** Opens the parts below all others: database, secrets, bus and options. Throws when one of them cannot be opened. */
export async function openCore(env: Env, settings: CoreSettings): Promise<OpenCore> {
  const { logger } = settings
  const database = await openDatabase(env, {
    onPoolError: (error) => logger.warn({ error }, 'lost a database connection'),
    waitMs: settings.databaseWaitMs ?? 0,
    tell: (reason) => logger.warn({ reason }, 'waiting for PostgreSQL, which cannot be reached'),
  })
  try {
    return await openOver(database, env, settings)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function openOver(database: Database, env: Env, { now, steady, logger, prepare }: CoreSettings): Promise<OpenCore> {
  const node = `${process.pid}-${randomBytes(6).toString('hex')}`
  await prepare(database)

  const siblings = await openSiblings(process.env)
  const { key, previous, created } = readMasterKey(env)
  const secrets = await openSecrets(database, key, now(), previous)
  const bus = new Bus(logger)
  const base = { env, now, steady, logger, metrics: newMetrics(), database, db: database.db, secrets, bus, node, siblings }
  const connection = await connectBus(base)
  const options = await openOptions(base)

  return {
    core: { ...base, options },
    createdKey: created,
    async close() {
      options.close()
      await connection.close()
      await bus.close()
      await siblings?.close()
      await database.close()
    },
  }
}
