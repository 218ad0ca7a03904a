import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { testCertificate, testKey } from '../../../../test/helpers/certificate.ts'
import { freshDatabase } from '../../../../test/helpers/databases.ts'
import { isDatabaseFailure, isUniqueViolation } from './failures.ts'
import { openDatabase } from './open.ts'
import { newPostgresClient } from './postgres-hosts.ts'

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

it('distinguishes a PostgreSQL that cannot be reached or disconnects from an error in a statement', async () => {
  const away = await openDatabase({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATA_DIR: '' })
  expect(isDatabaseFailure(await failureOf(sql`select 1`.execute(away.db)))).toBe(true)
  await away.close()

  const test = await freshDatabase('postgres')
  const database = await test.open()
  expect(isDatabaseFailure(await failureOf(sql`select nothing`.execute(database.db)))).toBe(false)
  expect(isDatabaseFailure(await failureOf(sql`select pg_terminate_backend(pg_backend_pid())`.execute(database.db)))).toBe(true)
  // The pool may use the broken connection once more before it notices; that fails in the same way.
  const again = await failureOf(sql`select 1`.execute(database.db))
  expect(again === undefined || isDatabaseFailure(again)).toBe(true)
  await database.close()
  expect(isDatabaseFailure(await failureOf(sql`select 1`.execute(database.db)))).toBe(true)
  await test.drop()
})

it('counts a PostgreSQL that accepts connections and says nothing as one that cannot be reached', async () => {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = newPostgresClient(`postgres://nobody@127.0.0.1:${port}/none`, { connectionTimeoutMillis: 200 })
  expect(isDatabaseFailure(await failureOf(client.connect()))).toBe(true)
  server.close()
})

it.each([
  ['disable', true],
  ['require', true],
  ['no-verify', true],
  // The certificate is of nobody whom this machine knows.
  ['verify-full', false],
])('reads sslmode=%s as programs of PostgreSQL do', async (mode, isAccepted) => {
  const test = await freshDatabase('postgres')
  const proxy = await encryptingProxy(test.env.DATABASE_URL)
  const url = new URL(test.env.DATABASE_URL)
  if (mode !== 'disable') url.port = String(proxy.port)
  url.searchParams.set('sslmode', mode)
  const database = await openDatabase({ DATABASE_URL: url.href, DATA_DIR: '' })
  const failure = await failureOf(sql`select 1`.execute(database.db))
  expect(failure === undefined).toBe(isAccepted)
  expect(proxy.encrypted > 0).toBe(mode === 'require' || mode === 'no-verify')
  await database.close()
  proxy.close()
  await test.drop()
})

/** In front of a PostgreSQL without a certificate: agrees to encrypt, with a certificate of its own. */
async function encryptingProxy(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl)
  const proxy = { port: 0, encrypted: 0, close: () => void server.close() }
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('S')
      const encrypted = new TLSSocket(socket, {
        isServer: true,
        secureContext: createSecureContext({ key: testKey, cert: testCertificate }),
      })
      const inner = connect(Number(port), hostname)
      for (const end of [encrypted, inner]) end.on('error', () => {})
      encrypted.once('data', () => proxy.encrypted++)
      encrypted.pipe(inner).pipe(encrypted)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy.port = (server.address() as AddressInfo).port
  return proxy
}

it('distinguishes a SQLite file that another process has locked from a violated constraint', async () => {
  const test = await freshDatabase('sqlite')
  const [one, two] = [await test.open(), await test.open()]
  if (one.dialect !== 'sqlite' || two.dialect !== 'sqlite') throw new Error('Expected SQLite')
  const option = one.db.insertInto('options').values({ key: 'a', value: '' })
  await option.execute()

  const twice = await failureOf(option.execute())
  expect([isUniqueViolation(twice), isDatabaseFailure(twice)]).toEqual([true, false])
  one.raw.exec('begin immediate')
  two.raw.exec('pragma busy_timeout = 0')
  expect(isDatabaseFailure(await failureOf(two.db.deleteFrom('options').execute()))).toBe(true)
  one.raw.exec('rollback')

  await Promise.all([one.close(), two.close()])
  await test.drop()
})
