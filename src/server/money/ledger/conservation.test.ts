import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf, outcome, type TestLedger } from '../../../../test/helpers/ledger.ts'
import { reconcile } from './reconcile.ts'

/** Random numbers in [0, 1), reproducible by their seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

eachDatabase('books of the ledger', (fresh, kind) => {
  it('balance after any mix of holds, settles, releases and credits', async () => {
    const seed = Date.now() % 100_000
    const random = randomOf(seed)
    const node = await ledgerOf(await fresh())
    const { core, ledger, user, token, channel } = node
    const users = [await user(50_000), await user(3000), await user(0)]
    const accounts = await Promise.all(
      users.flatMap((userId) => [
        token(userId, 'unlimited').then((tokenId) => ({ userId, tokenId })),
        token(userId, 2000).then((tokenId) => ({ userId, tokenId })),
        { userId, tokenId: 0 },
      ]),
    )
    const channels = [await channel(), await channel()]
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

    const request = async () => {
      const { userId, tokenId } = pick(accounts)
      const hold = aHold(userId, tokenId, Math.floor(random() * 300))
      if ((await outcome(() => ledger.hold(hold))) !== 'ok') return
      if (random() < 0.2) ledger.checkpoint(hold, aCharge(hold, 1))
      if (random() < 0.5) await new Promise((resolve) => setImmediate(resolve))
      if (random() < 0.2) return ledger.release(hold)
      const charge = aCharge(hold, Math.floor(random() * 320), {
        channelId: pick(channels),
        at: 1_760_000_000 + Math.floor(random() * 9000),
      })
      await ledger.settle(hold, charge)
      if (random() < 0.1) await ledger.settle(hold, charge)
    }
    const creditOf = async (number: number) => {
      const userId = pick(users)
      const given = {
        userId,
        kind: 'adjust',
        amount: Math.floor(random() * 2000) - 500,
        reference: `adjust:${number}`,
        at: 1,
      } as const
      await core.db.transaction().execute((within) => ledger.credit(within, given))
      ledger.refresh({ userId })
    }
    for (let round = 0; round < 20; round++) {
      await Promise.all([...Array.from({ length: 40 }, request), creditOf(2 * round), creditOf(2 * round + 1)])
    }

    await requireBalance(node, `seed ${seed}`)
    // The rest can be spent to the last unit, and not one more: memory and rows agree.
    for (const userId of users) {
      const { quota } = await node.userRow(userId)
      if (quota < 0) continue
      expect(await outcome(() => ledger.hold(aHold(userId, 0, quota + 1)))).toBe('quota_insufficient')
      expect(await outcome(() => ledger.hold(aHold(userId, 0, quota)))).toBe('ok')
    }
  })

  it('make exactly the credited amount spendable while charges are in flight', async () => {
    const { core, ledger, user, userRow } = await ledgerOf(await fresh())
    const userId = await user(1000)
    const spend = async () => {
      const hold = aHold(userId, 0, 10)
      await ledger.hold(hold)
      await ledger.settle(hold, aCharge(hold, 10))
    }
    const charges = Promise.all(Array.from({ length: 100 }, spend))
    for (let number = 0; number < 5; number++) {
      await core.db
        .transaction()
        .execute((within) => ledger.credit(within, { userId, kind: 'top_up', amount: 7, reference: `top-up:${number}`, at: 1 }))
      ledger.refresh({ userId })
    }
    await charges

    expect((await userRow(userId)).quota).toBe(35)
    expect(await outcome(() => ledger.hold(aHold(userId, 0, 36)))).toBe('quota_insufficient')
    expect(await outcome(() => ledger.hold(aHold(userId, 0, 35)))).toBe('ok')
  })

  it("follow a change of a token's quota while it is in use", async () => {
    const { core, ledger, user, token } = await ledgerOf(await fresh())
    const userId = await user(10_000)
    const tokenId = await token(userId, 100)
    await ledger.hold(aHold(userId, tokenId, 60))
    expect(await outcome(() => ledger.hold(aHold(userId, tokenId, 50)))).toBe('token_quota_insufficient')

    await core.db.updateTable('tokens').set({ remain_quota: 110 }).where('id', '=', tokenId).execute()
    core.bus.publish('token', tokenId)

    expect(await outcome(() => ledger.hold(aHold(userId, tokenId, 51)))).toBe('token_quota_insufficient')
    expect(await outcome(() => ledger.hold(aHold(userId, tokenId, 50)))).toBe('ok')
    await core.db.updateTable('tokens').set({ unlimited_quota: 1 }).where('id', '=', tokenId).execute()
    core.bus.publish('token')
    expect(await outcome(() => ledger.hold(aHold(userId, tokenId, 5000)))).toBe('ok')
  })

  it('refuse at once what an announced change has taken from an idle balance', async () => {
    const { core, ledger, user } = await ledgerOf(await fresh())
    const userId = await user(100)
    const hold = aHold(userId, 0, 100)
    await ledger.hold(hold)
    await ledger.release(hold)
    const taken = { userId, kind: 'adjust', amount: -90, reference: 'adjust:1', at: 1 } as const
    await core.db.transaction().execute((within) => ledger.credit(within, taken))
    ledger.refresh({ userId })
    expect(await outcome(() => ledger.hold(aHold(userId, 0, 11)))).toBe('quota_insufficient')
    expect(await outcome(() => ledger.hold(aHold(userId, 0, 10)))).toBe('ok')
  })

  it('follow within a second a change that nothing announces', async () => {
    const { core, ledger, user } = await ledgerOf(await fresh())
    const userId = await user(10)
    expect(await outcome(() => ledger.hold(aHold(userId, 0, 11)))).toBe('quota_insufficient')
    await core.db.updateTable('users').set({ quota: 11 }).where('id', '=', userId).execute()
    await expect.poll(() => outcome(() => ledger.hold(aHold(userId, 0, 11)))).toBe('ok')
    expect(await outcome(() => ledger.hold(aHold(userId, 0, 1)))).toBe('quota_insufficient')
  })

  it('refuse a second credit of the same reference and change nothing', async () => {
    const { core, ledger, user, userRow } = await ledgerOf(await fresh())
    const userId = await user(100)
    const credit = () =>
      core.db
        .transaction()
        .execute((within) => ledger.credit(within, { userId, kind: 'redeem', amount: 50, reference: 'redeem:1', at: 1 }))

    const results = await Promise.allSettled(Array.from({ length: 20 }, credit))

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await userRow(userId)).quota).toBe(150)
    expect(await reconcile(core)).toEqual([])
  })

  it('refuse credits to unknown users, and those that leave the exact integers', async () => {
    const { core, ledger, user, userRow } = await ledgerOf(await fresh())
    const userId = await user(100)
    const credit = (to: number, amount: number) => () =>
      core.db
        .transaction()
        .execute((within) =>
          ledger.credit(within, { userId: to, kind: 'adjust', amount, reference: `adjust:${to}:${amount}`, at: 1 }),
        )

    expect(await outcome(credit(999_999, 1))).toBe('not_found')
    expect(await outcome(credit(userId, 0.5))).toBe('amount_out_of_range')
    expect(await outcome(credit(userId, Number.MAX_SAFE_INTEGER))).not.toBe('ok')
    expect((await userRow(userId)).quota).toBe(100)
    expect(await reconcile(core)).toEqual([])
  })

  it('do not let anyone spend a credit that is not committed', async () => {
    const { core, ledger, user } = await ledgerOf(await fresh())
    const userId = await user(10)
    const undone = core.db.transaction().execute(async (within) => {
      await ledger.credit(within, { userId, kind: 'adjust', amount: 1000, reference: 'adjust:1', at: 1 })
      // On PostgreSQL the hold waits for the row, and is given up after a while.
      expect(await outcome(() => ledger.hold(aHold(userId, 0, 500)))).toBe(
        kind === 'sqlite' ? 'quota_insufficient' : 'database_unavailable',
      )
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(await outcome(() => ledger.hold(aHold(userId, 0, 11)))).toBe('quota_insufficient')
    expect(await outcome(() => ledger.hold(aHold(userId, 0, 10)))).toBe('ok')
  })

  it('[T161] show a balance that someone changed by hand', async () => {
    const { core, user } = await ledgerOf(await fresh())
    const userId = await user(100)
    await user(200)
    expect(await reconcile(core)).toEqual([])
    await core.db.updateTable('users').set({ quota: 130 }).where('id', '=', userId).execute()
    expect(await reconcile(core)).toEqual([{ userId, quota: 130, ledger: 100 }])
  })

  it('are all written when the ledger is closed', async () => {
    const database = await fresh()
    const first = await ledgerOf(database)
    const userId = await first.user(1000)
    const holds = Array.from({ length: 30 }, () => aHold(userId, 0, 10))
    await Promise.all(holds.map((hold) => first.ledger.hold(hold)))
    const settled = Promise.all(holds.map((hold) => first.ledger.settle(hold, aCharge(hold, 10))))
    const closed = first.close()
    expect(await outcome(() => first.ledger.hold(aHold(userId, 0, 10)))).toBe('server_stopping')
    await closed
    await settled

    const { userRow } = await ledgerOf(database)
    expect(await userRow(userId)).toMatchObject({ quota: 700, held: 0, request_count: 30 })
  })
})

async function requireBalance({ core }: TestLedger, run: string): Promise<void> {
  const { db } = core
  expect(await reconcile(core), run).toEqual([])
  const charges = await db.selectFrom('ledger').selectAll().where('kind', '=', 'charge').execute()
  const logs = await db.selectFrom('logs').selectAll().execute()
  const units = (rows: readonly { amount: number }[]) => 0 - rows.reduce((sum, { amount }) => sum + amount, 0)

  expect(charges.length, run).toBeGreaterThan(100)
  expect(logs.map((row) => [`charge:${row.request_id}`, 0 - row.quota]).sort(), run).toEqual(
    charges.map((row) => [row.reference, row.amount]).sort(),
  )
  for (const user of await db.selectFrom('users').selectAll().execute()) {
    const own = charges.filter((row) => row.user_id === user.id)
    expect([user.held, user.used_quota, user.request_count], run).toEqual([0, units(own), own.length])
  }
  for (const token of await db.selectFrom('tokens').selectAll().execute()) {
    const used = units(charges.filter((row) => row.token_id === token.id))
    expect([token.held, token.used_quota], run).toEqual([0, used])
    expect(token.remain_quota, run).toBe(token.unlimited_quota === 1 ? 0 : 2000 - used)
  }
  const channels = await db.selectFrom('channels').selectAll().execute()
  expect(
    channels.reduce((sum, row) => sum + row.used_quota, 0),
    run,
  ).toBe(units(charges))
  const usage = await db.selectFrom('quota_data').selectAll().execute()
  expect(
    usage.reduce((sum, row) => sum + row.quota, 0),
    run,
  ).toBe(units(charges))
  expect(
    usage.reduce((sum, row) => sum + row.count, 0),
    run,
  ).toBe(charges.length)
  expect(await db.selectFrom('holds').selectAll().execute(), run).toEqual([])
}
