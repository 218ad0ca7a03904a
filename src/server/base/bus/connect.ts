import { createHash } from 'node:crypto'
import type { Database } from '../db/open.ts'
import type { Logger } from '../lib/log/logger.ts'
import type { Bus } from './bus.ts'
import { openRedisTransport } from './redis.ts'
import { Revisions } from './revision.ts'
import type { Siblings } from './siblings.ts'
import { openSiblingsTransport } from './siblings-transport.ts'
import type { Transport } from './transport.ts'

interface BusParts {
  readonly env: { readonly REDIS_URL: string }
  readonly bus: Bus
  readonly database: Database
  readonly logger: Logger
  readonly node: string
  readonly siblings: Siblings | undefined
}

/**
 * Connects the bus with the other nodes: over PostgreSQL when that is the database, over Redis when it is configured, with the other
 * processes of this start directly, and always by the revisions in the database. Call it before anything is loaded that the bus keeps up to date.
 */
export async function connectBus(parts: BusParts): Promise<{ close(): Promise<void> }> {
  const { env, bus, database, logger, node, siblings } = parts
  const { db } = database
  const revisions = new Revisions({ db, bus, logger, node })
  const transports: Transport[] = []
  if (database.dialect === 'postgres') {
    const { openPostgresTransport } = await import('./postgres.ts')
    transports.push(openPostgresTransport({ url: database.direct.url, db, logger }, revisions))
  }
  if (siblings) transports.push(openSiblingsTransport(siblings, revisions))
  if (env.REDIS_URL !== '')
    transports.push(await openRedisTransport({ url: env.REDIS_URL, prefix: await redisPrefix(database), logger }, revisions))

  await revisions.start(transports)
  bus.connect(revisions)
  return {
    async close() {
      await revisions.close()
      await Promise.all(transports.map((transport) => transport.close()))
    },
  }
}

/** Separates installations that share a Redis: derived from the first data key, which differs between databases. */
export async function redisPrefix({ db }: Pick<Database, 'db'>): Promise<string> {
  const { id } = await db
    .selectFrom('key_ring')
    .select('id')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirstOrThrow()
  return `sluice:${createHash('sha256').update(id).digest('hex').slice(0, 16)}`
}
