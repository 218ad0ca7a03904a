import type { FirstRun, Storage, SystemInfo } from '../../../contract/entities/system.ts'
import { readLastBackup } from '../../base/db/last-backup.ts'
import { storageOf, tableSizes } from '../../base/db/storage.ts'
import { riskyProxies } from '../../base/lib/net/client-address.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Caller } from '../../base/options/core.ts'
import { releaseFeed } from '../../people/notify/latest-release.ts'
import type { App } from '../parts.ts'
import { memoryMb } from './note-node.ts'

const aliveSeconds = 60
const measuredMs = 10_000
const tablesMax = 8

/** The installation as it runs now. The answering node is in the list even before its first report. */
export async function readSystem(app: App): Promise<SystemInfo> {
  const { db, database, env, node, version, startedAt: started_at } = app
  const now = seconds(app.now())
  const rows = await db.selectFrom('nodes').selectAll().where('name', '!=', node).orderBy('started_at').execute()
  const own = { name: node, version, started_at, seen_at: now, memory_mb: memoryMb() }
  return {
    version,
    runtime: `Node.js ${process.versions.node}`,
    platform: `${process.platform} ${process.arch}`,
    database: database.dialect,
    redis: env.REDIS_URL !== '',
    started_at,
    now,
    risky_proxies: [...riskyProxies(env.TRUSTED_PROXIES)],
    last_backup: (await readLastBackup(db)) ?? null,
    update_feed: releaseFeed(app) !== '',
    nodes: [own, ...rows].map((row) => ({ ...row, alive: now - row.seen_at <= aliveSeconds, here: row.name === node })),
  }
}

/** What the database takes on the disk. To measure its tables, SQLite reads the whole file, for ten seconds at most. */
export async function readStorage({ database, reader }: App, disconnected: AbortSignal): Promise<Storage> {
  const { dialect } = database
  const { bytes, unusedBytes } = await storageOf({ dialect, db: reader.queries(disconnected) })
  const tooLong = AbortSignal.timeout(measuredMs)
  const tables = await tableSizes({ dialect, db: reader.queries(AbortSignal.any([disconnected, tooLong])) }).catch(
    (error: unknown) => {
      if (!tooLong.aborted) throw error
      return []
    },
  )
  return { database: dialect, bytes, unused_bytes: unusedBytes, tables: tables.slice(0, tablesMax) }
}

/** The completed steps of a new installation, of three. */
export async function readFirstRun({ db }: Pick<App, 'db'>, caller: Caller): Promise<FirstRun> {
  const [channel, token, call] = await Promise.all([
    db.selectFrom('channels').select('id').limit(1).executeTakeFirst(),
    db
      .selectFrom('tokens')
      .select('id')
      .where('user_id', '=', caller.id)
      .where('deleted_at', 'is', null)
      .limit(1)
      .executeTakeFirst(),
    db.selectFrom('ledger').select('id').where('kind', '=', 'charge').limit(1).executeTakeFirst(),
  ])
  return { has_channel: channel !== undefined, has_token: token !== undefined, has_call: call !== undefined }
}
