import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eachDatabase, freshDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf, outcome, type TestLedger, tally } from '../../../../test/helpers/ledger.ts'
import { PostgresStore } from './postgres/postgres-store.ts'
import { reconcile } from './reconcile.ts'

/** Waits until earlier checkpoints are durable: the queue keeps its order. */
async function written({ ledger, user }: TestLedger): Promise<void> {
  const other = aHold(await user(0), 0, 0)
  await ledger.settle(other, aCharge(other, 0))
}

const expireLeases = ({ core }: TestLedger) => core.db.updateTable('holds').set({ lease_until: 1 }).execute()

eachDatabase('holds of a node that is gone', (fresh, kind) => {
  it('are settled by their last checkpoint, and released without one', async () => {
    const database = await fresh()
    const gone = await ledgerOf(database, { node: 'gone' })
    const userId = await gone.user(1000)
    const tokenId = await gone.token(userId, 1000)
    const [long, idle] = [aHold(userId, tokenId, 300), aHold(userId, tokenId, 200)]
    await gone.ledger.hold(long)
    await gone.ledger.hold(idle)
    gone.ledger.checkpoint(long, aCharge(long, 30))
    await written(gone)
    gone.ledger.checkpoint(long, aCharge(long, 70))
    gone.ledger.checkpoint(long, aCharge(long, 110))
    await written(gone)
    await expireLeases(gone)
    await gone.close()

    const next = await ledgerOf(database, { node: 'next' })
    const expired = await next.ledger.expire()

    expect(expired).toEqual({ settled: 1, released: kind === 'postgres' ? 1 : 0 })
    expect(await next.userRow(userId)).toEqual({ quota: 890, held: 0, used_quota: 110, request_count: 1 })
    expect(await next.tokenRow(tokenId)).toMatchObject({ remain_quota: 890, held: 0, used_quota: 110 })
    expect(await next.core.db.selectFrom('holds').selectAll().execute()).toEqual([])
    expect(await next.core.db.selectFrom('logs').selectAll().where('request_id', '=', long.requestId).execute()).toHaveLength(1)
    expect(await next.ledger.expire()).toEqual({ settled: 0, released: 0 })
    expect(await outcome(() => next.ledger.hold(aHold(userId, tokenId, 890)))).toBe('ok')
    expect(await reconcile(next.core)).toEqual([])
  })

  it('do not include the open holds of this node', async () => {
    const here = await ledgerOf(await fresh(), { node: 'here' })
    const userId = await here.user(1000)
    const hold = aHold(userId, 0, 300)
    await here.ledger.hold(hold)
    here.ledger.checkpoint(hold, aCharge(hold, 30))
    await written(here)
    await expireLeases(here)

    expect(await here.ledger.expire()).toEqual({ settled: 0, released: 0 })
    expect(await outcome(() => here.ledger.hold(aHold(userId, 0, 701)))).toBe('quota_insufficient')
    await here.ledger.settle(hold, aCharge(hold, 50))
    expect(await here.userRow(userId)).toMatchObject({ quota: 950, held: 0 })
  })

  it('leave no row behind when they end after a checkpoint', async () => {
    const node = await ledgerOf(await fresh())
    const userId = await node.user(1000)
    const [settled, released] = [aHold(userId, 0, 10), aHold(userId, 0, 10)]
    for (const hold of [settled, released]) {
      await node.ledger.hold(hold)
      node.ledger.checkpoint(hold, aCharge(hold, 3))
    }
    await written(node)
    for (const hold of [settled, released]) node.ledger.checkpoint(hold, aCharge(hold, 4))
    await Promise.all([node.ledger.settle(settled, aCharge(settled, 5)), node.ledger.release(released)])
    for (const hold of [settled, released]) node.ledger.checkpoint(hold, aCharge(hold, 6))
    await written(node)

    expect(await node.core.db.selectFrom('holds').selectAll().execute()).toEqual([])
    expect((await node.userRow(userId)).quota).toBe(995)
  })
})

describe('several nodes on PostgreSQL', () => {
  it('never reserve more than is available, together', async () => {
    const database = await freshDatabase('postgres')
    const nodes = [await ledgerOf(database), await ledgerOf(database), await ledgerOf(database)]
    const [first] = nodes
    if (!first) throw new Error('no node')
    const userId = await first.user(2000)
    const tokenId = await first.token(userId, 1005)
    const holds = nodes.flatMap((node) => Array.from({ length: 100 }, () => ({ node, hold: aHold(userId, tokenId, 100) })))

    const results = await Promise.all(holds.map(({ node, hold }) => outcome(() => node.ledger.hold(hold))))

    expect(tally(results)).toEqual({ ok: 10, token_quota_insufficient: 290 })
    expect(await first.userRow(userId)).toMatchObject({ quota: 2000, held: 1000 })
  })

  it('charge users, tokens and channels in any order without deadlocks', async () => {
    const database = await freshDatabase('postgres')
    const { core } = await ledgerOf(database)
    // Deadlocks must be detected before a lock wait times out.
    await sql`alter database ${sql.id(new URL(database.env.DATABASE_URL).pathname.slice(1))} set deadlock_timeout = '20ms'`.execute(
      core.db,
    )
    const nodes = [await ledgerOf(database), await ledgerOf(database), await ledgerOf(database)]
    const [first] = nodes
    if (!first) throw new Error('no node')
    const accounts: { userId: number; tokenId: number; channelId: number }[] = []
    for (let each = 0; each < 8; each++) {
      const userId = await first.user(1_000_000)
      accounts.push({ userId, tokenId: await first.token(userId, 1_000_000), channelId: await first.channel() })
    }
    const spend = async (node: TestLedger, number: number) => {
      const account = accounts[number % 8]
      const other = accounts[(number * 5 + 3) % 8]
      if (!account || !other) return
      const hold = aHold(account.userId, account.tokenId, 10)
      await node.ledger.hold(hold)
      await node.ledger.settle(hold, aCharge(hold, 7, { channelId: other.channelId }))
    }
    const rounds = nodes.map(async (node, offset) => {
      for (let round = 0; round < 30; round++) {
        await Promise.all(Array.from({ length: 16 }, (_, number) => spend(node, offset % 2 ? number : 16 - number)))
      }
    })
    await Promise.all(rounds)

    const rows = await Promise.all(accounts.map(({ userId }) => first.userRow(userId)))
    expect(rows.reduce((sum, row) => sum + row.request_count, 0)).toBe(3 * 30 * 16)
    expect(rows.every((row) => row.held === 0)).toBe(true)
    expect(await reconcile(first.core)).toEqual([])
    const { rows: found } = await sql<{ deadlocks: number }>`
      select deadlocks from pg_stat_database where datname = current_database()`.execute(first.core.db)
    expect(found).toEqual([{ deadlocks: 0 }])
  })

  it('keep holds in use by renewing their lease', async () => {
    const database = await freshDatabase('postgres')
    const [here, other] = [await ledgerOf(database), await ledgerOf(database)]
    const store = new PostgresStore(here.core, { url: database.env.DATABASE_URL, isPooled: false })
    onTestFinished(() => store.close())
    const userId = await here.user(1000)
    const [kept, lost] = [aHold(userId, 0, 100), aHold(userId, 0, 200)]
    for (const hold of [kept, lost]) await here.ledger.hold(hold)
    await expireLeases(here)

    await store.keep([kept.requestId])

    expect(await other.ledger.expire()).toEqual({ settled: 0, released: 1 })
    expect(await here.userRow(userId)).toMatchObject({ held: 100 })
  })

  it('end a hold once, when its node returns after another has ended it', async () => {
    const database = await freshDatabase('postgres')
    const [paused, other] = [await ledgerOf(database), await ledgerOf(database)]
    const userId = await paused.user(1000)
    const tokenId = await paused.token(userId, 1000)
    const [settled, released, kept] = [aHold(userId, tokenId, 100), aHold(userId, tokenId, 200), aHold(userId, tokenId, 300)]
    for (const hold of [settled, released, kept]) await paused.ledger.hold(hold)
    await expireLeases(paused)
    await paused.core.db
      .updateTable('holds')
      .set({ lease_until: 2 ** 40 })
      .where('request_id', '=', kept.requestId)
      .execute()

    expect(await other.ledger.expire()).toEqual({ settled: 0, released: 2 })
    expect(await other.userRow(userId)).toMatchObject({ held: 300 })

    await paused.ledger.settle(settled, aCharge(settled, 60))
    await paused.ledger.release(released)
    expect(await other.userRow(userId)).toEqual({ quota: 940, held: 300, used_quota: 60, request_count: 1 })
    expect(await other.tokenRow(tokenId)).toMatchObject({ remain_quota: 940, held: 300, used_quota: 60 })
  })

  it('charge once when two nodes expire and settle a hold at the same moment', async () => {
    const database = await freshDatabase('postgres')
    const [paused, one, two] = [await ledgerOf(database), await ledgerOf(database), await ledgerOf(database)]
    const userId = await paused.user(10_000)
    const holds = Array.from({ length: 40 }, () => aHold(userId, 0, 100))
    for (const hold of holds) {
      await paused.ledger.hold(hold)
      paused.ledger.checkpoint(hold, aCharge(hold, 50))
    }
    await written(paused)
    await expireLeases(paused)

    await Promise.all([
      one.ledger.expire(),
      two.ledger.expire(),
      ...holds.map((hold) => paused.ledger.settle(hold, aCharge(hold, 50))),
    ])

    expect(await one.userRow(userId)).toEqual({ quota: 8000, held: 0, used_quota: 2000, request_count: 40 })
    expect(await reconcile(one.core)).toEqual([])
  })
})
