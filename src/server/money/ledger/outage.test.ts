import { describe, expect, it } from 'vitest'
import { eachDatabase, freshDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf, outcome } from '../../../../test/helpers/ledger.ts'
import { interruptDatabase, refuseRows } from '../../../../test/helpers/outage.ts'
import { reconcile } from './reconcile.ts'

async function eventually(check: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await check()
    } catch (error) {
      if (tries >= 300) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

eachDatabase('ledger without its database', (fresh) => {
  it('[T214] refuses holds, reports entries that are not durable, and writes them when the database is available again', async () => {
    // Longer than the two seconds after which holds are refused.
    const node = await ledgerOf(await fresh(), { commitWaitMs: 2500 })
    const userId = await node.user(1000)
    const holds = Array.from({ length: 5 }, () => aHold(userId, 0, 100))
    for (const hold of holds) await node.ledger.hold(hold)
    const bringBack = await interruptDatabase(node.core.database)

    const settled = await Promise.all(holds.map((hold) => outcome(() => node.ledger.settle(hold, aCharge(hold, 70)))))
    expect(settled).toEqual(Array(5).fill('database_unavailable'))
    expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 1)))).toBe('database_unavailable')

    await bringBack()
    await eventually(async () => expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 1)))).toBe('ok'))
    const again = await Promise.all(holds.map((hold) => outcome(() => node.ledger.settle(hold, aCharge(hold, 70)))))
    expect(again).toEqual(Array(5).fill('ok'))
    expect(await node.userRow(userId)).toMatchObject({ quota: 650, request_count: 5 })
    expect(await reconcile(node.core)).toEqual([])
  })

  it('writes all other charges when one cannot be stored, and that one when it can', async () => {
    // A busy machine takes longer than a caller waits.
    const node = await ledgerOf(await fresh(), { commitWaitMs: 120_000 })
    const userId = await node.user(1000)
    const other = await node.user(1000)
    const bad = aHold(userId, 0, 10)
    const good = Array.from({ length: 10 }, () => aHold(other, 0, 10))
    await node.ledger.hold(bad)
    const accept = await refuseRows(node.core.database, 'ledger', `new.user_id = ${userId}`)

    const settled = node.ledger.settle(bad, aCharge(bad, 10))
    await Promise.all(good.map((hold) => node.ledger.settle(hold, aCharge(hold, 10))))
    expect(await node.userRow(other)).toMatchObject({ quota: 900, request_count: 10 })
    expect(await node.userRow(userId)).toMatchObject({ quota: 1000, request_count: 0 })
    // Its charge counts although it is not in the tables.
    expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 991)))).toBe('quota_insufficient')

    await accept()
    await settled
    await eventually(async () => expect(await node.userRow(userId)).toMatchObject({ quota: 990, request_count: 1 }))
    expect(await node.ledger.charged(bad.requestId)).toBe(10)
    expect(await reconcile(node.core)).toEqual([])
  })
})

describe('a charge that SQLite refuses', () => {
  it('is durable: it stays in the journal over restarts, counts, and is written once when it can be', async () => {
    const database = await freshDatabase('sqlite')
    const node = await ledgerOf(database)
    const userId = await node.user(1000)
    const hold = aHold(userId, 0, 10)
    await node.ledger.hold(hold)
    const accept = await refuseRows(node.core.database, 'ledger', `new.user_id = ${userId}`)
    await node.ledger.settle(hold, aCharge(hold, 10))
    expect(await node.userRow(userId)).toMatchObject({ quota: 1000, request_count: 0 })
    await node.close()

    const next = await ledgerOf(database)
    expect(await outcome(() => next.ledger.hold(aHold(userId, 0, 991)))).toBe('quota_insufficient')
    expect(await next.ledger.charged(hold.requestId)).toBe(10)
    await accept(next.core.database)
    await eventually(async () => expect(await next.userRow(userId)).toMatchObject({ quota: 990, request_count: 1 }))
    expect(await outcome(() => next.ledger.hold(aHold(userId, 0, 991)))).toBe('quota_insufficient')
    expect(await outcome(() => next.ledger.hold(aHold(userId, 0, 990)))).toBe('ok')
    expect(await reconcile(next.core)).toEqual([])
  })
})

eachDatabase('a charge whose log row the database refuses', (fresh) => {
  it('[T159] is valid at once, and gets exactly one log row as soon as it can be written', async () => {
    const node = await ledgerOf(await fresh())
    const userId = await node.user(1000)
    const holds = Array.from({ length: 10 }, () => aHold(userId, 0, 100))
    for (const hold of holds) await node.ledger.hold(hold)
    const accept = await refuseRows(node.core.database, 'logs')

    expect(await Promise.all(holds.map((hold) => outcome(() => node.ledger.settle(hold, aCharge(hold, 70)))))).toEqual(
      Array(10).fill('ok'),
    )
    expect(await node.userRow(userId)).toMatchObject({ quota: 300, held: 0, request_count: 10 })
    expect(await node.core.db.selectFrom('logs').select('id').execute()).toEqual([])

    await accept()
    await node.close()
    const again = await ledgerOf(node.database)
    const rows = await again.core.db.selectFrom('logs').selectAll().execute()
    expect(rows.map((row) => [row.request_id, row.quota]).sort()).toEqual(holds.map(({ requestId }) => [requestId, 70]).sort())
    expect(await reconcile(again.core)).toEqual([])
  })
})

describe('a locked row on PostgreSQL', () => {
  it('delays only the charges of its user', async () => {
    const node = await ledgerOf(await freshDatabase('postgres'))
    const [locked, free] = [await node.user(1000), await node.user(1000)]
    const [ofLocked, ofFree] = [aHold(locked, 0, 10), aHold(free, 0, 10)]
    await node.ledger.hold(ofLocked)
    await node.ledger.hold(ofFree)

    const blocked = await node.core.db.transaction().execute(async (within) => {
      await within.selectFrom('users').select('id').where('id', '=', locked).forUpdate().execute()
      const settled = node.ledger.settle(ofLocked, aCharge(ofLocked, 10))
      const holds = [locked, free].map((userId) => outcome(() => node.ledger.hold(aHold(userId, 0, 10))))
      await node.ledger.settle(ofFree, aCharge(ofFree, 10))
      expect(await Promise.all(holds)).toEqual(['database_unavailable', 'ok'])
      return { settled }
    })

    await blocked.settled
    expect(await node.userRow(locked)).toMatchObject({ quota: 990, held: 0 })
  })
})
