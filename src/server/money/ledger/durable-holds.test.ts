import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eachDatabase, freshDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf, outcome, type TestLedger, tally } from '../../../../test/helpers/ledger.ts'
import { newFolder } from '../../../../test/helpers/templates.ts'
import { openBackup, restoreBackup, writeBackup } from '../../base/db/backup.ts'
import type { BudgetWindow } from './budget-window.ts'
import { endDurable, makeDurable } from './durable-holds.ts'
import type { Hold } from './ledger.ts'
import { reconcile } from './reconcile.ts'
import { verifyCharges } from './verify-charges.ts'

const start = 1_760_000_000

async function addBudget({ core }: TestLedger, limit: number): Promise<BudgetWindow> {
  const row = { scope: 'user', subject: '1', period: 'day', amount: 0, set_by: 'admin', created_at: 0 }
  const { id: budgetId } = await core.db.insertInto('budgets').values(row).returning('id').executeTakeFirstOrThrow()
  return { budgetId, start, since: start, until: start, step: 0, limit }
}

const budgetSums = ({ core }: TestLedger) => core.db.selectFrom('budget_sums').select(['charged', 'held']).execute()

/** Holds, and makes the hold durable under this id. */
async function order({ core, ledger }: TestLedger, hold: Hold, id: string): Promise<void> {
  await ledger.hold(hold)
  try {
    await core.db.transaction().execute((within) => makeDurable(core.database, within, { hold, id, at: start }))
  } catch (error) {
    await ledger.release(hold)
    throw error
  }
  await ledger.handOver(hold)
}

/** Ends a durable hold with a charge for each of these amounts. */
async function end({ core, ledger }: TestLedger, id: string, amounts: readonly number[], userId = 0) {
  const charges = amounts.map((amount, at) => {
    const requestId = `${id}.${at}`
    return { requestId, charge: aCharge({ requestId, userId, tokenId: 0, amount }, amount, { channelId: 3, model: `m${at}` }) }
  })
  const ended = await core.db.transaction().execute((within) => endDurable(core.database, within, id, charges))
  if (ended) ledger.refresh({ ...ended, budgets: true })
  return ended
}

eachDatabase('a durable hold', (fresh, kind) => {
  it('takes from user, token and budget what it holds, on every node and after restarts, until it ends', async () => {
    const database = await fresh()
    const gone = await ledgerOf(database, { node: 'gone' })
    const userId = await gone.user(1000)
    const tokenId = await gone.token(userId, 900)
    const window = await addBudget(gone, 800)
    const budgets = [window]
    await order(gone, { ...aHold(userId, tokenId, 300), budgets }, 'order')
    const refused = async (node: TestLedger) => {
      const tries = [aHold(userId, 0, 701), aHold(userId, tokenId, 601), { ...aHold(userId, 0, 501), budgets }]
      return Promise.all(tries.map((hold) => outcome(() => node.ledger.hold(hold))))
    }
    const refusals = ['quota_insufficient', 'token_quota_insufficient', 'budget_exceeded']
    expect(await refused(gone)).toEqual(refusals)
    expect(gone.ledger.openHolds).toBe(0)
    await gone.close()

    const next = await ledgerOf(database, { node: 'next' })
    await next.core.db.updateTable('holds').set({ lease_until: 1 }).where('node', '<>', '').execute()
    expect(await next.ledger.expire()).toEqual({ settled: 0, released: 0 })
    expect(await refused(next)).toEqual(refusals)
    expect(await outcome(() => next.ledger.hold({ ...aHold(userId, tokenId, 500), budgets }))).toBe('ok')
    expect((await next.userRow(userId)).held).toBe(kind === 'postgres' ? 800 : 300)
  })

  it('ends with one charge for each model, its log rows, and the rest free, once', async () => {
    const node = await ledgerOf(await fresh())
    const userId = await node.user(1000)
    const tokenId = await node.token(userId, 900)
    const window = await addBudget(node, 800)
    await order(node, { ...aHold(userId, tokenId, 300), budgets: [window] }, 'order')

    const ends = await Promise.all([1, 2, 3].map(() => outcome(() => end(node, 'order', [120, 30], userId))))
    expect(ends.filter((result) => result === 'ok').length).toBeGreaterThan(0)
    expect(await end(node, 'order', [120, 30], userId)).toBeUndefined()
    expect(await node.userRow(userId)).toEqual({ quota: 850, held: 0, used_quota: 150, request_count: 2 })
    expect(await node.tokenRow(tokenId)).toMatchObject({ remain_quota: 750, held: 0, used_quota: 150, status: 1 })
    expect(await budgetSums(node)).toEqual([{ charged: 150, held: 0 }])
    const { db } = node.core
    expect(await db.selectFrom('budget_charges').select('amount').orderBy('amount').execute()).toEqual([
      { amount: 30 },
      { amount: 120 },
    ])
    expect(await db.selectFrom('quota_data').select(['model_name', 'quota', 'count']).orderBy('model_name').execute()).toEqual([
      { model_name: 'm0', quota: 120, count: 1 },
      { model_name: 'm1', quota: 30, count: 1 },
    ])
    expect(await db.selectFrom('holds').selectAll().execute()).toEqual([])
    expect(await reconcile(node.core)).toEqual([])
    expect((await verifyCharges(db)).rows).toBe(2)
    expect(await outcome(() => node.ledger.hold(aHold(userId, tokenId, 751)))).toBe('token_quota_insufficient')
    expect(await outcome(() => node.ledger.hold(aHold(userId, tokenId, 750)))).toBe('ok')
  })

  it('ends without a charge as if it had not been', async () => {
    const node = await ledgerOf(await fresh())
    const userId = await node.user(1000)
    await order(node, aHold(userId, 0, 1000), 'order')
    expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 1)))).toBe('quota_insufficient')
    expect(await end(node, 'order', [])).toEqual({ userId, tokenId: 0 })
    expect(await node.userRow(userId)).toEqual({ quota: 1000, held: 0, used_quota: 0, request_count: 0 })
    expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 1000)))).toBe('ok')
  })

  it('is not there when its transaction fails, and the hold of the call is released', async () => {
    const node = await ledgerOf(await fresh())
    const userId = await node.user(1000)
    await order(node, aHold(userId, 0, 400), 'order')
    expect(await outcome(() => order(node, aHold(userId, 0, 400), 'order'))).not.toBe('ok')
    expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 601)))).toBe('quota_insufficient')
    expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 600)))).toBe('ok')
  })

  it('stands in a database that was restored from a backup of either kind, and a hold of a call does not', async () => {
    const source = await ledgerOf(await fresh())
    const userId = await source.user(1000)
    const tokenId = await source.token(userId, 900)
    const window = await addBudget(source, 800)
    await order(source, { ...aHold(userId, tokenId, 300), budgets: [window] }, 'order')
    const call = { ...aHold(userId, tokenId, 100), budgets: [window] }
    await source.ledger.hold(call)
    source.ledger.checkpoint(call, aCharge(call, 0))
    const other = aHold(await source.user(0), 0, 0)
    await source.ledger.settle(other, aCharge(other, 0))
    const file = join(newFolder(), 'backup')
    await writeBackup(source.core.database, file)
    await source.ledger.release(call)

    for (const target of ['sqlite', 'postgres'] as const) {
      const database = await freshDatabase(target)
      const empty = await database.open()
      const backup = await openBackup(file)
      await restoreBackup(backup, empty)
      await backup.close()
      await empty.close()
      const node = await ledgerOf(database, { node: 'restored' })
      await node.ledger.expire()
      expect((await node.userRow(userId)).held).toBe(300)
      expect(await budgetSums(node)).toEqual([{ charged: 0, held: 300 }])
      expect(await outcome(() => node.ledger.hold(aHold(userId, tokenId, 601)))).toBe('token_quota_insufficient')
      await end(node, 'order', [120, 30], userId)
      expect(await node.userRow(userId)).toMatchObject({ quota: 850, held: 0 })
      expect(await budgetSums(node)).toEqual([{ charged: 150, held: 0 }])
    }
  })

  it('exhausts a token that its charges have used up', async () => {
    const node = await ledgerOf(await fresh())
    const userId = await node.user(1000)
    const tokenId = await node.token(userId, 300)
    await order(node, aHold(userId, tokenId, 300), 'order')
    await end(node, 'order', [300], userId)
    expect(await node.tokenRow(tokenId)).toMatchObject({ remain_quota: 0, status: 4 })
    const unlimited = await node.token(userId, 'unlimited')
    await order(node, aHold(userId, unlimited, 300), 'other')
    await end(node, 'other', [300], userId)
    expect(await node.tokenRow(unlimited)).toMatchObject({ remain_quota: 0, held: 0, status: 1 })
  })

  it('[T145] never exceeds a balance together with calls and charges of other orders', async () => {
    const database = await fresh()
    const first = await ledgerOf(database, { node: 'a' })
    const nodes = kind === 'postgres' ? [first, await ledgerOf(database, { node: 'b' })] : [first]
    const userId = await first.user(1000)
    const window = await addBudget(first, 900)
    const outcomes = await Promise.all(
      Array.from({ length: 120 }, async (_, at) => {
        const node = nodes[at % nodes.length] ?? first
        const hold = { ...aHold(userId, 0, 30), budgets: [window] }
        if (at % 3 !== 0)
          return outcome(async () => {
            await node.ledger.hold(hold)
            await node.ledger.settle(hold, aCharge(hold, 30))
          })
        return outcome(async () => {
          await order(node, hold, `order-${at}`)
          if (at % 2 === 0) await end(node, `order-${at}`, [10, 20], userId)
        })
      }),
    )
    expect(tally(outcomes)).toEqual({ ok: 30, budget_exceeded: 90 })
    const { quota, held } = await first.userRow(userId)
    expect(quota - held).toBe(100)
    const [sum] = await budgetSums(first)
    expect((sum?.charged ?? 0) + (sum?.held ?? 0)).toBe(900)
    expect(await reconcile(first.core)).toEqual([])
  })
})
