import { sql } from 'kysely'
import { backupHoursMax } from '../../../contract/entities/alert.ts'
import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { isWorthCompacting } from '../../../contract/entities/system.ts'
import { readLastBackup } from '../../base/db/last-backup.ts'
import { obstacleToPartitions } from '../../base/db/log-partitions.ts'
import { indexesToBuild } from '../../base/db/online-indexes.ts'
import { storageOf, type TableSize, tableSizes } from '../../base/db/storage.ts'
import { messageOf } from '../../base/lib/failure.ts'
import { environmentProxy } from '../../base/lib/net/environment-proxy.ts'
import { callConfigured, UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { readPostgresAddress } from '../../base/lib/net/postgres-address.ts'
import { proxyFailureIn } from '../../base/lib/net/proxy-connect.ts'
import { CallFailure } from '../../base/lib/net/upstream-http/exchange.ts'
import type { Core } from '../../base/options/core.ts'
import { openChannel } from '../../gateway/channels/index/model-index.ts'
import { setAsideOf } from '../../money/ledger/sqlite/journal-files.ts'
import { type Check, failed } from './check.ts'
import { progress } from './command.ts'

/** Checks the database, what is in it, and whether its channels can be reached. */
export async function checkInstallation(core: Core): Promise<Check[]> {
  const upstream = new UpstreamAgents({ blockPrivate: core.env.BLOCK_PRIVATE_UPSTREAMS, proxyOf: environmentProxy(core.env) })
  try {
    const found = `${core.database.dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, with the schema of this version; the master key opens it`
    return [
      { name: 'Database', state: 'ok', found },
      ...checkJournal(core),
      ...(await checkIndexes(core)),
      await checkStorage(core),
      ...(await checkPooler(core)),
      ...(await checkHosts(core)),
      await checkBackup(core),
      await checkClock(core),
      ...(await checkChannels(core, upstream)),
    ]
  } finally {
    await upstream.close()
  }
}

/** SQLite alone has a journal. */
function checkJournal({ database }: Core): Check[] {
  if (database.dialect !== 'sqlite') return []
  const files = setAsideOf(database)
  const name = 'Journal'
  if (files.length === 0) return [{ name, state: 'ok', found: 'no file of it was set aside' }]
  const advice =
    'Charges in them may be missing from the ledger. See docs/operations/backup.md, then move them to another folder.'
  return [failed(name, `set aside: ${files.join(', ')}`, advice)]
}

/** Through a pooler the limits of statements outside of transactions are those of the role. */
async function checkPooler({ database, db }: Core): Promise<Check[]> {
  if (database.dialect === 'sqlite' || !database.isPooled) return []
  const { rows } = await sql<{ user: string; limit: string }>`
    select current_user as user, current_setting('lock_timeout') as limit`.execute(db)
  const [{ user, limit } = { user: '', limit: '0' }] = rows
  const hasDirect = !database.direct.isPooled
  const found = `a pooler in transaction mode; DATABASE_DIRECT_URL is ${hasDirect ? 'set' : 'absent'}, lock_timeout of ${user} is ${limit}`
  const advice = [
    ...(hasDirect
      ? []
      : ['Set DATABASE_DIRECT_URL to the address of the database itself: without it news between nodes takes seconds.']),
    ...(limit === '0'
      ? [
          `Let the role limit statements: alter role "${user}" set lock_timeout = '1s'; alter role "${user}" set statement_timeout = '30s'.`,
        ]
      : []),
  ]
  const base = { name: 'Pooler', found }
  return [advice.length === 0 ? { ...base, state: 'ok' } : { ...base, state: 'warning', advice: advice.join(' ') }]
}

/** Of a database with several hosts. */
async function checkHosts({ database }: Core): Promise<Check[]> {
  if (database.dialect === 'sqlite') return []
  const { describeHosts } = await import('../../base/db/postgres-hosts.ts')
  const { hosts, session } = readPostgresAddress(database.url)
  if (hosts.length === 1) return []
  const described = await describeHosts(hosts)
  const advice = [
    ...(described.every(({ isUsable }) => isUsable)
      ? []
      : ['A host that is away cannot take over: start it, or leave it out of DATABASE_URL.']),
    ...(session === 'any'
      ? ['Add target_session_attrs=read-write to DATABASE_URL: without it a standby is taken as the database.']
      : []),
  ]
  const base = { name: 'Hosts', found: described.map(({ found }) => found).join('; ') }
  return [advice.length === 0 ? { ...base, state: 'ok' } : { ...base, state: 'warning', advice: advice.join(' ') }]
}

/** On PostgreSQL the server builds indexes of large tables after a migration. */
async function checkIndexes({ database }: Core): Promise<Check[]> {
  if (database.dialect === 'sqlite') return []
  const { missing } = await indexesToBuild(database)
  const name = 'Indexes'
  if (missing.length === 0) return [{ name, state: 'ok', found: 'complete' }]
  const found = `missing: ${missing.map((index) => `${index.name} of ${index.table}`).join(', ')}`
  const advice =
    'A running server builds them one after the other; Settings, Jobs and nodes, shows the progress. Until then lists and searches are slow.'
  return [{ name, state: 'warning', found, advice }]
}

const mega = 1024 * 1024
const largestTables = 5

/** The largest tables; on SQLite also the space that `compact` gives back. */
async function checkStorage({ database }: Core): Promise<Check> {
  progress('measuring the tables')
  const { bytes, unusedBytes } = await storageOf(database)
  const largest = (await tableSizes(database)).slice(0, largestTables)
  const found = `${textOfMb(bytes)}: ${largest.map(textOfTable).join(', ')}`
  const name = 'Storage'
  const obstacle = database.dialect === 'postgres' ? await obstacleToPartitions(database) : undefined
  if (obstacle !== undefined) {
    const advice = 'Deleted rows of the log give no space back until it is partitioned by month: see docs/operations/storage.md.'
    return { name, state: 'warning', found: `${found}; ${obstacle}`, advice }
  }
  if (!isWorthCompacting({ bytes, unused_bytes: unusedBytes })) return { name, state: 'ok', found }
  const advice = `${textOfMb(unusedBytes)} are the space of deleted rows: stop the server and run compact to give it back.`
  return { name, state: 'warning', found, advice }
}

function textOfTable({ name, bytes, partitions }: TableSize): string {
  return `${name} ${textOfMb(bytes)}${partitions > 0 ? ` in ${partitions} partitions` : ''}`
}

function textOfMb(bytes: number): string {
  return `${Math.ceil(bytes / mega)} MB`
}

/** Backups that were made in another way are not known. */
async function checkBackup({ db, now }: Core): Promise<Check> {
  const name = 'Backup'
  const last = await readLastBackup(db)
  if (!last) {
    const advice =
      'Let `sluice backup` run every day, unless the database is backed up in another way. See docs/operations/backup.md.'
    return { name, state: 'warning', found: 'none was made of this database with `sluice backup`', advice }
  }
  const { made_at, bytes, rows, duration_ms } = last
  const found = `${new Date(made_at * 1000).toISOString()}, ${rows} rows, ${bytes} bytes, in ${(duration_ms / 1000).toFixed(1)} s`
  if (now() / 1000 - made_at <= backupHoursMax * 3600) return { name, state: 'ok', found }
  const advice = `It is older than ${backupHoursMax} hours: see why \`sluice backup\` has not run, or has failed.`
  return { name, state: 'warning', found, advice }
}

const skewMostMs = 2000

/** Compares the clock with that of PostgreSQL; on SQLite the newest log row must not be in the future. */
async function checkClock(core: Core): Promise<Check> {
  const isShared = core.database.dialect === 'postgres'
  const nowMs = core.now()
  const otherMs = isShared ? await clockOfPostgres(core) : await newestRowMs(core)
  const aheadMs = otherMs - nowMs
  const here = new Date(nowMs).toISOString()
  if (aheadMs <= skewMostMs && (!isShared || aheadMs >= -skewMostMs)) return { name: 'Clock', state: 'ok', found: here }
  return {
    name: 'Clock',
    state: 'warning',
    found: `${here} here, ${new Date(otherMs).toISOString()} in the database`,
    advice: 'Synchronise the clocks (NTP): leases, logins and limits depend on them.',
  }
}

async function clockOfPostgres({ db }: Core): Promise<number> {
  const { rows } = await sql<{ ms: string }>`select extract(epoch from clock_timestamp()) * 1000 as ms`.execute(db)
  return Number(rows[0]?.ms)
}

async function newestRowMs({ db }: Core): Promise<number> {
  const row = await db.selectFrom('logs').select('created_at').orderBy('created_at', 'desc').limit(1).executeTakeFirst()
  return (row?.created_at ?? 0) * 1000
}

const atOnce = 8
const answerBytesMax = 1024 * 1024

/**
 * Checks that something answers at the address of each enabled channel, over its proxy. Any status is accepted, because no key is
 * sent.
 */
async function checkChannels(core: Core, upstream: UpstreamAgents): Promise<Check[]> {
  const rows = await core.db
    .selectFrom('channels')
    .select('id')
    .where('status', '=', channelStatus.enabled)
    .orderBy('id')
    .execute()
  if (rows.length === 0)
    return [
      {
        name: 'Channels',
        state: 'warning',
        found: 'none is enabled',
        advice: 'Add a channel in the console: without one no call is answered.',
      },
    ]
  const checks: Check[] = []
  const left = rows.map(({ id }) => id)
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      progress(`channel ${id}`)
      checks.push(await checkChannel(core, upstream, id))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return checks.toSorted((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }))
}

async function checkChannel(core: Core, upstream: UpstreamAgents, id: number): Promise<Check> {
  const name = `Channel ${id}`
  const opened = await openChannel(core, id).catch((error: unknown) => messageOf(error))
  if (typeof opened === 'string') return failed(name, opened, 'Correct its settings in the console, and test it there.')
  const { row, keys } = opened
  const [first] = keys
  if (!first) return failed(name, `${row.name} has no key`, 'Enter its key in the console.')
  if (!/^https?:/.test(first.baseUrl))
    return { name, state: 'ok', found: `${row.name}: its address follows from its key; not asked` }
  const { origin } = new URL(first.baseUrl)
  try {
    await callConfigured(upstream, {
      url: origin,
      proxy: first.setting.proxy ?? '',
      timeoutMs: 5000,
      sizeBytesMax: answerBytesMax,
    })
  } catch (error) {
    const isAnswer = error instanceof CallFailure && error.kind === 'too_large'
    const advice = 'Check its address and its proxy, and that this machine may reach them.'
    if (!isAnswer) return failed(name, `${row.name}: ${origin}: ${reasonOf(error)}`, advice)
  }
  return { name, state: 'ok', found: `${row.name}: ${origin} answers` }
}

/** The reason of an error with its first cause: a name that was not found, a refused connection, or an invalid certificate. */
function reasonOf(error: unknown): string {
  const proxyFailure = proxyFailureIn(error)
  if (proxyFailure) return `${messageOf(error)} (${proxyFailure.message})`
  let cause = error
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause
  return cause === error ? messageOf(error) : `${messageOf(error)} (${messageOf(cause)})`
}
