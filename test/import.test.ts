import { spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { importCommand } from '../src/server/run/commands/import.ts'
import { verifyCommand } from '../src/server/run/commands/verify.ts'
import { type ServerSettings, signIn, startServer } from './helpers/app.ts'
import { testMasterKey } from './helpers/core.ts'
import { anyDatabase, type DatabaseKind, eachDatabase, freshDatabase, type TestDatabase } from './helpers/databases.ts'
import { changedOriginal, logRows, type Original, originalFile, originals } from './helpers/family-database.ts'
import { statementsFor } from './helpers/family-schema.ts'
import { type MariadbServer, startMariadb } from './helpers/mariadb-server.ts'
import { startProcess } from './helpers/process.ts'
import { runCommand, sluice, sluiceProgram } from './helpers/sluice.ts'
import { copyPostgres, dropPostgres } from './helpers/templates.ts'
import { sampled } from './helpers/torture.ts'
import { ask, chat, completion, httpUpstream } from './relay/stage.ts'

const calls: Readonly<Record<Original, { key: string; model: string }>> = {
  'new-api-0.4': { key: 'WtjCEVhSjCcC6PUvoxV824Rb7ILQolb87wAK3FqDL3duWIbg', model: 'm-in10-out20' },
  'new-api-0.6': { key: '3yYwMQKth5F3RwZkhu291YcUMQlsdIXiogj5TwFEA1ng7Re6', model: 'bench' },
  'one-api-0.6': { key: 'APapYlWthYTXHwfu717eE7F1F9214f93A449D2BeCe95Df88', model: 'bench' },
}

const envOf = ({ env }: TestDatabase) => ({ ...env, MASTER_KEY: testMasterKey.toString('base64') })

async function runImport(database: TestDatabase, args: readonly string[], env: Record<string, string> = {}) {
  const { code, output } = await runCommand(importCommand, [...args, '--json'], { ...envOf(database), ...env })
  expect(code, output).toBe(0)
  return JSON.parse(output)
}

const verify = async (database: TestDatabase) => JSON.parse((await runCommand(verifyCommand, ['--json'], envOf(database))).output)

/** A server over a database; both end with the test. */
async function serverOver(database: TestDatabase, settings: ServerSettings = {}) {
  const server = await startServer(database.kind, { ...settings, database })
  onTestFinished(() => server.stop())
  return server
}

async function fillPostgres(address: string, file: string): Promise<void> {
  const client = new pg.Client(address)
  await client.connect()
  for (const statement of statementsFor('postgres', file)) await client.query(statement)
  await client.end()
}

let mariadb: MariadbServer | undefined
beforeAll(async () => {
  mariadb = await startMariadb()
})
afterAll(() => mariadb?.stop())

async function emptyDatabaseOf(kind: DatabaseKind): Promise<TestDatabase> {
  const database = await freshDatabase(kind, 'empty')
  onTestFinished(() => database.drop())
  return database
}

eachDatabase('sluice import', (_fresh, kind) => {
  it.each(sampled(Object.keys(originals) as Original[], kind === 'sqlite' ? 1 : 3))(
    'of %s: old keys and passwords work, and the books balance',
    async (original) => {
      const { family, rootPassword } = originals[original]
      const upstream = await httpUpstream((request, response) => {
        request.resume()
        response.setHeader('content-type', 'application/json').end(completion())
      })
      const file = changedOriginal(original, [`update channels set base_url = '${upstream}' where id = 1`])
      const database = await emptyDatabaseOf(kind)
      const report = await runImport(database, [family, file, '--yes'])
      expect(report.ok).toBe(true)
      expect(report.balances.after).toBe(report.balances.source)

      const server = await serverOver(database)
      expect(await signIn(server.url, rootPassword)).toContain('session=')
      const { key, model } = calls[original]
      expect(await ask(server, `sk-${key}`, { ...chat(), model })).toMatchObject({ status: 200 })
      expect(await verify(database)).toMatchObject({
        ok: true,
        charges: { rows: 1, recomputed: 1, imported: report.tables.logs.taken },
        balances: [],
      })

      const again = await runImport(database, [family, file, '--yes'])
      expect(
        Object.values(again.tables)
          .map((table) => (table as { taken: number }).taken)
          .every((count) => count === 0),
      ).toBe(true)
    },
  )
})

anyDatabase('an import', (_fresh, kind) => {
  const emptyDatabase = () => emptyDatabaseOf(kind)

  it('continues after it was killed, without duplicates', async () => {
    const rows = 20_000
    const file = changedOriginal('new-api-0.4', [logRows(rows)])
    const database = await emptyDatabase()
    const env = { PATH: process.env.PATH, ...envOf(database) }
    const child = spawn(process.execPath, [sluiceProgram, 'import', 'new-api', file, '--yes'], { env, stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
    const open = await database.open()
    onTestFinished(() => open.close())
    const logged = async () =>
      (await sql<{ count: number }>`select count(*) as count from logs`.execute(open.db)).rows[0]?.count ?? 0
    while ((await logged()) < 2000) await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
    expect(await logged()).toBeLessThan(rows)

    const { tables, ok } = await runImport(database, ['new-api', file, '--yes'])
    expect([ok, await logged(), tables.logs.taken + tables.logs.same]).toEqual([true, rows + 13, rows + 13])
    const { rows: sums } = await sql<{
      count: number
      quota: number
    }>`select sum(count) as count, sum(quota) as quota from quota_data`.execute(open.db)
    expect(sums).toEqual([{ count: rows + 13, quota: 3 * rows + 20178 }])
    expect(await verify(database)).toMatchObject({ ok: true, charges: { imported: rows + 13 } })
  })

  it('imports the same data from PostgreSQL, from MariaDB and from a dump of it', async ({ skip }) => {
    const file = changedOriginal('new-api-0.4', [
      `update users set deleted_at = '2026-01-02 03:04:05.123', display_name = 'It''s \\ 中文 😀' where id = 7`,
      `update logs set content = 'a;b -- c' || char(10) || '/* d */ ''e''' where id = 3`,
    ])
    const shown = ({ tables, balances }: { tables: object; balances: object }) => ({ tables, balances })
    const database = await emptyDatabase()
    const expected = shown(await runImport(database, ['new-api', file, '--dry-run']))

    const address = await copyPostgres('empty', `test_source_${kind}`)
    onTestFinished(() => dropPostgres(address))
    await fillPostgres(address, file)
    expect(shown(await runImport(database, ['new-api', address, '--dry-run']))).toEqual(expected)

    if (!mariadb) return skip('mariadb-server is missing')
    const dsn = await mariadb.database(`source_${kind}`)
    await mariadb.run(`source_${kind}`, statementsFor('mysql', file))
    expect(shown(await runImport(database, ['new-api', dsn, '--dry-run']))).toEqual(expected)
    // The address from the environment of the old server, with a separate database for the log.
    const moved = await runImport(database, ['new-api', '--dry-run'], {
      SQL_DSN: dsn,
      LOG_SQL_DSN: address,
      SESSION_SECRET: 'x',
      REDIS_CONN_STRING: 'redis://127.0.0.1:1',
    })
    expect(shown(moved)).toEqual(expected)
    expect(moved.notes.join()).toContain('REDIS_CONN_STRING')

    const dump = join(mkdtempSync(join(tmpdir(), 'sluice-')), 'dump.sql')
    writeFileSync(dump, await mariadb.dump(`source_${kind}`))
    expect(shown(await runImport(database, ['new-api', dump, '--yes']))).toEqual(expected)
    const open = await database.open()
    onTestFinished(() => open.close())
    const user = await open.db.selectFrom('users').selectAll().where('id', '=', 7).executeTakeFirst()
    expect(user).toMatchObject({ display_name: "It's \\ 中文 😀", deleted_at: Date.parse('2026-01-02T03:04:05Z') / 1000 })
    const line = await open.db.selectFrom('logs').select('content').where('content', 'like', 'a;b%').executeTakeFirst()
    expect(line?.content).toBe("a;b -- c\n/* d */ 'e'")
  })

  it('imports the model list of LiteLLM as channels, once', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'sluice-')), 'config.yaml')
    writeFileSync(file, readFileSync(new URL('./fixtures/import/litellm.yaml', import.meta.url)))
    const database = await emptyDatabase()
    const report = await runImport(database, ['litellm', file, '--yes'], { SOME_OPENAI_KEY: 'sk-from-environment' })
    expect(report.tables.channels).toMatchObject({ read: 6, taken: 6 })
    const open = await database.open()
    onTestFinished(() => open.close())
    const rows = await open.db
      .selectFrom('channels')
      .select(['type', 'models', 'model_mapping', 'base_url', 'other', 'status'])
      .orderBy('models')
      .execute()
    expect(rows).toEqual([
      { type: 14, models: 'claude', model_mapping: '{"claude":"claude-sonnet-4-5"}', base_url: '', other: '', status: 1 },
      {
        type: 3,
        models: 'gpt-4',
        model_mapping: '{"gpt-4":"my-deployment"}',
        base_url: 'https://mine.openai.azure.com',
        other: '2024-10-21',
        status: 1,
      },
      { type: 1, models: 'gpt-4o,gpt-4o-mini', model_mapping: '', base_url: '', other: '', status: 1 },
      {
        type: 1,
        models: 'local',
        model_mapping: '{"local":"llama"}',
        base_url: 'http://127.0.0.1:8000/v1',
        other: '',
        status: 1,
      },
      { type: 8, models: 'odd', model_mapping: '{"odd":"nobody/knows"}', base_url: '', other: '', status: 2 },
      {
        type: 1,
        models: 'quick',
        model_mapping: '{"quick":"llama-3.1-8b"}',
        base_url: 'https://api.groq.com/openai',
        other: '',
        status: 2,
      },
    ])
    expect(
      (await runImport(database, ['litellm', file, '--yes'], { SOME_OPENAI_KEY: 'sk-from-environment' })).tables.channels,
    ).toMatchObject({ taken: 0, same: 6 })
  })

  it('reads no log, neither that of LOG_SQL_DSN nor one that is named', async () => {
    const database = await emptyDatabase()
    const file = new URL('./fixtures/import/litellm.yaml', import.meta.url).pathname
    const ignored = await sluice(['import', 'litellm', file, '--yes'], {
      ...envOf(database),
      LOG_SQL_DSN: 'mysql://nobody@127.0.0.1:1/x',
    })
    expect(ignored.code).toBe(0)
    const named = await sluice(['import', 'litellm', file, '--yes', '--logs', 'x.db'], envOf(database))
    expect(named.code).toBe(2)
    expect(named.errors).toContain('No log is taken over from litellm: leave out --logs')
  })
})

it.each([
  ['sqlite', 'new-api-0.4'],
  ['postgres', 'new-api-0.6'],
  ['postgres', 'one-api-0.6'],
] as const)('a server does not open a database of the family on %s: %s', async (kind, original) => {
  const database = await freshDatabase(kind, 'empty')
  onTestFinished(() => database.drop())
  const file = join(database.env.DATA_DIR, 'app.db')
  if (kind === 'sqlite') copyFileSync(originalFile(original), file)
  else await fillPostgres(database.env.DATABASE_URL, originalFile(original))
  await expect(startServer(kind, { database })).rejects.toThrow(`sluice import ${originals[original].family}`)
  if (kind === 'sqlite') expect(readFileSync(file)).toEqual(readFileSync(originalFile(original)))
})

it('a server ignores SQL_DSN and names the import command; SESSION_SECRET is not used as master key', async () => {
  const database = await freshDatabase('sqlite', 'empty')
  onTestFinished(() => database.drop())
  const names = {
    SQL_DSN: 'postgres://nobody@127.0.0.1:1/x',
    LOG_SQL_DSN: 'x',
    REDIS_CONN_STRING: 'redis://127.0.0.1:1',
    SESSION_SECRET: 'a-secret-of-sessions',
  }
  const process = await startProcess(database, { ...names, MASTER_KEY: '' })
  await process.kill('SIGTERM')
  expect(process.output()).toContain('sluice import new-api')
  const key = readFileSync(join(database.env.DATA_DIR, 'master.key'), 'utf8').trim()
  expect(Buffer.from(key, 'base64')).toHaveLength(32)
  expect([key, Buffer.from(key, 'base64').toString()].join()).not.toContain(names.SESSION_SECRET)
})

it('a dry run works on a copy of a SQLite database, while a server holds its write lock', async () => {
  const database = await freshDatabase('sqlite', 'empty')
  onTestFinished(() => database.drop())
  await runImport(database, ['one-api', originalFile('one-api-0.6'), '--yes'])
  const open = await database.open()
  onTestFinished(() => open.close())
  await open.db.transaction().execute(async (within) => {
    await within.updateTable('users').set({ display_name: 'busy' }).execute()
    // In a separate process: on Unix, reading the file in this one could release its lock.
    const ran = await sluice(['import', 'one-api', originalFile('one-api-0.6'), '--dry-run', '--json'], envOf(database))
    const dry = JSON.parse(ran.output)
    expect(ran.code).toBe(0)
    expect([dry.dryRun, dry.tables.logs.same, dry.balances.before]).toEqual([true, 300, dry.balances.source])
  })
  expect(await open.db.selectFrom('users').select('display_name').execute()).toEqual([{ display_name: 'busy' }])
})

it('reports a source that it cannot read, and writes nothing without --yes', async () => {
  const database = await freshDatabase('sqlite', 'empty')
  onTestFinished(() => database.drop())
  const { code, errors } = await sluice(['import', 'new-api', originalFile('new-api-0.4')], envOf(database))
  expect([code, errors]).toEqual([2, expect.stringMatching(/--yes/)])

  const refusal = (...args: string[]) =>
    runCommand(importCommand, args, envOf(database)).then(
      () => 'none',
      (error: Error) => error.message,
    )
  expect(await refusal('new-api', originalFile('one-api-0.6'), '--dry-run')).toMatch(/sluice import one-api/)
  expect(await refusal('new-api', originalFile('new-api-0.4'), '--logs', 'clickhouse://127.0.0.1/logs', '--dry-run')).toMatch(
    /ClickHouse/,
  )
  const withoutLogs = changedOriginal('new-api-0.4', ['drop table logs'])
  expect(await refusal('new-api', originalFile('new-api-0.4'), '--logs', withoutLogs, '--dry-run')).toMatch(/no table `logs`/)
  expect(await refusal('new-api', '/nowhere/one-api.db', '--dry-run')).toMatch(/no such file/)
  expect(await refusal('new-api', '--dry-run')).toMatch(/SQL_DSN/)
})
