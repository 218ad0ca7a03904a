import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startPostgres } from '../scripts/postgres-server.mjs'
import { doctorCommand } from '../src/server/run/commands/doctor.ts'
import { migrateCommand } from '../src/server/run/commands/migrate.ts'
import { verifyCommand } from '../src/server/run/commands/verify.ts'
import { serverOfTest } from './helpers/app.ts'
import { testMasterKey } from './helpers/core.ts'
import { freshDatabase } from './helpers/databases.ts'
import { inlineCommands } from './helpers/documented-commands.ts'
import { hasPgbouncer, startPgbouncer } from './helpers/pgbouncer.ts'
import { addChannel, addToken, requireBalancedBooks } from './helpers/seed.ts'
import { runCommand } from './helpers/sluice.ts'
import { newFolder } from './helpers/templates.ts'
import { upstreamOfTest } from './helpers/upstream.ts'
import { ask, chat, model } from './relay/stage.ts'

// Two nodes whose database is behind PgBouncer in transaction mode: each transaction may have another connection.

const usual = 'ignore_startup_parameters = extra_float_digits'
const ignoring =
  'ignore_startup_parameters = extra_float_digits, statement_timeout, lock_timeout, idle_in_transaction_session_timeout, options'

describe.runIf(hasPgbouncer).each([
  { settings: 'the usual settings', more: usual, hasDirect: true },
  { settings: 'startup parameters that it ignores', more: ignoring, hasDirect: true },
  { settings: 'no direct address', more: usual, hasDirect: false },
])('behind PgBouncer, with $settings', ({ more, hasDirect }) => {
  it('all calls are answered and charged once, jobs run, lists and searches work, and nodes hear of each other', async () => {
    const database = await freshDatabase('postgres', 'started')
    onTestFinished(() => database.drop())
    const pgbouncer = await startPgbouncer(database.env.DATABASE_URL, more)
    onTestFinished(() => pgbouncer.stop())
    const env = {
      DATABASE_URL: pgbouncer.url,
      DATABASE_DIRECT_URL: hasDirect ? database.env.DATABASE_URL : '',
      DATA_DIR: database.env.DATA_DIR,
    }
    const upstream = await upstreamOfTest({ programs: { [model]: { words: 5 } } })
    const nodes = [await serverOfTest('postgres', { database, env }), await serverOfTest('postgres', { database, env })] as const
    await addChannel(nodes[0], { url: upstream.url, models: model })
    const { id, key } = await addToken(nodes[0])
    // Without a direct address the other node hears of the channel some seconds later.
    await expect.poll(async () => (await ask(nodes[1], key, chat())).status, { timeout: 20_000 }).toBe(200)

    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) => ask(nodes[at % 2 === 0 ? 0 : 1], key, chat({ stream: at % 4 < 2 }))),
    )
    expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([])
    for (const node of nodes) await requireBalancedBooks(node)
    const listed = await nodes[1].call<{ total: number }>(`GET /api/log/?type=2&model_name=${model}&page_size=10`)
    expect(listed.total).toBe(101)
    // Nothing of a read stays behind on the connections that others use.
    expect((await ask(nodes[0], key, chat())).status).toBe(200)
    await nodes[0].call('POST /api/job/roll-up-usage/run')
    await expect
      .poll(
        async () =>
          (await nodes[0].call<{ name: string; outcome: string }[]>('GET /api/job/')).find(({ name }) => name === 'roll-up-usage')
            ?.outcome,
      )
      .toBe('ok')

    await nodes[0].call('PUT /api/token/?status_only=true', { id, status: 2 })
    await expect.poll(async () => (await ask(nodes[1], key, chat())).status, { timeout: 20_000 }).toBe(401)

    const ofCommand = { ...env, MASTER_KEY: testMasterKey.toString('base64') }
    expect((await runCommand(verifyCommand, ['--json'], ofCommand)).code).toBe(0)
    const { checks } = JSON.parse((await runCommand(doctorCommand, ['--json'], ofCommand)).output)
    expect(checks.find(({ name }: { name: string }) => name === 'Pooler')).toMatchObject({
      state: 'warning',
      found: expect.stringContaining(`DATABASE_DIRECT_URL is ${hasDirect ? 'set' : 'absent'}`),
    })
  })
})

it.runIf(hasPgbouncer)(
  'doctor asks for the limits that scale-out.md sets for the role, and for nothing when it has them',
  async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const direct = `${postgres.url}/postgres`
    const pooler = async () => {
      // Connections of a pooler that were opened before keep the limits that the role had.
      const pgbouncer = await startPgbouncer(direct, usual)
      const env = { DATABASE_URL: pgbouncer.url, DATABASE_DIRECT_URL: direct, DATA_DIR: newFolder() }
      await runCommand(migrateCommand, [], env)
      const { output } = await runCommand(doctorCommand, ['--json'], { ...env, MASTER_KEY: testMasterKey.toString('base64') })
      await pgbouncer.stop()
      return JSON.parse(output).checks.find(({ name }: { name: string }) => name === 'Pooler')
    }
    const settings = inlineCommands('scale-out.md').filter((command) => command.startsWith('alter role'))
    const { advice } = await pooler()
    for (const setting of settings) expect(advice).toContain(setting.replace('role sluice', 'role "sluice"'))
    const operator = new pg.Client(direct)
    await operator.connect()
    for (const setting of settings) await operator.query(setting)
    await operator.end()
    expect(await pooler()).toEqual({
      name: 'Pooler',
      state: 'ok',
      found: expect.stringContaining('lock_timeout of sluice is 1s'),
    })
    expect(settings).toHaveLength(2)
  },
)
