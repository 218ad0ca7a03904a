import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spanSeconds } from '../../scripts/bench/fill-log.mjs'
import { type Log, logType } from '../../src/contract/entities/log.ts'
import { partitionLog } from '../../src/server/base/db/log-partitions.ts'
import { migrate } from '../../src/server/base/db/migrate.ts'
import { openDatabase } from '../../src/server/base/db/open.ts'
import { newRequestId } from '../../src/server/base/lib/secrets/ids.ts'
import { createRoot } from '../../src/server/people/accounts/create-root.ts'
import { rollUpHours } from '../../src/server/usage/sums/roll-up.ts'
import { rootPassword, startServer, type TestServer } from '../helpers/app.ts'
import { cheapPasswords, testCore } from '../helpers/core.ts'
import type { TestDatabase } from '../helpers/databases.ts'
import {
  type ExecutedStatement,
  type ExplainingPostgres,
  nodesOf,
  type PlanNode,
  pagesOf,
  startExplainingPostgres,
} from '../helpers/executed-plans.ts'
import { fillWithLog } from '../helpers/long-log.ts'
import { newFolder } from '../helpers/templates.ts'

/**
 * What searches of a long log read on PostgreSQL: SEARCH_ROWS rows (1,000,000). The console's calls are judged by the plans of the
 * statements that they execute, as decisions/0026 and usage/log/rows.ts promise them: no parallel workers, no scan of a whole partition, no
 * sorting of many rows, and few pages, or those of few hours, whatever the length of the log. Their times are printed.
 */
const rows = Number(process.env.SEARCH_ROWS ?? 1_000_000)
const endSeconds = Math.floor(Date.now() / 1000)
const beginSeconds = endSeconds - spanSeconds
const daySeconds = 86_400
const hours = spanSeconds / 3600
const turns = 3
/** What a page with its total reads of indexes, of sums by the hour and of rows: 64 MB. */
const pagesMax = 8000
/** Rows that one step of a plan may sort, or read besides those of whole hours. */
const fewRows = 20_000
/** How many rows of the log have a number that is `first` more than a multiple of `each`. */
const rare = (each: number, first: number) => (rows <= first ? 0 : Math.floor((rows - 1 - first) / each) + 1)

interface Site {
  readonly postgres: ExplainingPostgres
  readonly server: TestServer
  /** A request whose charge is in the ledger. */
  readonly request: string
  /** Pages of the rows of an hour. */
  readonly hourPages: number
  /** Quota by what the sums are about. */
  readonly quota: Readonly<Record<string, number>>
}

interface Search {
  readonly name: string
  readonly path: string
  /** The rows of so many hours may be read, each twice; by one statement those of `hoursAtOnce`, where these are fewer. */
  readonly hoursMax?: number
  readonly hoursAtOnce?: number
  /** Index entries that are skipped or counted on the way. */
  readonly skipped?: number
  /** The time limit may end it, because it reads as much as its words ask for. */
  readonly mayEnd?: true
  /** How many rows are found on the page, and what each of them is. */
  readonly found?: readonly [count: number, is: (log: Log) => boolean]
  /** The quota that the sum has. */
  readonly sum?: string
}

const list = (name: string, query: string, more: Omit<Search, 'name' | 'path'> = {}): Search => ({
  name: `list: ${name}`,
  path: `/api/log/?page_size=100&${query}`,
  found: [100, () => true],
  ...more,
})
const sums = (name: string, query: string, more: Omit<Search, 'name' | 'path'> = {}): Search => ({
  name: `sums: ${name}`,
  path: `/api/log/stat?${query}`,
  ...more,
})
const page = (count: number) => Math.min(100, count)
const day = { start: endSeconds - 15 * daySeconds, end: endSeconds - 14 * daySeconds }
const span = (start: number, end: number) => `start_timestamp=${start}&end_timestamp=${end}`
const isOf = (model: string) => (log: Log) => log.model_name === model

/** user-2 has a tenth of the rows, each model about a sixtieth, each channel a thirtieth. */
const searches: readonly Search[] = [
  list('newest', ''),
  list('a day', span(day.start, day.end), { found: [100, (log) => log.created_at >= day.start && log.created_at <= day.end] }),
  list('an hour', span(day.start, day.start + 3600)),
  list('a user', 'username=user-2', { found: [100, (log) => log.username === 'user-2'] }),
  list('a user and a day', `username=user-2&${span(day.start, day.end)}`, { found: [100, (log) => log.username === 'user-2'] }),
  list('a user without rows', 'username=root&type=2', { found: [0, () => false] }),
  // The hours that are not rolled up yet are read whole, once for the page and once for the total.
  list('a token', 'token_name=token-20', { hoursMax: 5, found: [100, (log) => log.token_name === 'token-20'] }),
  list('a rare token', 'token_name=token-999999', {
    hoursMax: 5 + rare(500_000, 7),
    found: [page(rare(500_000, 7)), (log) => log.token_name === 'token-999999'],
  }),
  list('a token of a user that has none of the name', 'username=user-7&token_name=none', {
    hoursMax: 5,
    found: [0, () => false],
  }),
  list('a channel', 'channel=7', { found: [100, (log) => log.channel === 7] }),
  list('a rare channel', 'channel=99', {
    hoursMax: 1 + rare(250_000, 17),
    found: [page(rare(250_000, 17)), (log) => log.channel === 99],
  }),
  list('a model', 'model_name=model-14', { found: [100, isOf('model-14')] }),
  list('a rare model', 'model_name=model-rare', {
    hoursMax: 1 + rare(200_000, 11),
    found: [page(rare(200_000, 11)), isOf('model-rare')],
  }),
  list('models by a pattern', 'model_name=%25rare%25', {
    hoursMax: 1 + rare(200_000, 11),
    found: [page(rare(200_000, 11)), isOf('model-rare')],
  }),
  list('a model that no call had', 'model_name=nothing-like-it', { found: [0, () => false] }),
  list('a group', 'group=group-1', { found: [100, (log) => log.group === 'group-1'] }),
  list('a model of a user', 'username=user-2&model_name=model-14', { found: [100, isOf('model-14')] }),
  list('acts of admins', `type=${logType.manage}`, { found: [page(rare(5000, 9)), (log) => log.type === logType.manage] }),
  list('a request', 'request_id=REQUEST', { found: [1, (log) => log.request_id.startsWith('request-')] }),
  // Without a charge it may be of another node's clock, a day before or after its own.
  list('a request without a charge', `request_id=${newRequestId((day.start + 3600) * 1000)}`, {
    hoursMax: 49,
    found: [0, () => false],
  }),
  list('the last page that the total offers', 'p=100'),
  list('the last page, from the oldest on', 'sort=created_at', {
    found: [100, (log) => log.created_at < beginSeconds + daySeconds],
  }),
  list('the last rows, by cursor', `before=${beginSeconds + 3600}-0`, {
    found: [100, (log) => log.created_at <= beginSeconds + 3600],
  }),
  list('the last page of all, by its number', `p=${Math.floor(rows / 100)}`, { skipped: 2 * rows, mayEnd: true }),
  {
    name: 'texts that begin with a word which none has',
    path: '/api/log/search?keyword=none',
    hoursMax: hours,
    // Day by day.
    hoursAtOnce: 25,
    mayEnd: true,
  },
  sums('everything', '', { sum: 'everything' }),
  sums('the month', span(beginSeconds, endSeconds), { hoursMax: 2, sum: 'everything' }),
  sums('a user', 'username=user-2', { sum: 'user' }),
  sums('a token', 'token_name=token-20', { hoursMax: 3, sum: 'token' }),
  sums('a channel', 'channel=7', { sum: 'channel' }),
  sums('a model', 'model_name=model-14', { sum: 'model' }),
  sums('a model of a user', 'username=user-2&model_name=model-14'),
  { name: 'chart: three days', path: `/api/data/?${span(endSeconds - 3 * daySeconds, endSeconds)}` },
  { name: 'chart: users of the month', path: `/api/data/sums?by=user&grain=day&${span(beginSeconds + 60, endSeconds)}` },
  {
    name: 'chart: channels of a week',
    path: `/api/data/sums?by=channel&grain=hour&${span(endSeconds - 7 * daySeconds, endSeconds)}`,
  },
]

/** Exported files are read in pieces: no statement of theirs takes long. */
const files = ['', 'username=user-2', 'token_name=token-20', 'channel=7', span(day.start, day.end)]

describe(`a log of ${rows} rows on PostgreSQL`, () => {
  let site: Site
  const figures: string[] = []
  beforeAll(async () => {
    site = await filledSite()
  }, 60 * 60_000)
  afterAll(async () => {
    console.log(`${rows} rows, ${turns} times each:\n${figures.join('\n')}`)
    await site?.server.stop()
    await site?.postgres.stop()
  })

  it.each(searches)('$name', async ({ name, path, hoursMax = 0, hoursAtOnce = hoursMax, skipped = 0, mayEnd, found, sum }) => {
    const times: number[] = []
    let pages = 0
    let count = 0
    for (let turn = 0; turn < turns; turn++) {
      const startedMs = performance.now()
      const response = await ask(site, path.replace('REQUEST', site.request))
      const { code = '', data } = (await response.json()) as { code?: string; data: { items: Log[]; quota: number } }
      times.push(performance.now() - startedMs)
      const statements = await site.postgres.executed('sluice-reader')
      const rowsMax = fewRows + (hoursAtOnce * 2 * rows) / hours + skipped
      expect(statements.flatMap((statement) => problemsOf(statement, rowsMax))).toEqual([])
      count = statements.length
      pages = statements.reduce((total, statement) => total + pagesOf(statement), 0)
      // 150 index entries, at least, are on a page.
      const mayRead = (ofHours: number) => pagesMax + ofHours * site.hourPages * 2 + skipped / 150
      expect(pages).toBeLessThan(mayRead(hoursMax))
      expect(Math.max(...statements.map(pagesOf))).toBeLessThan(mayRead(hoursAtOnce))
      if (code === 'log_search_timeout' && mayEnd) continue
      expect([code, count > 0]).toEqual(['', true])
      if (found) expect([data.items.length, data.items.every(found[1])]).toEqual([found[0], true])
      if (sum) expect(data.quota).toBe(site.quota[sum])
    }
    figures.push(`${name}: ${times.map((ms) => Math.round(ms)).join(', ')} ms; ${pages} pages in ${count} statements`)
  })

  it.each(files)('export: %s', async (query) => {
    const startedMs = performance.now()
    const { body } = await ask(site, `/api/log/export.csv?${query}`)
    const reader = body?.getReader()
    let bytes = 0
    // The heading comes first, then some hundred rows.
    while (bytes < 1000) bytes += (await reader?.read())?.value?.length ?? Number.POSITIVE_INFINITY
    const ms = performance.now() - startedMs
    await reader?.cancel()
    const statements = await site.postgres.executed('sluice-reader')
    expect(statements.flatMap((statement) => problemsOf(statement, fewRows + (2 * rows) / hours))).toEqual([])
    expect(bytes).toBeLessThan(Number.POSITIVE_INFINITY)
    const pages = Math.max(...statements.map(pagesOf))
    expect(pages).toBeLessThan(pagesMax + 2 * site.hourPages)
    // What fits into the buffers of a connection.
    const read = statements.reduce((total, { plan }) => total + plan['Actual Rows'], 0)
    expect(read).toBeLessThan(100_000)
    figures.push(
      `export, ${query || 'everything'}: ${Math.round(ms)} ms to the first rows; at most ${pages} pages in a statement`,
    )
  })
})

let asked = 0

/** Each call from another address: the rate limit is not measured. */
function ask({ server }: Site, path: string): Promise<Response> {
  const address = `10.${(asked >> 16) & 255}.${(asked >> 8) & 255}.${asked++ & 255}`
  return server.raw(`GET ${path}`, undefined, { 'x-forwarded-for': address })
}

/** What is against the promises in the plan of a statement, which may read so many rows of the log in one step. */
function problemsOf({ text, plan }: ExecutedStatement, rowsMax: number): string[] {
  return nodesOf(plan).flatMap((node) => {
    const { 'Node Type': type, 'Relation Name': relation = '', Plans: below = [] } = node
    const sorted = type === 'Sort' ? Math.max(...below.map(rowsOf)) : 0
    const read = rowsOf(node) + (node['Rows Removed by Filter'] ?? 0) * node['Actual Loops']
    if (type.startsWith('Gather')) return [`parallel workers: ${text}`]
    if (sorted > fewRows) return [`sorts ${sorted} rows: ${text}`]
    if (/^logs/.test(relation) && read > rowsMax) return [`reads ${read} rows of ${relation} (${type}): ${text}`]
    return []
  })
}

const rowsOf = (node: PlanNode) => node['Actual Rows'] * node['Actual Loops']

/** A site with a month of calls in the partitions of several months, whose hours are rolled up and whose tables are analysed. */
async function filledSite(): Promise<Site> {
  const postgres = await startExplainingPostgres()
  const env = { DATABASE_URL: postgres.url, DATA_DIR: newFolder() }
  const database: TestDatabase = { kind: 'postgres', env, open: () => openDatabase(env), drop: async () => {} }
  const open = await openDatabase(env)
  if (open.dialect !== 'postgres') throw new Error('This is about PostgreSQL')
  await migrate(open)
  const core = await testCore(open, { env: { ROOT_PASSWORD: rootPassword } })
  await createRoot({ ...core, passwords: cheapPasswords() })
  const tenDaysBefore = () => (beginSeconds - 10 * daySeconds) * 1000
  await partitionLog(open, { now: tenDaysBefore, signal: new AbortController().signal, tell: () => {} })
  await fillWithLog(open, rows, endSeconds)
  await rollUpHours(core)
  core.options.close()
  await open.close()

  const operator = new pg.Client({ connectionString: postgres.url, statement_timeout: 0 })
  await operator.connect()
  await operator.query('vacuum analyze')
  const [{ pages }] = await read<{ pages: string }>(
    operator,
    `select sum(pg_relation_size(inhrelid)) / 8192 as pages from pg_inherits where inhparent = 'logs'::regclass`,
  )
  const [{ request }] = await read<{ request: string }>(
    operator,
    `select substr(reference, 8) as request from ledger where kind = 'charge'`,
  )
  const [quota] = await read<Record<string, string>>(
    operator,
    `select sum(quota) as everything, sum(quota) filter (where user_id = 2) as user, sum(quota) filter (where token_name = 'token-20') as token,
      sum(quota) filter (where channel_id = 7) as channel, sum(quota) filter (where model_name = 'model-14') as model
    from logs where type = ${logType.consume}`,
  )
  await operator.end()

  await postgres.explain()
  const server = await startServer('postgres', { database, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  return {
    postgres,
    server,
    request,
    hourPages: Number(pages) / hours,
    quota: Object.fromEntries(Object.entries(quota).map(([name, units]) => [name, Number(units)])),
  }
}

/** The rows of a query that has at least one. */
async function read<Row extends pg.QueryResultRow>(client: pg.Client, query: string): Promise<[Row, ...Row[]]> {
  const [first, ...more] = (await client.query<Row>(query)).rows
  if (!first) throw new Error(`No row: ${query}`)
  return [first, ...more]
}
