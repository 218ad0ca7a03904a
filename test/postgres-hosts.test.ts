import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresServer, startPostgres } from '../scripts/postgres-server.mjs'
import { isDatabaseFailure } from '../src/server/base/db/failures.ts'
import { openDatabase } from '../src/server/base/db/open.ts'
import { newPostgresClient } from '../src/server/base/db/postgres-hosts.ts'
import { backupCommand } from '../src/server/run/commands/backup.ts'
import { doctorCommand } from '../src/server/run/commands/doctor.ts'
import { migrateCommand } from '../src/server/run/commands/migrate.ts'
import { verifyCommand } from '../src/server/run/commands/verify.ts'
import { serverOfTest } from './helpers/app.ts'
import { testMasterKey } from './helpers/core.ts'
import { freshDatabase, type TestDatabase } from './helpers/databases.ts'
import { documentedCommands, inlineSetting } from './helpers/documented-commands.ts'
import { faultProxy } from './helpers/fault-proxy.ts'
import { freePort } from './helpers/free-port.ts'
import { addChannel, addToken, requireBalancedBooks } from './helpers/seed.ts'
import { runCommand } from './helpers/sluice.ts'
import { startCallers } from './helpers/steady-callers.ts'
import { newFolder } from './helpers/templates.ts'
import { upstreamOfTest } from './helpers/upstream.ts'
import { ask, chat, eventually, model } from './relay/stage.ts'

// Addresses with several hosts of PostgreSQL: a primary and its standby, which follows it and takes over.

let primary: PostgresServer
let standby: PostgresServer
beforeAll(async () => {
  // A commit waits until the standby has it, so that a failover loses none.
  primary = await startPostgres({ more: { synchronous_standby_names: '*' } })
  const operator = new pg.Client(`${primary.url}/postgres`)
  await operator.connect()
  await operator.query('set synchronous_commit = local')
  await operator.query('create database sluice')
  await operator.end()
  await primary.kill()
  standby = await startPostgres({ standbyOf: primary })
  await primary.start()
})
afterAll(async () => {
  await standby?.stop()
  await primary?.stop()
})

const placeOf = ({ url }: PostgresServer) => new URL(url).host
const addressOf = (places: readonly string[], session = '') =>
  `postgres://sluice@${places.join(',')}/sluice${session && `?target_session_attrs=${session}`}`
/** The address of scale-out.md, with these hosts. */
const documentedAddress = (places: readonly string[]) => {
  const block = documentedCommands('scale-out.md', 'Several nodes', 'A database with a standby')
  const [, address = ''] = /^DATABASE_URL='(.+)'$/m.exec(block) ?? []
  expect(address).toContain('db1:5432,db2:5432')
  return address.replace('db1:5432,db2:5432', places.join(','))
}

/** The port of the server that an address leads to, or why it leads to none. */
async function portOf(address: string): Promise<string> {
  const client = newPostgresClient(address, { connectionTimeoutMillis: 2000 })
  try {
    await client.connect()
    const { rows } = await client.query<{ port: string }>(`select current_setting('port') as port`)
    return `127.0.0.1:${rows[0]?.port}`
  } catch (error) {
    expect(isDatabaseFailure(error)).toBe(true)
    return (error as Error).message
  } finally {
    await client.end()
  }
}

describe('with a primary and its standby', () => {
  it.each([
    ['read-write', 'primary'],
    ['primary', 'primary'],
    ['read-only', 'standby'],
    ['standby', 'standby'],
    ['prefer-standby', 'standby'],
  ])('target_session_attrs=%s leads to the %s, in whichever order they are named', async (session, role) => {
    const places = [placeOf(primary), placeOf(standby)]
    const expected = role === 'primary' ? places[0] : places[1]
    expect(await portOf(addressOf(places, session))).toBe(expected)
    expect(await portOf(addressOf(places.toReversed(), session))).toBe(expected)
  })

  it('without target_session_attrs the first host that can be reached is taken, and then kept', async () => {
    const away = `127.0.0.1:${await freePort()}`
    const address = addressOf([away, placeOf(standby), placeOf(primary)])
    expect(await portOf(address)).toBe(placeOf(standby))
    expect(await portOf(address)).toBe(placeOf(standby))
  })

  it('a single host is checked, too, and the error of a connection names each host with its reason', async () => {
    const away = `127.0.0.1:${await freePort()}`
    expect(await portOf(addressOf([placeOf(standby)], 'primary'))).toBe(
      `No host of the database can be used: ${placeOf(standby)}: is not primary`,
    )
    expect(await portOf(addressOf([away, placeOf(standby)], 'read-write'))).toMatch(
      new RegExp(`: ${away}: connect ECONNREFUSED .*; ${placeOf(standby)}: is not read-write$`),
    )
  })

  it('a backup can be read from the standby', async () => {
    const session = inlineSetting('scale-out.md', 'target_session_attrs')
    const env = {
      DATABASE_URL: documentedAddress([placeOf(primary), placeOf(standby)]),
      DATABASE_DIRECT_URL: addressOf([placeOf(primary), placeOf(standby)], session),
      DATA_DIR: newFolder(),
    }
    expect((await runCommand(migrateCommand, [], env)).code).toBe(0)
    const file = join(env.DATA_DIR, 'of-the-standby.db')
    expect((await runCommand(backupCommand, [file, '--json'], env)).code).toBe(0)
  })
})

it('when the primary dies and the standby is promoted, calls go on, no charge is missing, and every command works', async () => {
  const places = [placeOf(primary), placeOf(standby)]
  const env = { DATABASE_URL: documentedAddress(places), DATA_DIR: newFolder() }
  const database: TestDatabase = { kind: 'postgres', env, open: () => openDatabase(env), drop: async () => {} }
  const server = await serverOfTest('postgres', { database })
  const upstream = await upstreamOfTest({ programs: { [model]: { words: 5 } } })
  await addChannel(server, { url: upstream.url, models: model })
  const { key } = await addToken(server)
  // Streams, because a whole reply whose charge is late waits ten minutes for its caller to repeat the call.
  const callers = startCallers(4, { url: server.url, key, body: chat({ stream: true }) })
  onTestFinished(() => callers.stop())
  await eventually('calls are answered', () => callers.called.answered.length > 20)
  const ofCommand = { ...env, MASTER_KEY: testMasterKey.toString('base64') }
  const hosts = async () => {
    const { output } = await runCommand(doctorCommand, ['--json'], ofCommand)
    return JSON.parse(output).checks.find(({ name }: { name: string }) => name === 'Hosts')
  }
  expect(await hosts()).toEqual({
    name: 'Hosts',
    state: 'ok',
    found: `${places[0]} is read-write; ${places[1]} is a standby`,
  })

  await primary.kill('SIGQUIT')
  await eventually('calls are refused', () => callers.called.cut > 4)
  const operator = new pg.Client(`${standby.url}/postgres`)
  await operator.connect()
  onTestFinished(() => operator.end())
  await operator.query('select pg_promote()')
  const before = callers.called.answered.length
  await eventually('calls are answered again', () => callers.called.answered.length > before + 20)
  await eventually('the node listens to the other host', async () => {
    const { rows } = await operator.query(`select 1 from pg_stat_activity where application_name = 'sluice-news'`)
    return rows.length === 1
  })
  await callers.stop()
  await eventually('nothing is held', async () => {
    const held = await server.app.db.selectFrom('holds').select('request_id').execute()
    return held.length === 0
  })

  await requireBalancedBooks(server)
  const charges = await server.app.db.selectFrom('ledger').select('reference').where('kind', '=', 'charge').execute()
  const charged = new Set(charges.map(({ reference }) => reference))
  expect(callers.called.answered.filter((id) => !charged.has(`charge:${id}`))).toEqual([])
  expect((await runCommand(verifyCommand, ['--json'], ofCommand)).code).toBe(0)
  expect((await runCommand(migrateCommand, ['--dry-run'], ofCommand)).code).toBe(0)
  expect((await runCommand(backupCommand, [join(env.DATA_DIR, 'backup.db')], ofCommand)).code).toBe(0)
  expect(await hosts()).toMatchObject({
    state: 'warning',
    found: expect.stringMatching(`^${places[0]} cannot be used: .*; ${places[1]} is read-write$`),
  })
  // A node that starts now finds the host that is left.
  const other = await serverOfTest('postgres', { database })
  expect((await ask(other, key, chat())).status).toBe(200)
})

it('a host that falls silent is left by all connections as soon as another one is found', async () => {
  const database = await freshDatabase('postgres', 'started')
  onTestFinished(() => database.drop())
  const url = new URL(database.env.DATABASE_URL)
  const target = { host: url.hostname, port: Number(url.port) }
  const [one, other] = [await faultProxy(target), await faultProxy(target)]
  const hosts = `127.0.0.1:${one.port},127.0.0.1:${other.port}`
  const env = { DATABASE_URL: `postgres://${url.username}@${hosts}${url.pathname}?target_session_attrs=read-write` }
  const server = await serverOfTest('postgres', { database, env: { ...database.env, ...env } })
  const upstream = await upstreamOfTest({ programs: { [model]: { words: 5 } } })
  await addChannel(server, { url: upstream.url, models: model })
  const { key } = await addToken(server)
  expect((await ask(server, key, chat())).status).toBe(200)

  one.silence()
  await eventually('calls and the console are served', async () => {
    const calls = await Promise.all(Array.from({ length: 20 }, () => ask(server, key, chat())))
    const console = await Promise.all(Array.from({ length: 20 }, () => server.raw('GET /api/token/')))
    return [...calls, ...console].every(({ status }) => status === 200)
  })
  await requireBalancedBooks(server)
})
