import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { openSecrets } from '../db/key-ring.ts'
import type { Database } from '../db/open.ts'
import { fieldSecrets, newDataKey } from '../lib/secrets/secrets.ts'
import { recordAction, recordAudit, verifyAudit } from './audit.ts'

const caller = { id: 1, username: 'root', address: '127.0.0.1' }

eachDatabase('audit', (fresh) => {
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
    const secrets = await openSecrets(database, randomBytes(32), 0)
    const core = { database, db: database.db, secrets, now: () => 1_700_000_000_000 }
    const record = (after: string) => recordAction(core, { caller, action: 'test', target: 'row', after })
    return { ...core, record }
  }

  it('continues one unbroken chain under concurrent writers', async () => {
    const core = await start()
    await Promise.all(Array.from({ length: 40 }, (_, index) => core.record(String(index))))
    const state = await verifyAudit(core)
    expect(state).toMatchObject({ rows: 40 })
    expect(state.brokenAt).toBeUndefined()
    expect(state.head).toMatch(/^[0-9a-f]{64}$/)
  })

  it('is written in the transaction of the action: a failed action leaves no row', async () => {
    const core = await start()
    await core.record('kept')
    const failing = core.db.transaction().execute(async (within) => {
      await recordAudit(core, within, { caller: undefined, action: 'test', target: 'row' })
      throw new Error('the act failed')
    })
    await expect(failing).rejects.toThrow('the act failed')
    expect(await verifyAudit(core)).toMatchObject({ rows: 1 })
  })

  it('[T242] finds the first row that was changed, inserted or removed directly in the database', async () => {
    for (const tamper of ['change', 'remove', 'insert'] as const) {
      const core = await start()
      for (const after of ['a', 'b', 'c', 'd']) await core.record(after)
      await withoutTriggers(core.database)
      if (tamper === 'change')
        await core.db.updateTable('audit').set({ actor_name: 'somebody else' }).where('id', '=', 2).execute()
      if (tamper === 'remove') await core.db.deleteFrom('audit').where('id', '=', 2).execute()
      if (tamper === 'insert') {
        const row = await core.db.selectFrom('audit').selectAll().where('id', '=', 4).executeTakeFirstOrThrow()
        await core.db
          .insertInto('audit')
          .values({ ...row, id: 5 })
          .execute()
      }
      expect((await verifyAudit(core)).brokenAt, tamper).toBe({ change: 2, remove: 3, insert: 5 }[tamper])
    }
  })

  it('[T242] has rows that the database refuses to change', async () => {
    const core = await start()
    await core.record('a')
    await expect(core.db.updateTable('audit').set({ after: 'b' }).execute()).rejects.toThrow('append-only')
    await expect(core.db.deleteFrom('audit').execute()).rejects.toThrow('append-only')
  })

  it('stays valid when another data key becomes active', async () => {
    const { db, database, now } = await start()
    const [old, young] = [newDataKey(), newDataKey()]
    const before = { db, database, now, secrets: fieldSecrets([old], old.id) }
    await recordAction(before, { caller, action: 'test', target: 'row' })
    expect(await verifyAudit({ db, secrets: fieldSecrets([old, young], young.id) })).toMatchObject({ rows: 1 })
    expect(await verifyAudit({ db, secrets: fieldSecrets([young], young.id) })).toMatchObject({ brokenAt: 1 })
  })
})

async function withoutTriggers({ dialect, db }: Database): Promise<void> {
  if (dialect === 'postgres') {
    await sql`drop trigger audit_no_change on audit`.execute(db)
    return
  }
  for (const act of ['update', 'delete']) await sql`drop trigger ${sql.raw(`audit_no_${act}`)}`.execute(db)
}
