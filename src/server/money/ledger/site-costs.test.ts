import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf, outcome, type TestLedger } from '../../../../test/helpers/ledger.ts'
import type { SiteCost } from './ledger.ts'
import { reconcile } from './reconcile.ts'
import { sumSiteCosts } from './site-costs.ts'

const implausible = (amount: number): SiteCost => ({ amount, reason: 'usage_implausible' })

const rowsOf = ({ core }: TestLedger) => core.db.selectFrom('site_costs').selectAll().orderBy('amount').execute()

eachDatabase('site costs', (fresh) => {
  it('are written with their charges, also in a batch where others have none, and change no balance', async () => {
    const node = await ledgerOf(await fresh())
    const { ledger, user, token, channel, userRow, tokenRow, core } = node
    const userId = await user(1000)
    const tokenId = await token(userId, 1000)
    const channelId = await channel()
    const holds = Array.from({ length: 6 }, () => aHold(userId, tokenId, 50))
    await Promise.all(holds.map((hold) => ledger.hold(hold)))
    const siteCosts = [
      undefined,
      implausible(40),
      undefined,
      { amount: 70, reason: 'undelivered' } as const,
      implausible(0),
      undefined,
    ]

    await Promise.all(
      holds.map((hold, index) => {
        const siteCost = siteCosts[index]
        return ledger.settle(hold, aCharge(hold, 10, { channelId, at: 5000, model: 'm', ...(siteCost ? { siteCost } : {}) }))
      }),
    )

    const shared = { user_id: userId, channel_id: channelId, model: 'm', created_at: 5000 }
    expect(await rowsOf(node)).toEqual([
      { ...shared, calls: 1, request_id: holds[4]?.requestId, amount: 0, reason: 'usage_implausible' },
      { ...shared, calls: 1, request_id: holds[1]?.requestId, amount: 40, reason: 'usage_implausible' },
      { ...shared, calls: 1, request_id: holds[3]?.requestId, amount: 70, reason: 'undelivered' },
    ])
    expect(await userRow(userId)).toEqual({ quota: 940, held: 0, used_quota: 60, request_count: 6 })
    expect(await tokenRow(tokenId)).toMatchObject({ remain_quota: 940, used_quota: 60 })
    expect(await core.db.selectFrom('channels').select('used_quota').execute()).toEqual([{ used_quota: 60 }])
    expect(await reconcile(core)).toEqual([])
  })

  it('are written once, no matter how often the charge is repeated, and only when the charge is new', async () => {
    const database = await fresh()
    const first = await ledgerOf(database, { node: 'first' })
    const userId = await first.user(1000)
    const [hold, plain] = [aHold(userId, 0, 50), aHold(userId, 0, 50)]
    await first.ledger.hold(hold)
    await first.ledger.hold(plain)
    const charge = aCharge(hold, 10, { siteCost: implausible(40) })
    await Promise.all([first.ledger.settle(hold, charge), first.ledger.settle(hold, charge)])
    await first.ledger.settle(plain, aCharge(plain, 10))
    await first.close()

    const second = await ledgerOf(database, { node: 'second' })
    await second.ledger.settle(hold, charge)
    await second.ledger.settle(plain, aCharge(plain, 10, { siteCost: implausible(99) }))

    expect((await rowsOf(second)).map(({ amount }) => amount)).toEqual([40])
    expect(await second.userRow(userId)).toMatchObject({ quota: 980, request_count: 2 })
  })

  it('are written from the checkpoint of a hold whose node is dead', async () => {
    const database = await fresh()
    const gone = await ledgerOf(database, { node: 'gone' })
    const userId = await gone.user(1000)
    const [hold, other] = [aHold(userId, 0, 50), aHold(userId, 0, 0)]
    await gone.ledger.hold(hold)
    gone.ledger.checkpoint(hold, aCharge(hold, 10, { siteCost: implausible(40) }))
    await gone.ledger.settle(other, aCharge(other, 0))
    expect(await rowsOf(gone)).toEqual([])
    await gone.core.db.updateTable('holds').set({ lease_until: 1 }).execute()
    await gone.close()

    const next = await ledgerOf(database, { node: 'next' })
    expect(await next.ledger.expire()).toMatchObject({ settled: 1 })
    expect(await rowsOf(next)).toMatchObject([{ request_id: hold.requestId, amount: 40 }])
    expect(await next.ledger.expire()).toEqual({ settled: 0, released: 0 })
  })

  it('are refused unless they are an amount of units, before anything changes', async () => {
    const node = await ledgerOf(await fresh())
    const hold = aHold(await node.user(100), 0, 10)
    await node.ledger.hold(hold)
    for (const amount of [-1, 0.5, Number.NaN]) {
      const charge = aCharge(hold, 1, { siteCost: implausible(amount) })
      expect(await outcome(() => node.ledger.settle(hold, charge))).toBe('amount_out_of_range')
    }
    expect(node.ledger.openHolds).toBe(1)
  })

  it('are summed by reason and channel over a day, 30 days and all time', async () => {
    const node = await ledgerOf(await fresh())
    const now = 1_760_000_000
    const day = 86_400
    const userId = await node.user(1000)
    const channelId = await node.channel()
    const rows = [
      { channelId, at: now - 60, siteCost: implausible(5) },
      { channelId, at: now - 2 * day, siteCost: implausible(30) },
      { channelId, at: now - 31 * day, siteCost: implausible(100) },
      { channelId, at: now - 60, siteCost: { amount: 7, reason: 'undelivered' } as const },
      { channelId: 99, at: now - day, siteCost: implausible(1) },
    ]
    for (const row of rows) {
      const hold = aHold(userId, 0, 0)
      await node.ledger.settle(hold, aCharge(hold, 0, row))
    }

    expect(await sumSiteCosts(node.core.db, now)).toEqual([
      {
        reason: 'usage_implausible',
        channel_id: channelId,
        channel_name: 'test',
        last_24_hours: { count: 1, quota: 5 },
        last_30_days: { count: 2, quota: 35 },
        all: { count: 3, quota: 135 },
      },
      {
        reason: 'undelivered',
        channel_id: channelId,
        channel_name: 'test',
        last_24_hours: { count: 1, quota: 7 },
        last_30_days: { count: 1, quota: 7 },
        all: { count: 1, quota: 7 },
      },
      {
        reason: 'usage_implausible',
        channel_id: 99,
        channel_name: '',
        last_24_hours: { count: 1, quota: 1 },
        last_30_days: { count: 1, quota: 1 },
        all: { count: 1, quota: 1 },
      },
    ])
  })
})
