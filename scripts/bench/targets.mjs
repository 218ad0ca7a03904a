// The targets of the benchmark, each started on a free port: the provider alone, and in front of it nginx, the floor, and Sluice.
import { execFile } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CompiledQuery } from 'kysely'
import { freePort, signIn, startGateway } from '../lib/gateway.mjs'
import { ended, root, startChild } from '../lib/process.mjs'
import { startPostgres } from '../postgres-server.mjs'

const run = promisify(execFile)
const has = (command, ...args) =>
  run(command, args).then(
    () => true,
    (error) => error.code !== 'ENOENT',
  )

/** The CPU placement of processes: the gateway on the first core, all others on the second. Without two cores or taskset, any core. */
export async function placement() {
  const pins = availableParallelism() >= 2 && (await has('taskset', '--version'))
  return { pins, gateway: pins ? ['taskset', '-c', '0'] : [], rest: pins ? ['taskset', '-c', '1'] : [] }
}

/** Moves a running process, and what it starts from now on, to the core of the processes beside the gateway. */
export async function pinToRest(pid) {
  await run('taskset', ['-a', '-p', '-c', '1', String(pid)])
}

/** Compiles the provider and the load generator, or returns their slower JavaScript versions. */
export async function tools(folder) {
  const source = (name) => join(root, 'scripts/bench', name)
  if (!(await has('gcc', '--version'))) {
    return { compiled: false, upstream: [process.execPath, source('upstream.mjs')], load: [process.execPath, source('load.mjs')] }
  }
  for (const name of ['upstream', 'load']) await run('gcc', ['-O2', '-o', join(folder, name), source(`${name}.c`)])
  return { compiled: true, upstream: [join(folder, 'upstream')], load: [join(folder, 'load')] }
}

export async function startUpstream(command, prefix) {
  const child = startChild([...prefix, ...command], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await firstNumber(child, 'The provider of the benchmark did not start')
  return { name: 'direct', port, keys: ['sk-none'], pids: async () => [], stop: () => stopped(child) }
}

/** The smallest relay of the same Node: what a gateway without any feature costs here. */
export async function startFloor(upstreamPort, prefix) {
  const program = join(root, 'scripts/bench/floor.mjs')
  const child = startChild([...prefix, process.execPath, program, String(upstreamPort)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await firstNumber(child, 'The floor of the benchmark did not start')
  const memoryKb = await residentKb(child.pid)
  return { name: 'floor', port, keys: ['sk-none'], memoryKb, pids: async () => [child.pid], stop: () => stopped(child) }
}

/** A program that only walks through memory, on the core of the load. */
export function startNeighbour(megabytes, prefix) {
  const program = join(root, 'scripts/bench/neighbour.mjs')
  const child = startChild([...prefix, process.execPath, program, String(megabytes)], { stdio: ['ignore', 'ignore', 'inherit'] })
  return { name: 'neighbour', stop: () => stopped(child) }
}

function firstNumber(child, problem) {
  return new Promise((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(Number(String(chunk))))
    child.once('exit', () => reject(new Error(problem)))
  })
}

/** @returns undefined when nginx is not installed */
export async function startNginx(folder, upstreamPort, prefix) {
  const home = join(folder, 'nginx')
  if (!(await has('nginx', '-v'))) return undefined
  await mkdir(home, { recursive: true })
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${home}/${name};`)
    .join(' ')
  await writeFile(
    join(home, 'nginx.conf'),
    `daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid ${home}/pid; error_log ${home}/error.log crit;
events { worker_connections 8192; }
http {
  access_log off; ${temporary} keepalive_requests 1000000000; keepalive_timeout 600s;
  upstream provider { server 127.0.0.1:${upstreamPort}; keepalive 1024; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / { proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
  }
}
`,
  )
  const child = startChild([...prefix, 'nginx', '-p', home, '-e', `${home}/error.log`, '-c', `${home}/nginx.conf`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await answers(port, child)
  return { name: 'nginx', port, keys: ['sk-none'], pids: () => familyOf(child.pid), stop: () => stopped(child) }
}

/**
 * Sluice with all features enabled: tokens, a price, a channel, durable charges and log rows. `database` is sqlite or postgres,
 * `users` the number of calling users, `isOfMember` whether the caller is a member of an organisation instead, `checkout` a folder with a built
 * Sluice.
 */
export async function startSluice(
  folder,
  {
    name,
    database,
    upstreamPort,
    place,
    models,
    tokens,
    users = 1,
    isOfMember = false,
    nodeArgs = [],
    more = {},
    workers = 1,
    checkout = root,
  },
) {
  const postgres = database === 'postgres' ? await startPostgres({ durable: true }) : undefined
  if (postgres && place.pins) await pinToRest(postgres.pid)
  const password = 'benchmark-1'
  const env = {
    DATA_DIR: join(folder, name),
    DATABASE_URL: postgres ? `${postgres.url}/postgres` : '',
    ROOT_PASSWORD: password,
    LOG_LEVEL: 'warn',
    WORKERS: String(workers),
    ...more,
  }
  // Several processes may use every core.
  const prefix = workers === 1 ? place.gateway : []
  let gateway = await startGateway({ port: await freePort(), env, prefix, folder: checkout })
  const call = await signIn(gateway.url, { password })
  const ownKey = await seed(call, { upstreamPort, models })
  const key = isOfMember ? await seedMember(call) : ownKey

  // Time and memory of the second start are reported: the database exists, as in production.
  await gateway.stop()
  const onDatabase = (work) => withDatabase(checkout, env, work)
  await onDatabase((db) => addTokens(db, tokens - 1))
  const others = await onDatabase((db) => addUsers(db, users - 1))
  gateway = await startGateway({ port: await freePort(), env, prefix, nodeArgs, folder: checkout })
  const memoryKb = await residentKb(gateway.pid)
  return {
    name,
    keys: [key, ...others],
    password,
    port: Number(new URL(gateway.url).port),
    pids: () => familyOf(gateway.pid),
    startMs: gateway.startMs,
    memoryKb,
    charged: () => onDatabase(countCharges),
    /** Writes changed pages to the disk now: PostgreSQL does that for minutes, while another target is measured. */
    checkpoint: async () => {
      if (postgres) await onDatabase((db) => db.executeQuery(CompiledQuery.raw('checkpoint')))
    },
    stop: async () => {
      await gateway.stop()
      await postgres?.stop()
    },
  }
}

async function seed(call, { upstreamPort, models }) {
  await call('PUT /api/option/', {
    body: { key: 'ModelRatio', value: JSON.stringify(Object.fromEntries(models.map((model) => [model, 0.001]))) },
  })
  const body = {
    type: 1,
    name: 'bench',
    key: 'sk-upstream',
    base_url: `http://127.0.0.1:${upstreamPort}`,
    models: models.filter((model) => !model.includes('translated')).join(','),
    groups: ['default'],
  }
  await call('POST /api/channel/', { body })
  // An upstream whose format differs from that of the callers.
  const translated = models.filter((model) => model.includes('translated')).join(',')
  await call('POST /api/channel/', { body: { ...body, type: 14, name: 'bench translated', models: translated } })
  return newKey(call, {})
}

/** A token of a member three teams deep, whose calls count in a budget at each height and in one of the organisation. */
async function seedMember(call) {
  const { id } = await call('POST /api/organisation/', { body: { name: 'Bench', quota: 1_000_000_000_000 } })
  const path = `/api/organisation/${id}`
  const { items } = await call(`GET ${path}/members`)
  const [{ id: member }] = items
  const places = [
    ['organisation', id],
    ['member', member],
  ]
  let team = 0
  for (const name of ['Top', 'Middle', 'Low']) {
    const teams = await call(`POST ${path}/teams`, { body: { name, parent_id: team } })
    team = teams.find((each) => each.name === name).id
    places.push(['team', team])
  }
  await call(`PUT ${path}/teams/members`, { body: { team_id: team, member_id: member } })
  for (const [scope, subject] of places)
    await call(`POST ${path}/budgets`, { body: { scope, subject: String(subject), period: 'day', amount: 1_000_000_000_000 } })
  return newKey(call, { organisation_id: id, team_id: team })
}

async function newKey(call, more) {
  const { key } = await call('POST /api/token/', { body: { name: 'bench', unlimited_quota: true, ...more } })
  return key.startsWith('sk-') ? key : `sk-${key}`
}

/** Runs `work` on the database of a gateway: the console limits the calls of a client. */
async function withDatabase(checkout, env, work) {
  const { openDatabase } = await import(join(checkout, 'dist/server/base/db/open.js'))
  const database = await openDatabase(env)
  try {
    return await work(database.db)
  } finally {
    await database.close()
  }
}

/** More tokens of the same user, which nobody uses. */
async function addTokens(db, count) {
  const { id: _, ...token } = await db.selectFrom('tokens').selectAll().executeTakeFirstOrThrow()
  const idle = Array.from({ length: count }, (_, index) => ({
    ...token,
    name: `idle ${index}`,
    key_hash: randomBytes(32).toString('hex'),
  }))
  for (let at = 0; at < idle.length; at += 500) {
    await db
      .insertInto('tokens')
      .values(idle.slice(at, at + 500))
      .execute()
  }
}

/** More users like the first, each with a token like the first. Returns the keys. */
async function addUsers(db, count) {
  const { id: _, ...user } = await db.selectFrom('users').selectAll().executeTakeFirstOrThrow()
  const { id: __, ...token } = await db.selectFrom('tokens').selectAll().executeTakeFirstOrThrow()
  const keys = []
  for (let index = 0; index < count; index++) {
    const name = `user${index}`
    const values = { ...user, username: name, username_key: name, aff_code: name, access_token_hash: null }
    const { id } = await db.insertInto('users').values(values).returning('id').executeTakeFirstOrThrow()
    const key = randomBytes(24).toString('hex')
    await db
      .insertInto('tokens')
      .values({ ...token, user_id: id, key_hash: hash('sha256', key) })
      .execute()
    keys.push(`sk-${key}`)
  }
  return keys
}

async function countCharges(db) {
  const query = db.selectFrom('ledger').select(db.fn.countAll().as('count')).where('kind', '=', 'charge')
  return Number((await query.executeTakeFirstOrThrow()).count)
}

/** Resident memory in KB; undefined without /proc. */
export async function residentKb(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const found = /VmRSS:\s+(\d+)/.exec(status)
  return found ? Number(found[1]) : undefined
}

/** Processor time of a process with all its threads, in microseconds. */
export async function cpuMicroseconds(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // Fields 14 and 15 of proc(5), user and system time in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

async function familyOf(pid) {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return [pid, ...children.split(' ').filter(Boolean).map(Number)]
}

async function answers(port, child) {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) throw new Error('nginx did not start')
    const ok = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).then(
      () => true,
      () => false,
    )
    if (ok) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('nginx does not answer')
}

async function stopped(child) {
  child.removeAllListeners('exit')
  const end = ended(child)
  child.kill('SIGTERM')
  await end
}

export const cpuShown = existsSync('/proc/self/stat')
