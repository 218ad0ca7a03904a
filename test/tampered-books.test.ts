import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { Database } from '../src/server/base/db/open.ts'
import { recordAudit } from '../src/server/base/options/audit.ts'
import { refundCharge } from '../src/server/money/ledger/refund.ts'
import { verifyCommand } from '../src/server/run/commands/verify.ts'
import { testMasterKey } from './helpers/core.ts'
import { eachDatabase, type TestDatabase } from './helpers/databases.ts'
import { aCharge, aHold, ledgerOf } from './helpers/ledger.ts'
import { runCommand } from './helpers/sluice.ts'

/**
 * Books of two users: three charges of 70 units, the first of them refunded, a redeemed code, a paid order and its withdrawal; and four rows of
 * the audit log. What the triggers of the tables refuse is possible here, as it is for an owner of the database.
 */
async function stage(fresh: () => Promise<TestDatabase>) {
  const node = await ledgerOf(await fresh())
  const { core, ledger } = node
  const { db } = core
  const [userId, otherId] = [await node.user(1000), await node.user(1000)]
  const tokenId = await node.token(userId, 'unlimited')
  const requests: string[] = []
  for (let count = 0; count < 3; count++) {
    const hold = aHold(userId, tokenId, 100)
    await ledger.hold(hold)
    await ledger.settle(hold, aCharge(hold, 70))
    requests.push(hold.requestId)
  }
  const code = {
    user_id: 1,
    key_hash: 'h',
    key_sealed: 's',
    name: 'n',
    quota: 500,
    created_time: 1,
    used_user_id: userId,
    status: 3,
  }
  const { id } = await db.insertInto('redemptions').values(code).returning('id').executeTakeFirstOrThrow()
  const order = { user_id: userId, provider: 'epay', method: 'm', trade_no: 'T1', quota: 400, amount: 1, money_minor: 1 }
  await db
    .insertInto('top_ups')
    .values({ ...order, currency: 'CNY', status: 'success', created_time: 1, withdrawn: 30 })
    .execute()
  await db.transaction().execute(async (within) => {
    await ledger.credit(within, { userId, kind: 'redeem', amount: 500, reference: `redeem:${id}`, at: 1 })
    await ledger.credit(within, { userId, kind: 'top_up', amount: 400, reference: 'top_up:T1', at: 1 })
    await ledger.credit(within, { userId, kind: 'refund', amount: -30, reference: 'top_up_withdraw:T1', at: 1 })
    const refunded = { requestId: requests[0] ?? '', channelId: 0, model: '', group: '', at: 1, detail: '' }
    await refundCharge(ledger, within, refunded)
    for (const after of ['a', 'b', 'c', 'd'])
      await recordAudit(core, within, {
        caller: { id: 1, username: 'root', address: '::1' },
        action: 'act',
        target: 't',
        before: 'x',
        after,
      })
  })
  await withoutTriggers(core.database)
  const [ledgerRows, auditRows] = [
    await db.selectFrom('ledger').selectAll().execute(),
    await db.selectFrom('audit').selectAll().execute(),
  ]

  /** What verify finds after the act, which is undone then. */
  const foundAfter = async (act: () => Promise<unknown>) => {
    await act()
    const { code, output } = await runCommand(verifyCommand, ['--json'], {
      ...node.database.env,
      MASTER_KEY: testMasterKey.toString('base64'),
    })
    for (const table of ['ledger', 'audit'] as const) await db.deleteFrom(table).execute()
    await db.insertInto('ledger').values(ledgerRows).execute()
    await db.insertInto('audit').values(auditRows).execute()
    const { charges, credits, balances, audit } = JSON.parse(output)
    return {
      code,
      charges: charges.differences.map((one: { requestId: string }) => one.requestId),
      columns: charges.differences.flatMap((one: { columns: string[] }) => one.columns),
      credits: credits.map((one: { reference: string }) => one.reference),
      balances: balances.map((one: { userId: number }) => one.userId),
      audit: audit.brokenAt,
    }
  }
  return { db, userId, otherId, requests, code: `redeem:${id}`, foundAfter, auditIds: auditRows.map((row) => row.id) }
}

async function withoutTriggers({ dialect, db }: Database): Promise<void> {
  for (const table of ['ledger', 'audit'])
    if (dialect === 'postgres') await sql.raw(`drop trigger ${table}_no_change on ${table}`).execute(db)
    else for (const act of ['update', 'delete']) await sql.raw(`drop trigger ${table}_no_${act}`).execute(db)
}

const nothing = { charges: [], columns: [], credits: [], balances: [], audit: undefined }

eachDatabase('verify', (fresh) => {
  it('[T242] finds each changed column of a charge in the ledger, and a removed and an inserted row', async () => {
    const { db, userId, otherId, requests, foundAfter } = await stage(fresh)
    const [, second = ''] = requests
    const set = (columns: object) => () =>
      db.updateTable('ledger').set(columns).where('reference', '=', `charge:${second}`).execute()
    const row = { token_id: 0, kind: 'charge', created_at: 1 } as const
    const insert = (columns: { user_id: number; amount: number }) => () =>
      db
        .insertInto('ledger')
        .values({ ...row, reference: 'charge:invented', ...columns })
        .execute()

    expect(await foundAfter(async () => {})).toEqual({ code: 0, ...nothing })
    const found = { code: 1, ...nothing, charges: [second] }
    expect(await foundAfter(set({ amount: -60 }))).toEqual({ ...found, balances: [userId] })
    expect(await foundAfter(set({ user_id: otherId }))).toEqual({ ...found, columns: ['user_id'], balances: [userId, otherId] })
    expect(await foundAfter(set({ token_id: 0 }))).toEqual({ ...found, columns: ['token_id'] })
    expect(await foundAfter(set({ created_at: 5 }))).toEqual({ ...found, columns: ['created_at'] })
    expect(await foundAfter(set({ kind: 'refund' }))).toEqual({ ...found, columns: ['kind'], credits: [`charge:${second}`] })
    expect(await foundAfter(set({ reference: 'charge:another' }))).toEqual(found)
    const remove = () => db.deleteFrom('ledger').where('reference', '=', `charge:${second}`).execute()
    expect(await foundAfter(remove)).toEqual({ ...found, balances: [userId] })
    expect(await foundAfter(insert({ user_id: userId, amount: -5 }))).toEqual({ code: 1, ...nothing, balances: [userId] })
  })

  it('[T242] finds a changed, removed and invented cost of the site', async () => {
    const { db, requests, foundAfter } = await stage(fresh)
    const [, second = '', third = ''] = requests
    const other = JSON.stringify({
      model_price: 0.00018,
      group_ratio: 1,
      above_hold: true,
      held: 70,
      admin_info: { site_cost: { amount: 20, reason: 'above_hold' } },
    })
    await db.updateTable('logs').set({ other }).where('request_id', '=', second).execute()
    const cost = { request_id: second, user_id: 1, channel_id: 1, model: 'm', amount: 20, reason: 'above_hold', created_at: 1 }
    await db.insertInto('site_costs').values(cost).execute()
    const set = (columns: Partial<typeof cost>) => () => db.updateTable('site_costs').set(columns).execute()

    expect(await foundAfter(async () => {})).toEqual({ code: 0, ...nothing })
    const found = { code: 1, ...nothing, charges: [second], columns: ['site_cost'] }
    expect(await foundAfter(set({ amount: 19 }))).toEqual(found)
    expect(await foundAfter(set({ amount: 20, reason: 'undelivered' }))).toEqual(found)
    expect(await foundAfter(set({ reason: 'above_hold', request_id: third }))).toEqual({
      ...found,
      charges: [second, third],
      columns: ['site_cost', 'site_cost'],
    })
    await db.updateTable('site_costs').set({ request_id: second, amount: 21 }).execute()
    const both = () =>
      db
        .updateTable('logs')
        .set({ other: other.replace('"amount":20', '"amount":21') })
        .where('request_id', '=', second)
        .execute()
    expect(await foundAfter(both)).toEqual(found)
  })

  it('[T242] finds a changed charge although the balance was changed with it', async () => {
    const { db, userId, requests, foundAfter } = await stage(fresh)
    const [, second = ''] = requests
    const both = async () => {
      await db.updateTable('ledger').set({ amount: -60 }).where('reference', '=', `charge:${second}`).execute()
      await db
        .updateTable('users')
        .set((eb) => ({ quota: eb('quota', '+', 10) }))
        .where('id', '=', userId)
        .execute()
    }
    expect(await foundAfter(both)).toEqual({ code: 1, ...nothing, charges: [second] })
  })

  it('[T242] finds a changed amount, user, kind or reference of credits, and removed and inserted ones', async () => {
    const { db, userId, otherId, requests, code, foundAfter } = await stage(fresh)
    const refund = `refund:${requests[0]}`
    for (const reference of [code, 'top_up:T1', 'top_up_withdraw:T1', refund]) {
      const row = () => db.updateTable('ledger').where('reference', '=', reference)
      const found = { code: 1, ...nothing, credits: [reference], balances: [userId] }
      expect(await foundAfter(() => row().set({ amount: 41 }).execute())).toEqual(found)
      expect(await foundAfter(() => row().set({ user_id: otherId }).execute())).toEqual({ ...found, balances: [userId, otherId] })
      expect(await foundAfter(() => row().set({ kind: 'adjust' }).execute())).toEqual({ ...found, balances: [] })
      expect(await foundAfter(() => row().set({ reference: 'else:1' }).execute())).toEqual({
        ...found,
        credits: ['else:1'],
        balances: [],
      })
      const removed = () => db.deleteFrom('ledger').where('reference', '=', reference).execute()
      expect(await foundAfter(removed)).toEqual({ ...found, credits: [] })
    }
    const invented = { reference: 'grant:9', user_id: otherId, token_id: 0, kind: 'grant', amount: 5, created_at: 1 } as const
    const inserted = () => db.insertInto('ledger').values(invented).execute()
    expect(await foundAfter(inserted)).toEqual({ code: 1, ...nothing, balances: [otherId] })
  })

  it('[T242] finds each changed column of the audit log, and a removed, an inserted and a repeated row', async () => {
    const { db, foundAfter, auditIds } = await stage(fresh)
    const [, second = 0, third = 0, last = 0] = auditIds
    const changes = {
      ...{ created_at: 5, actor_id: 9, actor_name: 'somebody', address: '::2' },
      ...{ action: 'other', target: 'u', before: 'y', after: 'z', chain: '0'.repeat(64) },
    }
    for (const [column, value] of Object.entries(changes)) {
      const change = () =>
        db
          .updateTable('audit')
          .set({ [column]: value })
          .where('id', '=', second)
          .execute()
      expect([column, await foundAfter(change)]).toEqual([column, { code: 1, ...nothing, audit: second }])
    }
    const removed = () => db.deleteFrom('audit').where('id', '=', second).execute()
    expect(await foundAfter(removed)).toEqual({ code: 1, ...nothing, audit: third })
    const repeated = async () => {
      const row = await db.selectFrom('audit').selectAll().where('id', '=', last).executeTakeFirstOrThrow()
      await db
        .insertInto('audit')
        .values({ ...row, id: last + 1 })
        .execute()
    }
    expect(await foundAfter(repeated)).toEqual({ code: 1, ...nothing, audit: last + 1 })
  })
})
