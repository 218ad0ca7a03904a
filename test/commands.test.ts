import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { Log } from '../src/contract/entities/log.ts'
import { openSecrets } from '../src/server/base/db/key-ring.ts'
import { migrate } from '../src/server/base/db/migrate.ts'
import { backupCommand } from '../src/server/run/commands/backup.ts'
import { compactCommand } from '../src/server/run/commands/compact.ts'
import { doctorCommand } from '../src/server/run/commands/doctor.ts'
import { importCommand } from '../src/server/run/commands/import.ts'
import { migrateCommand } from '../src/server/run/commands/migrate.ts'
import { restoreCommand } from '../src/server/run/commands/restore.ts'
import { rootPasswordCommand } from '../src/server/run/commands/root-password.ts'
import { rotateKeyCommand } from '../src/server/run/commands/rotate-key.ts'
import { serveCommand } from '../src/server/run/commands/serve.ts'
import { verifyCommand } from '../src/server/run/commands/verify.ts'
import { serverOfTest, signIn, type TestServer } from './helpers/app.ts'
import { testMasterKey } from './helpers/core.ts'
import { anyDatabase, eachDatabase, freshDatabase } from './helpers/databases.ts'
import { addChannel } from './helpers/seed.ts'
import { runCommand, sluice } from './helpers/sluice.ts'
import { isTorture, sampled } from './helpers/torture.ts'
import { ask, chat, completion, httpUpstream, model, settledCharges } from './relay/stage.ts'

const commands = [
  ...[serveCommand, importCommand, doctorCommand, verifyCommand],
  ...[backupCommand, restoreCommand, compactCommand, rotateKeyCommand, rootPasswordCommand],
]
const names = ['serve', 'import', 'doctor', 'verify', 'backup', 'restore', 'compact', 'rotate-key', 'root-password']
const masterKey = testMasterKey.toString('base64')
const envOf = ({ database }: Pick<TestServer, 'database'>) => ({ ...database.env, MASTER_KEY: masterKey })

eachDatabase('the command line', (_fresh, kind) => {
  it('verify recomputes every charge, and lists differences', async () => {
    const server = await serverOfTest(kind)
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.setHeader('content-type', 'application/json').end(completion())
    })
    await addChannel(server, { url, models: model })
    const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })
    for (let count = 0; count < 3; count++) expect((await ask(server, `sk-${key}`, chat())).status).toBe(200)
    await settledCharges(server)

    const clean = await runCommand(verifyCommand, ['--json'], envOf(server))
    expect([clean.code, JSON.parse(clean.output)]).toEqual([
      0,
      {
        ok: true,
        charges: { rows: 3, imported: 0, recomputed: 3, withoutRow: 0, differing: 0, differences: [] },
        balances: [],
        credits: [],
        audit: { rows: expect.any(Number), head: expect.any(String) },
        setAside: [],
      },
    ])

    const { db } = server.app
    const [row] = (await server.call<{ items: Log[] }>('GET /api/log/?type=2')).items
    await db
      .updateTable('logs')
      .set({ quota: 1_000_000 })
      .where('request_id', '=', row?.request_id ?? '')
      .execute()
    await db
      .updateTable('users')
      .set((eb) => ({ quota: eb('quota', '+', 5) }))
      .where('id', '=', 1)
      .execute()
    const broken = await sluice(['verify', '--json'], envOf(server))
    const found = JSON.parse(broken.output)
    expect([broken.code, found.ok]).toEqual([1, false])
    expect(found.charges).toMatchObject({
      differing: 1,
      differences: [{ requestId: row?.request_id, charged: 1_000_000, ledger: row?.quota, recomputed: row?.quota }],
    })
    expect(found.balances).toMatchObject([{ userId: 1 }])
    expect((await runCommand(verifyCommand, [], envOf(server))).output).toContain(
      `${row?.request_id}: charged 1000000, ledger ${row?.quota}`,
    )
  })

  it('rotate-key replaces the master key, also after an interrupted run', async () => {
    const database = await freshDatabase(kind, 'empty')
    const env = { ...database.env, DATA_DIR: database.env.DATA_DIR || mkdtempSync(join(tmpdir(), 'sluice-')) }
    const file = join(env.DATA_DIR, 'master.key')
    writeFileSync(file, `${masterKey}\n`, { mode: 0o600 })
    const open = await database.open()
    await migrate(open)
    const before = await openSecrets(open, testMasterKey, 0)
    const sealed = before.seal('secret', { table: 'options', column: 'value', row: 'x' })

    const rotated = await sluice(['rotate-key', '--yes', '--json'], env)
    expect([rotated.code, rotated.errors]).toEqual([0, ''])
    const key = readFileSync(file, 'utf8').trim()
    expect([key === masterKey, readFileSync(JSON.parse(rotated.output).old_file, 'utf8').trim()]).toEqual([false, masterKey])
    const after = await openSecrets(open, Buffer.from(key, 'base64'), 0)
    expect(after.open(sealed, { table: 'options', column: 'value', row: 'x' })).toBe('secret')
    await expect(openSecrets(open, testMasterKey, 0)).rejects.toThrow('The master key does not open')

    // The process ended between the database and the file.
    const next = Buffer.alloc(32, 9)
    writeFileSync(`${file}.new`, `${next.toString('base64')}\n`, { mode: 0o600 })
    await openSecrets(open, next, 0, Buffer.from(key, 'base64'))
    expect(await runCommand(rotateKeyCommand, ['--yes'], env)).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8').trim()).toBe(next.toString('base64'))
    expect(existsSync(`${file}.new`)).toBe(false)
    expect((await runCommand(verifyCommand, ['--json'], env)).code).toBe(0)
    await open.close()
    await database.drop()
  })

  it.each(isTorture ? (['sqlite', 'postgres'] as const) : [kind === 'sqlite' ? ('postgres' as const) : ('sqlite' as const)])(
    'backup while calls are charged, and restore into an empty database: %s',
    async (into) => {
      const server = await serverOfTest(kind)
      const url = await httpUpstream((request, response) => {
        request.resume()
        // Some calls a second are enough: without a pause they would occupy a core.
        setTimeout(() => response.setHeader('content-type', 'application/json').end(completion()), 20)
      })
      await addChannel(server, { url, models: model })
      const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })
      const call = (at: TestServer) => ask(at, `sk-${key}`, chat())
      for (let count = 0; count < 3; count++) expect((await call(server)).status).toBe(200)

      // In a folder that does not exist yet, as the guide names one.
      const file = join(mkdtempSync(join(tmpdir(), 'sluice-')), 'backup', 'backup.db')
      let isOver = false
      const load = (async () => {
        let calls = 3
        for (; !isOver; calls++) expect((await call(server)).status).toBe(200)
        return calls
      })()
      const written = await sluice(['backup', file, '--json'], envOf(server))
      const verifiedMeanwhile = await runCommand(verifyCommand, ['--json'], envOf(server))
      isOver = true
      const calls = await load
      expect([written.code, written.errors]).toEqual([0, ''])
      expect(JSON.parse(verifiedMeanwhile.output)).toMatchObject({ ok: true, charges: { differing: 0, withoutRow: 0 } })
      const { rows } = JSON.parse(written.output)
      expect(rows.logs).toBeGreaterThanOrEqual(3)
      expect(rows.logs).toBeLessThanOrEqual(calls)
      await expect(runCommand(backupCommand, [file], envOf(server))).rejects.toThrow('overwrites nothing')

      const database = await freshDatabase(into, 'empty')
      const env = { ...database.env, MASTER_KEY: masterKey }
      await expect(runCommand(restoreCommand, [file], env)).rejects.toThrow('--yes')
      const restored = await sluice(['restore', file, '--yes', '--json'], env)
      expect([restored.code, restored.errors, JSON.parse(restored.output || '{}').rows]).toEqual([0, '', rows])
      await expect(runCommand(restoreCommand, [file, '--yes'], env)).rejects.toThrow('overwrites nothing')
      expect(readdirSync(dirname(file))).toEqual(['backup.db'])

      const other = await serverOfTest(into, { database })
      expect((await call(other)).status).toBe(200)
      await settledCharges(other)
      const verified = await runCommand(verifyCommand, ['--json'], env)
      expect([verified.code, JSON.parse(verified.output)]).toMatchObject([
        0,
        { charges: { rows: rows.logs + 1, differing: 0 }, balances: [] },
      ])
      const held = await other.app.db.selectFrom('users').select('held').where('id', '=', 1).executeTakeFirstOrThrow()
      expect(held).toEqual({ held: 0 })
    },
  )

  it('only migrate changes a database of an older version, and tells before what it would do', async () => {
    const database = await freshDatabase(kind, 'migrated')
    const open = await database.open()
    await sql`delete from kysely_migration where name = '0042-model-ends'`.execute(open.db)
    await sql`alter table alerts drop column note`.execute(open.db)
    await sql`alter table upstream_models drop column ends`.execute(open.db)
    await open.close()
    const env = { ...database.env, MASTER_KEY: masterKey }
    await expect(runCommand(verifyCommand, [], env)).rejects.toThrow('older version')
    const dry = await runCommand(migrateCommand, ['--dry-run'], env)
    expect(dry.output.split('\n')).toEqual([
      '0042-model-ends',
      '  column upstream_models.ends: locks its table for a moment',
      '  column alerts.note: locks its table for a moment',
      'Would run: 1 migration.',
      '',
    ])
    await expect(runCommand(verifyCommand, [], env)).rejects.toThrow('older version')
    const ran = await sluice(['migrate', '--json'], env)
    expect([ran.code, JSON.parse(ran.output).migrations.length]).toEqual([0, 1])
    expect((await runCommand(migrateCommand, [], env)).output).toBe('The database is up to date.\n')
    await database.drop()
  })
})

anyDatabase('the command line, over a running server,', (_fresh, kind) => {
  it('doctor reports what the server needs and which channels do not answer', async () => {
    const server = await serverOfTest(kind)
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.writeHead(404).end()
    })
    const good = await addChannel(server, { url, models: model })
    const env = { ...envOf(server), PORT: new URL(server.url).port }
    const clean = await sluice(['doctor', '--json'], env)
    expect([clean.code, clean.errors]).toEqual([0, ''])
    const { ok, checks } = JSON.parse(clean.output) as { ok: boolean; checks: { name: string; state: string; found: string }[] }
    const stateOf = (name: string) => checks.find((check) => check.name === name)
    expect(ok).toBe(true)
    expect(stateOf('Port')).toMatchObject({ state: 'ok', found: expect.stringContaining('Sluice 1.') })
    expect(stateOf('Database')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining(kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'),
    })
    expect(stateOf('Clock')).toMatchObject({ state: 'ok' })
    expect(stateOf(`Channel ${good}`)).toMatchObject({ state: 'ok', found: expect.stringContaining(url) })
    expect(stateOf('Disk') !== undefined).toBe(kind === 'sqlite')

    const dead = await addChannel(server, { url: 'http://127.0.0.1:9', models: model })
    const other = await httpUpstream((_request, response) => void response.end('something else'))
    const spoilt = { PORT: new URL(other).port, REDIS_URL: 'redis://127.0.0.1:9', WORKERS: '256' }
    const found = await runCommand(doctorCommand, [], { ...env, ...spoilt })
    expect(found.code).toBe(1)
    expect(found.output).toMatch(
      new RegExp(`FAILED  Channel ${dead}: .*http://127.0.0.1:9: the address could not be reached \\(.*ECONNREFUSED`),
    )
    expect(found.output).toMatch(/FAILED {2}Port: .* is used by (?:another program|\S+ \(process \d+\))/)
    expect(found.output).toMatch(/WARNING Redis: /)
    expect(found.output).toMatch(/WARNING Processes: WORKERS=256 on /)
    expect(found.output).not.toMatch(/sk-/)
    const lines = found.output.trimEnd().split('\n')
    const problems = lines.flatMap((line, index) => (/^(FAILED|WARNING)/.test(line) ? [index] : []))
    expect(problems.map((index) => lines[index + 1])).toEqual(problems.map(() => expect.stringMatching(/^ {8}\w/)))

    const wrongKey = await runCommand(doctorCommand, ['--json'], { ...env, MASTER_KEY: Buffer.alloc(32, 3).toString('base64') })
    expect([wrongKey.code, JSON.parse(wrongKey.output).ok]).toEqual([1, false])
    expect(await runCommand(doctorCommand, [], { ...env, PORT: 'x' })).toMatchObject({
      code: 1,
      output: expect.stringContaining('FAILED  Settings: PORT'),
    })
  })

  it('root-password sets a new password for a locked-out super admin, and ends their sessions', async () => {
    const server = await serverOfTest(kind)
    await server.app.db.updateTable('users').set({ status: 2 }).where('id', '=', 1).execute()
    const env = envOf(server)
    await expect(runCommand(rootPasswordCommand, [], env)).rejects.toThrow('--yes')
    await expect(runCommand(rootPasswordCommand, ['--user', 'nobody', '--yes'], env)).rejects.toThrow('nobody is no super admin')

    const reset = await sluice(['root-password', '--yes', '--json'], env)
    const { username, password } = JSON.parse(reset.output)
    expect([reset.code, username]).toEqual([0, 'root'])
    expect(await signIn(server.url, password)).toContain('session=')
    await expect.poll(async () => (await server.raw('GET /api/user/self')).status).toBe(401)

    expect((await sluice(['root-password', '--password-stdin', '--yes'], env, 'short')).errors).toContain('8')
    expect(await sluice(['root-password', '--password-stdin', '--yes'], env, 'brave horse 11\n')).toMatchObject({ code: 0 })
    expect(await signIn(server.url, 'brave horse 11')).toContain('session=')
  })
})

it('a command fails without a database, and does not create one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
  const { code, errors, output } = await sluice(['verify', '--json'], { DATA_DIR: folder })
  expect([code, errors, readdirSync(folder)]).toEqual([2, expect.stringContaining('There is no database'), []])
  expect(JSON.parse(output)).toEqual({ ok: false, error: expect.stringContaining('There is no database') })
})

it('every command has help, and an invalid command line fails', async () => {
  const help = commands.map((command) => command.helpInformation())
  expect(help).toEqual(names.map((name) => expect.stringMatching(`^Usage: ${name} `)))
  // In the ordinary run only the help of one command is tested in a process.
  const told = sampled(names, names.length)
  const runs = [['--help'], ...told.map((name) => [name, '--help']), ['nonsense'], ['verify', '--json', '--nonsense']]
  const ran = await Promise.all(runs.map((args) => sluice(args, {})))
  expect(ran.map(({ code }) => code)).toEqual([0, ...told.map(() => 0), 2, 2])
  for (const name of names) expect(ran[0]?.output).toContain(`  ${name} `)
  for (const [index, name] of told.entries()) expect(ran[index + 1]?.output).toContain(`Usage: sluice ${name}`)
  expect(ran.at(-2)).toMatchObject({ output: '', errors: expect.stringContaining("unknown command 'nonsense'") })
  expect(JSON.parse(ran.at(-1)?.output ?? '')).toEqual({ ok: false, error: "error: unknown option '--nonsense'" })
})
