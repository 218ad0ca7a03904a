// `npm run bench:lists`: measures the console's lists and sums over a long log, on both databases, through HTTP.
//   --rows N                      rows of the log, 1,000,000 by default
//   --targets sqlite,postgres     one of them only
//   --times N                     requests of each; the table has the fastest and the median
//   --people N                    searches at once, 50 by default
//   --write                       writes the table into docs/performance.md
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { searchAtOnce } from './bench/crowd-of-searches.mjs'
import { fillLog, spanSeconds } from './bench/fill-log.mjs'
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded } from './lib/install.mjs'
import { root } from './lib/process.mjs'
import { startPostgres } from './postgres-server.mjs'

const { values: given } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    targets: { type: 'string', default: 'sqlite,postgres' },
    times: { type: 'string', default: '9' },
    people: { type: 'string', default: '50' },
    write: { type: 'boolean' },
  },
})
const rows = Number(given.rows)
const times = Number(given.times)
const people = Number(given.people)
const crowdRounds = 5
const targets = given.targets.split(',')
const boundMs = 200
const listsTitle = '## Lists over a long log'
const daySeconds = 86_400
const heavy = 2

await installWhenNeeded({ tests: true })
await buildWhenStale({ only: ['server'] })

const { openApp } = await import('../dist/server/run/app.js')
const { listen } = await import('../dist/server/console/http/server.js')
const { readEnv } = await import('../dist/server/base/env.js')
const { rollUpHours } = await import('../dist/server/usage/sums/roll-up.js')

const folder = await mkdtemp(join(tmpdir(), 'sluice-lists-'))
const ends = [() => rm(folder, { recursive: true, force: true })]
try {
  const results = {}
  for (const target of targets) results[target] = await measure(target)
  const report = table(results)
  console.log(`\n${report}`)
  if (given.write) await write(report)
} finally {
  for (const end of ends.reverse()) await end()
}

async function measure(target) {
  const postgres = target === 'postgres' ? await startPostgres() : undefined
  if (postgres) ends.push(postgres.stop)
  const env = {
    ...readEnv({ TRUSTED_PROXIES: '127.0.0.1', ROOT_PASSWORD: 'only for this run' }),
    PORT: 0,
    DATA_DIR: join(folder, target),
    DATABASE_URL: postgres ? `${postgres.url}/postgres` : '',
    LOG_LEVEL: 'error',
  }
  if (postgres) await untilReady(env.DATABASE_URL)
  const open = await openApp(env)
  const server = await listen(open.app)
  const endSeconds = Math.floor(Date.now() / 1000)
  try {
    const { database } = open.app
    const { run, end } = await filler(database, env.DATABASE_URL)
    if (database.dialect === 'sqlite') await run('pragma synchronous = off')
    await fillLog({ dialect: database.dialect, run, rows, endSeconds, log: (text) => console.log(`${target}: ${text}`) })
    await end()
    console.log(`${target}: ${await rollUpHours(open.app)} hours summed up`)
    if (database.dialect === 'sqlite') database.raw.exec('pragma synchronous = full')
    const url = server.url.replace('localhost', '127.0.0.1')
    const measured = await askAll(open.app, url, endSeconds)
    const given = { db: open.app.db, url, endSeconds, people, rounds: crowdRounds, headersOf: headersOf(open.app) }
    const crowd = await searchAtOnce(given)
    console.log(`${target}: ${crowd}`)
    return { measured, crowd }
  } finally {
    await server.stop(1000)
    await open.close()
  }
}

/** A separate connection: the server's own has a short statement timeout. */
async function filler(database, connectionString) {
  if (database.dialect === 'sqlite') return { run: async (sql) => database.raw.exec(sql), end: async () => {} }
  const client = new pg.Client({ connectionString, statement_timeout: 0 })
  await client.connect()
  return { run: (sql) => client.query(sql), end: () => client.end() }
}

/** The port of PostgreSQL is open before it accepts queries. */
async function untilReady(connectionString) {
  for (let turn = 0; ; turn++) {
    const client = new pg.Client({ connectionString })
    const failure = await client.connect().then(
      () => client.end(),
      (error) => error,
    )
    if (!failure) return
    if (turn === 50) throw failure
    await setTimeout(200)
  }
}

async function askAll(app, url, endSeconds) {
  const as = headersOf(app)
  const [root, user] = [await as(1), await as(heavy)]
  const measured = {}
  let asked = 0
  for (const [name, path, own] of questions(endSeconds)) {
    const ms = []
    for (let turn = 0; turn <= times; turn++) {
      const startedAt = performance.now()
      // A different client address each time: the rate limit is not measured.
      const headers = { ...(own ? user : root), 'x-forwarded-for': `10.0.${asked >> 8}.${asked++ & 255}` }
      const response = await fetch(url + path, { headers })
      const answer = await response.json()
      ms.push(performance.now() - startedAt)
      if (!answer.success) throw new Error(`${path}: ${answer.message}`)
    }
    ms.sort((one, other) => one - other)
    measured[name] = { best: ms[0], middle: ms[Math.floor(ms.length / 2)] }
    console.log(`${name}: ${ms[0].toFixed(0)} ms at best, ${measured[name].middle.toFixed(0)} ms in the middle`)
  }
  return measured
}

/** Signs a user in. */
function headersOf({ sessions }) {
  return async (userId) => {
    const token = await sessions.create({ userId, address: '127.0.0.1', userAgent: 'bench' })
    return { cookie: `session=${token}`, 'new-api-user': String(userId) }
  }
}

function questions(endSeconds) {
  const at = (days) => endSeconds - days * daySeconds
  const list = (query) => `/api/log/?page_size=100&${query}`
  const mine = (query) => `/api/log/self?page_size=100&${query}`
  const month = `start_timestamp=${endSeconds - spanSeconds + 60}&end_timestamp=${endSeconds}`
  return [
    ['Log, newest 100', list('')],
    ['Log, today', list(`start_timestamp=${at(1)}`)],
    ['Log, page 1,000', list('p=1000')],
    ['Log, oldest 100', list('sort=created_at')],
    ['Log, from the oldest on, page 1,000', list('sort=created_at&p=1000')],
    ['Log, from the oldest on, a rare model', list('sort=created_at&model_name=model-rare')],
    ['Log, from the oldest on, a common group', list('sort=created_at&group=group-1')],
    ['Log, 25 days back by place', list(`before=${at(25)}-0`)],
    ['Log, a user', list(`username=user-${heavy}`)],
    ['Log, a small user', list('username=user-500')],
    ['Log, a model', list('model_name=model-14')],
    ['Log, a rare model', list('model_name=model-rare')],
    ['Log, models by a pattern', list('model_name=%25rare%25')],
    ['Log, a rare channel', list('channel=99')],
    ['Log, a rare group', list('group=rare')],
    ['Log, a common group', list('group=group-1')],
    ['Log, a token', list(`token_name=token-${heavy * 10}`)],
    ['Log, acts of admins', list('type=3')],
    ['Log, a request', list(`request_id=request-${Math.floor(rows / 3) - 1}`)],
    ['Log, a rare model of a user', list(`username=user-${heavy}&model_name=model-rare`)],
    ['Own log', mine(''), true],
    ['Own log, page 100', mine('p=100'), true],
    ['Own log, from the oldest on', mine('sort=created_at'), true],
    ['Own log, a rare model', mine('model_name=model-rare'), true],
    ['Own log, a rare token', mine('token_name=token-999999'), true],
    ['Sums, all', '/api/log/stat'],
    ['Sums, the month', `/api/log/stat?${month}`],
    ['Sums, a model', '/api/log/stat?model_name=model-14'],
    ['Sums, a user', `/api/log/stat?username=user-${heavy}`],
    ['Own sums', '/api/log/self/stat', true],
    ['Own sums, a rare token', '/api/log/self/stat?token_name=token-999999', true],
    ['Dashboard, own three days', `/api/data/self?start_timestamp=${at(3)}&end_timestamp=${endSeconds}`, true],
    ['Dashboard, three days of all', `/api/data/?start_timestamp=${at(3)}&end_timestamp=${endSeconds}`],
    ['Dashboard, users of 30 days', `/api/data/sums?by=user&grain=day&${month}`],
    [
      'Dashboard, channels of 7 days',
      `/api/data/sums?by=channel&grain=hour&start_timestamp=${at(7)}&end_timestamp=${endSeconds}`,
    ],
  ]
}

function table(results) {
  const names = Object.keys(Object.values(results)[0].measured)
  const titles = { sqlite: 'SQLite', postgres: 'PostgreSQL' }
  const head = ['Call', ...targets.flatMap((target) => [`${titles[target]} best ms`, 'middle ms']), `≤ ${boundMs} ms`]
  const lines = names.map((name) => {
    const figures = targets.map((target) => results[target].measured[name])
    const held = figures.every(({ middle }) => middle <= boundMs)
      ? 'yes'
      : figures.every(({ best }) => best <= boundMs)
        ? 'at best'
        : 'NO'
    return [name, ...figures.flatMap(({ best, middle }) => [best.toFixed(0), middle.toFixed(0)]), held]
  })
  const widths = head.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column].length)))
  const row = (cells) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  const crowds = targets.map((target) => `${titles[target]}: ${results[target].crowd}.`)
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores; ${process.platform} ${release()}; Node ${process.versions.node}; ${new Date().toISOString().slice(0, 10)}.`
  return [`${rows.toLocaleString('en-US')} rows. ${machine}`, '', row(head), rule, ...lines.map(row), '', ...crowds].join('\n')
}

/** The last section is written by `npm run bench -- --write`, which preserves the text before it. */
async function write(report) {
  const file = join(root, 'docs/performance.md')
  const text = await readFile(file, 'utf8')
  const intro = `Written by \`npm run bench:lists -- --rows ${rows} --write\`: calls of the console through HTTP, ${times + 1} times each, pages of 100 rows. The
log covers 30 days of 500 users; one has a tenth of it. "Rare" is 50 rows or fewer. The fastest and the middle answer of each. Sums of the
hours that are over are folded by the job \`roll-up-usage\`.`
  await writeFile(file, `${text.split(listsTitle, 1)[0]?.trimEnd()}\n\n${listsTitle}\n\n${intro}\n\n${report}\n`)
  console.log(`Written to ${file}`)
}
