import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../src/server/base/db/open.ts'
import { reconcileLedger } from '../src/server/watch/jobs/reconcile-ledger.ts'
import { startServer, type TestServer } from './helpers/app.ts'
import { type DatabaseKind, eachDatabase, freshDatabase, type TestDatabase } from './helpers/databases.ts'
import { aCharge, aHold } from './helpers/ledger.ts'
import { member } from './helpers/members.ts'
import { interruptDatabase } from './helpers/outage.ts'
import { startRedis } from './helpers/redis-server.ts'
import { addChannel, addToken, expireLeases, requireBalancedBooks } from './helpers/seed.ts'
import { newFolder } from './helpers/templates.ts'
import { upstreamOfTest } from './helpers/upstream.ts'
import { ask, chat, eventually, model } from './relay/stage.ts'

// Stores restored to an older state, part L of docs/reference/trust-cases.md.

async function serverOver(database: TestDatabase, env: Record<string, string> = {}): Promise<TestServer> {
  const server = await startServer(database.kind, { database, env })
  let isStopped = false
  const stop = async () => {
    if (!isStopped) await server.stop()
    isStopped = true
  }
  onTestFinished(stop)
  return { ...server, stop }
}

const reconcileNow = (server: TestServer) => reconcileLedger.run(server.app, new AbortController().signal, () => {})

eachDatabase('a restored backup', (_fresh, kind) => {
  it('[T227] is served: its open holds are closed, its gap is reported once, and its books balance', async () => {
    const database = await freshDatabase(kind, 'started')
    onTestFinished(() => database.drop())
    const upstream = await upstreamOfTest()
    const first = await serverOver(database)
    await addChannel(first, { url: upstream.url, models: model })
    const { key } = await addToken(first)
    expect((await ask(first, key, chat())).status).toBe(200)
    expect(await reconcileNow(first)).toBe('0 differ')

    // A request is being answered when the backup is taken.
    const hold = aHold(1, 0, 500)
    await first.app.ledger.hold(hold)
    first.app.ledger.checkpoint(hold, aCharge(hold, 70))
    const openRows = () => first.app.db.selectFrom('holds').select('checkpoint').where('checkpoint', '!=', '').execute()
    await eventually('the checkpoint is written', async () => (await openRows()).length === 1)
    const restore = await backUp(first, kind)

    await first.app.ledger.settle(hold, aCharge(hold, 90))
    for (let count = 0; count < 3; count++) expect((await ask(first, key, chat())).status).toBe(200)
    expect(await reconcileNow(first)).toBe('0 differ')
    await first.stop()

    const second = await serverOver(await restore())
    await expireLeases(second)
    await second.app.ledger.expire()
    const charges = await second.app.db
      .selectFrom('ledger')
      .select('amount')
      .where('reference', '=', `charge:${hold.requestId}`)
      .execute()
    expect(charges).toEqual([{ amount: -70 }])
    await requireBalancedBooks(second)
    // New rows have the numbers of the lost ones.
    for (let count = 0; count < 5; count++) expect((await ask(second, key, chat())).status).toBe(200)
    expect(await reconcileNow(second)).toMatch(/^0 differ; the ledger is an older one: \S+Z to \S+Z is missing$/)
    const audit = await second.app.db.selectFrom('audit').select('actor_name').where('action', '=', 'ledger.gap').execute()
    expect(audit).toEqual([{ actor_name: 'system' }])
    expect(await reconcileNow(second)).toBe('0 differ')
    await requireBalancedBooks(second)
  })
})

/** Copies a database in use as a backup does; returns a function that restores it in place of the original. */
async function backUp(server: TestServer, kind: DatabaseKind): Promise<() => Promise<TestDatabase>> {
  const { app, database } = server
  if (kind === 'sqlite') {
    const { DATA_DIR } = database.env
    const copy = join(DATA_DIR, 'backup.db')
    await sql`vacuum into ${sql.lit(copy)}`.execute(app.db)
    // This process may still have the files of the first one open: the copy goes to another folder, with `ledger-mark.json`.
    const folder = newFolder()
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return async () => {
      copyFileSync(copy, join(folder, 'app.db'))
      copyFileSync(join(DATA_DIR, 'ledger-mark.json'), join(folder, 'ledger-mark.json'))
      return { ...database, env: { ...database.env, DATA_DIR: folder } }
    }
  }
  const url = new URL(database.env.DATABASE_URL)
  const name = url.pathname.slice(1)
  const bringBack = await interruptDatabase(app.database)
  url.pathname = '/postgres'
  const beside = await openDatabase({ DATABASE_URL: url.href, DATA_DIR: '' })
  await sql`create database ${sql.id(`${name}_backup`)} template ${sql.id(name)}`.execute(beside.db)
  await sql`alter database ${sql.id(`${name}_backup`)} allow_connections true`.execute(beside.db)
  await bringBack()
  await eventually('the server has its database again', () =>
    app.db
      .selectFrom('users')
      .select('id')
      .execute()
      .then(
        () => true,
        () => false,
      ),
  )
  onTestFinished(async () => {
    await sql`drop database ${sql.id(`${name}_backup`)} with (force)`.execute(beside.db)
    await beside.close()
  })
  url.pathname = `/${name}_backup`
  return async () => ({ ...database, env: { ...database.env, DATABASE_URL: url.href } })
}

const redis = await startRedis()

describe.skipIf(!redis)('a Redis restored to an hour ago', () => {
  it('[T225] changes no balance and revives no session: both are read from the database', async () => {
    if (!redis) return
    onTestFinished(() => redis.stop())
    const upstream = await upstreamOfTest()
    const database = await freshDatabase('postgres', 'started')
    onTestFinished(() => database.drop())
    const env = { REDIS_URL: redis.url }
    const [one, other] = [await serverOver(database, env), await serverOver(database, env)]
    await addChannel(one, { url: upstream.url, models: model })
    const kept = await addToken(one)
    const taken = await addToken(one)
    const guest = await member(one, 'guest')
    expect((await guest.call('GET /api/user/self')).status).toBe(200)
    await eventually('the other node knows the channel', async () => (await ask(other, kept.key, chat())).status === 200)
    for (const node of [one, other]) for (const { key } of [kept, taken]) expect((await ask(node, key, chat())).status).toBe(200)

    const client = createClient({ url: redis.url })
    await client.connect()
    onTestFinished(() => client.destroy())
    const snapshot = await Promise.all((await client.keys('*')).map(async (key) => ({ key, dump: await dumpOf(client, key) })))

    await guest.call('GET /api/user/logout')
    await one.call('PUT /api/token/', { id: taken.id, name: 'taken', status: 2, unlimited_quota: true })
    for (let count = 0; count < 3; count++) expect((await ask(one, kept.key, chat())).status).toBe(200)
    const before = await one.call<{ quota: number }>('GET /api/user/self')

    await client.flushAll()
    for (const { key, dump } of snapshot)
      if (dump)
        await client.sendCommand(
          ['RESTORE', key, '0', dump, 'REPLACE'].map((part) => (typeof part === 'string' ? Buffer.from(part) : part)),
        )

    expect((await other.call<{ quota: number }>('GET /api/user/self')).quota).toBe(before.quota)
    for (const node of [one, other]) {
      const asGuest = await fetch(`${node.url}/api/user/self`, { headers: guest.headers })
      expect((await asGuest.json()).code).toBe('not_signed_in')
      await eventually('the token is refused', async () => (await ask(node, taken.key, chat())).status !== 200)
      expect((await ask(node, kept.key, chat())).status).toBe(200)
    }
    await eventually(
      'nothing is held',
      async () => (await one.app.db.selectFrom('holds').select('request_id').execute()).length === 0,
    )
    await requireBalancedBooks(one)
  })
})

async function dumpOf(
  client: { sendCommand(args: Buffer[], options?: object): Promise<unknown> },
  key: string,
): Promise<Buffer | undefined> {
  const typeMapping = { 36: Buffer }
  const dump = await client.sendCommand([Buffer.from('DUMP'), Buffer.from(key)], { typeMapping })
  return Buffer.isBuffer(dump) ? dump : undefined
}
