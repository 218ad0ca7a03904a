import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { afterEach, expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { testLogger } from '../../../../test/helpers/logger.ts'
import { Bus } from '../bus/bus.ts'
import { openSecrets } from '../db/key-ring.ts'
import { change } from './change.ts'

const caller = { id: 1, username: 'root', address: '127.0.0.1' }

eachDatabase('a change', (fresh) => {
  const cleanups: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  async function start() {
    const test = await fresh()
    const database = await test.open()
    cleanups.push(
      () => test.drop(),
      () => database.close(),
    )
    const bus = new Bus(testLogger())
    const secrets = await openSecrets(database, randomBytes(32), 0)
    const core = { database, db: database.db, secrets, bus, now: () => 1_700_000_000_000 }

    const messages: number[] = []
    bus.on('channels', (id) => messages.push(id))
    const silences = () => core.db.selectFrom('alert_silences').select('comment').orderBy('id').execute()
    const audited = () =>
      core.db.selectFrom('audit').select(['actor_name', 'action', 'target', 'before', 'after']).orderBy('id').execute()
    /** Adds a silence, reports it, and goes on with `more`. Returns its id. */
    const add = (comment: string, more = () => {}) =>
      change(core, caller, async (within, audit) => {
        const row = { until: 1, comment, created_by: 'root', created_at: 0 }
        const { id } = await within.insertInto('alert_silences').values(row).returning('id').executeTakeFirstOrThrow()
        audit({ action: 'test.add', target: `silence:${id}`, before: 'text', after: { comment }, topic: 'channels', id })
        more()
        return id
      })
    return { core, messages, silences, audited, add }
  }

  it('commits rows together with the row of the audit log, and returns the result of its step', async () => {
    const { add, silences, audited } = await start()
    const id = await add('kept')
    expect(await silences()).toEqual([{ comment: 'kept' }])
    const values = { before: 'text', after: '{"comment":"kept"}' }
    expect(await audited()).toEqual([{ actor_name: 'root', action: 'test.add', target: `silence:${id}`, ...values }])
  })

  it('leaves neither, and publishes nothing, when its step fails', async () => {
    const { add, silences, audited, messages } = await start()
    const fails = () => {
      throw new Error('the step failed')
    }
    await expect(add('lost', fails)).rejects.toThrow('the step failed')
    expect([await silences(), await audited(), messages]).toEqual([[], [], []])
  })

  it('leaves neither, and publishes nothing, when the audit log cannot be written', async () => {
    const { core, add, silences, messages } = await start()
    await sql`alter table audit rename to elsewhere`.execute(core.db)
    await expect(add('lost')).rejects.toThrow('audit')
    expect([await silences(), messages]).toEqual([[], []])
  })

  it('publishes its topic and the id of its row, though not before the end of its step', async () => {
    const { add, messages } = await start()
    const id = await add('told', () => expect(messages).toEqual([]))
    expect(messages).toEqual([id])
  })

  it('is neither audited nor published when its commit fails', async () => {
    const { core, audited, messages } = await start()
    await sql`create table elsewhere (id integer primary key)`.execute(core.db)
    await sql`create table refused (id integer references elsewhere (id) deferrable initially deferred)`.execute(core.db)
    const refused = change(core, caller, async (within, audit) => {
      await sql`insert into refused values (1)`.execute(within)
      audit({ action: 'test.add', target: 'refused:1', topic: 'channels', id: 1 })
    })
    await expect(refused).rejects.toThrow(/foreign key/i)
    expect([await audited(), messages]).toEqual([[], []])
  })

  it('is neither audited nor published when its step reports nothing', async () => {
    const { core, audited } = await start()
    expect(await change(core, caller, async () => 'unchanged')).toBe('unchanged')
    expect([await audited(), core.bus.publications]).toEqual([[], 0])
  })

  it('is published without a row of the audit log where it is reported without an action', async () => {
    const { core, audited, messages, silences } = await start()
    await change(core, caller, async (within, report) => {
      const row = { until: 1, comment: 'own', created_by: 'root', created_at: 0 }
      await within.insertInto('alert_silences').values(row).execute()
      report({ topic: 'channels', id: 7 })
      expect(messages).toEqual([])
      report({ topic: 'channels' })
    })
    expect([await silences(), await audited(), messages]).toEqual([[{ comment: 'own' }], [], [7, 0]])
  })

  it('has a row for each action alone when it reports others too', async () => {
    const { core, audited, messages } = await start()
    await change(core, caller, async (_within, report) => {
      report({ topic: 'channels', id: 1 })
      report({ action: 'test.add', target: 'one' })
    })
    expect((await audited()).map(({ action }) => action)).toEqual(['test.add'])
    expect(messages).toEqual([1])
  })

  it('has a row of the audit log for each action, in their order; the system is the actor without a caller', async () => {
    const { core, audited } = await start()
    await change(core, undefined, async (_within, audit) => {
      audit({ action: 'test.first', target: 'one' })
      audit({ action: 'test.second', target: 'two', after: 'text' })
    })
    const system = { actor_name: 'system', before: '' }
    expect(await audited()).toEqual([
      { ...system, action: 'test.first', target: 'one', after: '' },
      { ...system, action: 'test.second', target: 'two', after: 'text' },
    ])
    expect(core.bus.publications).toBe(0)
  })

  it('reports its last attempt alone when the database has it repeated', async () => {
    const { add, silences, audited, messages } = await start()
    let attempts = 0
    const id = await add('repeated', () => {
      attempts++
      if (attempts === 1) throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
    })
    expect(attempts).toBe(2)
    expect([await silences(), messages]).toEqual([[{ comment: 'repeated' }], [id]])
    expect(await audited()).toHaveLength(1)
  })
})

it('is published by hand only where one transaction is not the whole change', () => {
  const server = new URL('../../', import.meta.url)
  const publishing = readdirSync(server, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .filter((path) => readFileSync(new URL(path, server), 'utf8').includes('bus.publish('))
  expect(publishing.sort()).toEqual([
    'base/options/change.ts',
    // The charges of a batch may exhaust its token, in a transaction of the ledger.
    'gateway/batches/order.ts',
    // One commit has the charges of many requests, which exhaust tokens.
    'money/ledger/postgres/postgres-store.ts',
    'money/ledger/sqlite/sqlite-store.ts',
    // A reply that was refunded before is published again, in case nobody has seen it.
    'money/ledger/write-off.ts',
    // An import writes everything in batches.
    'run/import/run.ts',
  ])
})
