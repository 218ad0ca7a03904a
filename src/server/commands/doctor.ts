import { access, constants, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { Command } from 'commander'
import { sql } from 'kysely'
import { channelStatus } from '../../contract/entities/channel-status.ts'
import { newRedisClient } from '../bus/redis-client.ts'
import { openChannel } from '../channels/model-index.ts'
import { obstacleToPartitions } from '../db/log-partitions.ts'
import { indexesToBuild } from '../db/online-indexes.ts'
import { storageOf, tableSizes } from '../db/storage.ts'
import { type Env, readEnv } from '../env.ts'
import { riskyProxies } from '../lib/client-address.ts'
import { callConfigured, UpstreamAgents } from '../lib/http-client.ts'
import { CallFailure } from '../lib/upstream-http/exchange.ts'
import { version } from '../lib/version.ts'
import type { Core } from '../options/core.ts'
import { setAsideOf } from '../wallet/journal-files.ts'
import { type Outcome, progress, reporting, withCore } from './command.ts'

/** The result of one check. `warning`: the server runs, but something should be improved. */
interface Check {
  readonly name: string
  readonly state: 'ok' | 'warning' | 'failed'
  readonly found: string
  /** How to fix it. */
  readonly advice?: string
}

export const doctorCommand = reporting(
  new Command('doctor').description(
    'Check what the server needs: settings, Node, processes, port, disk, database, journal, master key, clock, Redis, and whether each enabled channel can be reached. No key is sent and nothing is changed. Exits with 1 when a check failed.',
  ),
  async () => {
    const checks = await examine()
    progress('')
    return outcomeOf(checks)
  },
)

async function examine(): Promise<Check[]> {
  const env = readSettings()
  if ('state' in env) return [checkNode(), env]
  const opened = await withCore((core) => examineOpen(core)).catch((error: unknown): Check[] => [
    failed(
      'Database',
      messageOf(error),
      'Check DATABASE_URL, DATA_DIR and the master key. A server that was never started has no database.',
    ),
  ])
  return [
    checkNode(),
    { name: 'Settings', state: 'ok', found: `${env.DATABASE_URL === '' ? 'embedded SQLite' : 'PostgreSQL'}, version ${version}` },
    checkProcesses(env),
    ...checkProxies(env),
    await checkPort(env),
    ...(env.DATABASE_URL === '' ? [await checkDisk(env.DATA_DIR)] : []),
    ...(env.REDIS_URL === '' ? [] : [await checkRedis(env.REDIS_URL)]),
    ...opened,
  ]
}

function readSettings(): Env | Check {
  try {
    return readEnv(process.env)
  } catch (error) {
    return failed('Settings', messageOf(error), 'The settings and their values are in docs/reference/environment.md.')
  }
}

/** A fetched Node that is older gets a warning: security releases come about every two months. */
const daysFresh = 90

/** `FETCHED_NODE` is set by `scripts/run.mjs`: the day on which the Node that it fetched was published. */
function checkNode(): Check {
  const { node } = process.versions
  const { FETCHED_NODE } = process.env
  if (FETCHED_NODE === undefined) return { name: 'Node', state: 'ok', found: node }
  const days = Math.floor((Date.now() - Date.parse(FETCHED_NODE)) / 86_400_000)
  const found = `${node}, fetched from npm; this version is ${days} days old`
  if (days <= daysFresh) return { name: 'Node', state: 'ok', found }
  const advice = 'Install Node 24 on this machine: a fetched one is only replaced when Sluice is updated.'
  return { name: 'Node', state: 'warning', found, advice }
}

function checkProcesses({ WORKERS }: Env): Check {
  const cores = availableParallelism()
  const base = { name: 'Processes', found: `WORKERS=${WORKERS} on ${cores} ${cores === 1 ? 'core' : 'cores'}` }
  if (WORKERS <= cores) return { ...base, state: 'ok' }
  return {
    ...base,
    state: 'warning',
    advice: 'More processes than cores only take memory. WORKERS=auto starts one for each core.',
  }
}

function checkProxies({ TRUSTED_PROXIES }: Env): Check[] {
  if (TRUSTED_PROXIES === '') return []
  const name = 'Proxies'
  const risky = riskyProxies(TRUSTED_PROXIES)
  if (risky.length === 0) return [{ name, state: 'ok', found: TRUSTED_PROXIES }]
  const found = `TRUSTED_PROXIES trusts ${risky.join(', ')}: every address, or the gateway of this machine`
  const advice =
    'Name the fixed address of the proxy alone: everybody behind a trusted address can name another one as their own.'
  return [{ name, state: 'warning', found, advice }]
}

/** Checks that the port is free, or used by a Sluice server. */
async function checkPort({ HOST, PORT }: Env): Promise<Check> {
  const name = 'Port'
  const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(PORT, HOST, () => server.close(() => resolve(undefined)))
  })
  if (!error) return { name, state: 'ok', found: `${HOST}:${PORT} is free` }
  if (error.code !== 'EADDRINUSE')
    return failed(
      name,
      `${HOST}:${PORT}: ${error.message}`,
      'Set HOST to an address of this machine and PORT to one that may be used.',
    )
  const running = await runningVersion(HOST, PORT)
  if (running !== undefined) return { name, state: 'ok', found: `Sluice ${running} listens on ${HOST}:${PORT}` }
  return failed(name, `${HOST}:${PORT} is used by another program`, 'Set PORT to a free one, or stop that program.')
}

async function runningVersion(host: string, port: number): Promise<string | undefined> {
  const local = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const url = `http://${local.includes(':') ? `[${local}]` : local}:${port}/api/status`
  const agents = new UpstreamAgents()
  try {
    const { body } = await callConfigured(agents, { url, timeoutMs: 3000, sizeBytesMax: mega })
    const answer = JSON.parse(body.toString('utf8')) as { data?: { sluice_version?: unknown } }
    return typeof answer.data?.sluice_version === 'string' ? answer.data.sluice_version : undefined
  } catch {
    return undefined
  } finally {
    await agents.close()
  }
}

const mega = 1024 * 1024
const freeLeast = 100 * mega
const freeEnough = 1024 * mega

async function checkDisk(folder: string): Promise<Check> {
  const name = 'Disk'
  try {
    await access(folder, constants.W_OK)
    const { bavail, bsize } = await statfs(folder)
    const free = bavail * bsize
    const found = `${Math.floor(free / mega)} MB free in ${folder}`
    if (free >= freeEnough) return { name, state: 'ok', found }
    const advice = 'Make room, or shorten how long the log is kept: a charge that cannot be written ends new calls.'
    return { name, state: free < freeLeast ? 'failed' : 'warning', found, advice }
  } catch (error) {
    return failed(name, messageOf(error), 'DATA_DIR must be a folder that the user of the server may write to.')
  }
}

async function checkRedis(url: string): Promise<Check> {
  const client = await newRedisClient({ url, commandsMax: 10 })
  client.on('error', () => {})
  try {
    await Promise.race([
      client.connect(),
      new Promise((_resolve, reject) => setTimeout(() => reject(new Error('it did not answer in time')), 4000).unref()),
    ])
    await client.ping()
    return { name: 'Redis', state: 'ok', found: 'answers' }
  } catch (error) {
    const advice =
      'Check REDIS_URL. Without Redis news and limits go over the database, and each node counts for itself on SQLite.'
    return { name: 'Redis', state: 'warning', found: messageOf(error), advice }
  } finally {
    client.destroy()
  }
}

async function examineOpen(core: Core): Promise<Check[]> {
  const upstream = new UpstreamAgents({ blockPrivate: core.env.BLOCK_PRIVATE_UPSTREAMS })
  try {
    const found = `${core.database.dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, with the schema of this version; the master key opens it`
    return [
      { name: 'Database', state: 'ok', found },
      ...checkJournal(core),
      ...(await checkIndexes(core)),
      ...(await checkStorage(core)),
      ...(await checkPooler(core)),
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

/** Deleted space below this share of the file, and below so many bytes, is not worth a stop of the server. */
const unusedShare = 0.25
const unusedLeast = 100 * mega
const largestTables = 5

/** The largest tables; on SQLite also the space that `compact` gives back. */
async function checkStorage({ database }: Core): Promise<Check[]> {
  progress('measuring the tables')
  const { bytes, unusedBytes } = await storageOf(database)
  const tables = (await tableSizes(database)).slice(0, largestTables)
  const sizes = tables.map(
    (table) => `${table.name} ${textOfMb(table.bytes)}${table.partitions > 0 ? ` in ${table.partitions} partitions` : ''}`,
  )
  const found = `${textOfMb(bytes)}: ${sizes.join(', ')}`
  const partitioning = database.dialect === 'postgres' ? await obstacleToPartitions(database) : undefined
  if (partitioning !== undefined)
    return [
      {
        name: 'Storage',
        state: 'warning',
        found: `${found}; ${partitioning}`,
        advice: 'Deleted rows of the log give no space back until it is partitioned by month.',
      },
    ]
  if (unusedBytes < Math.max(unusedLeast, bytes * unusedShare)) return [{ name: 'Storage', state: 'ok', found }]
  const advice = `${textOfMb(unusedBytes)} are the space of deleted rows: stop the server and run compact to give it back.`
  return [{ name: 'Storage', state: 'warning', found, advice }]
}

const textOfMb = (bytes: number) => `${Math.ceil(bytes / mega)} MB`

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
    await callConfigured(upstream, { url: origin, proxy: first.setting.proxy ?? '', timeoutMs: 5000, sizeBytesMax: mega })
  } catch (error) {
    const isAnswer = error instanceof CallFailure && error.kind === 'too_large'
    const advice = 'Check its address and its proxy, and that this machine may reach them.'
    if (!isAnswer) return failed(name, `${row.name}: ${origin}: ${reasonOf(error)}`, advice)
  }
  return { name, state: 'ok', found: `${row.name}: ${origin} answers` }
}

/** The reason of an error with its first cause: a name that was not found, a refused connection, or an invalid certificate. */
function reasonOf(error: unknown): string {
  let cause = error
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause
  return cause === error ? messageOf(error) : `${messageOf(error)} (${messageOf(cause)})`
}

function failed(name: string, found: string, advice: string): Check {
  return { name, state: 'failed', found, advice }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const marks = { ok: 'ok     ', warning: 'WARNING', failed: 'FAILED ' } as const

function outcomeOf(checks: readonly Check[]): Outcome {
  return {
    ok: checks.every(({ state }) => state !== 'failed'),
    data: { checks },
    lines: checks.flatMap(({ name, state, found, advice }) => [
      `${marks[state]} ${name}: ${found}`,
      ...(advice === undefined ? [] : [`        ${advice}`]),
    ]),
  }
}
