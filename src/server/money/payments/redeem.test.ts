import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { ledgerOf, outcome, type TestLedger, tally } from '../../../../test/helpers/ledger.ts'
import { retryWhileBusy } from '../../../../test/helpers/retry-while-busy.ts'
import { reconcile } from '../ledger/reconcile.ts'
import { listRedemptions } from './list-redemptions.ts'
import { redeem } from './redeem.ts'
import { createRedemptions, deleteRedemption, setRedemptionStatus } from './redemptions.ts'

const admin = { id: 1, username: 'root', role: 100, group: 'default', address: '127.0.0.1' }
const callerOf = (id: number) => ({ id, username: `user-${id}`, role: 1, group: 'default', address: '127.0.0.1' })
const appOf = ({ core, ledger }: TestLedger) => ({ ...core, ledger })

async function codeOf({ core }: TestLedger, more: { quota?: number; expired_time?: number } = {}) {
  const input = { name: 'code', quota: 500_000, ...more }
  const [key = ''] = await createRedemptions(core, { input, count: 1, caller: admin })
  const [made] = (await listRedemptions(core, { offset: 0, limit: 1 })).items
  return { key, id: made?.id ?? 0 }
}

/** The outcome of one attempt: 'ok' or the code of the refusal. */
const attempt = (node: TestLedger, key: string, userId: number) =>
  outcome(async () => void (await retryWhileBusy(() => redeem(appOf(node), { key, caller: callerOf(userId) }))))

async function expectCreditedOnce({ core }: TestLedger, id: number, quota: number): Promise<void> {
  const rows = await core.db.selectFrom('ledger').selectAll().where('kind', '=', 'redeem').execute()
  expect(rows).toMatchObject([{ reference: `redeem:${id}`, amount: quota }])
  const code = await core.db.selectFrom('redemptions').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  expect(code).toMatchObject({ status: 3, used_user_id: rows[0]?.user_id })
  const logs = await core.db.selectFrom('logs').select(['type', 'user_id', 'quota']).execute()
  expect(logs).toEqual([{ type: 1, user_id: rows[0]?.user_id, quota }])
  expect(await reconcile(core)).toEqual([])
}

eachDatabase('redeeming', (fresh, kind) => {
  it('credits the face value, marks the code and writes the log row', async () => {
    const node = await ledgerOf(await fresh())
    const userId = await node.user(7)
    const { key, id } = await codeOf(node)

    expect(await redeem(appOf(node), { key, caller: callerOf(userId) })).toBe(500_000)

    expect(await node.userRow(userId)).toMatchObject({ quota: 500_007 })
    await expectCreditedOnce(node, id, 500_000)
    const { content } = await node.core.db.selectFrom('logs').select('content').executeTakeFirstOrThrow()
    expect(content).toBe(`通过兑换码 #${id} 充值 $1.00 / Redeemed code #${id} for $1.00`)
    await node.ledger.hold({ requestId: 'r', userId, tokenId: 0, amount: 500_007 })
  })

  it('[T167] reports used and expired codes, and treats disabled, deleted and unknown codes alike', async () => {
    const node = await ledgerOf(await fresh())
    const { core } = node
    const userId = await node.user(0)
    const [used, expired, disabled, deleted] = [await codeOf(node), await codeOf(node), await codeOf(node), await codeOf(node)]
    expect(await attempt(node, used.key, userId)).toBe('ok')
    await core.db.updateTable('redemptions').set({ expired_time: 1_000_000_000 }).where('id', '=', expired.id).execute()
    await setRedemptionStatus(core, { id: disabled.id, status: 2, caller: admin })
    await deleteRedemption(core, { id: deleted.id, caller: admin })

    expect(await attempt(node, used.key, userId)).toBe('redemption_used')
    expect(await attempt(node, expired.key, userId)).toBe('redemption_expired')
    for (const key of [disabled.key, deleted.key, 'bad-code', '', used.key.toUpperCase(), `${used.key}%`])
      expect(await attempt(node, key, userId)).toBe('redemption_invalid')
    expect(await node.userRow(userId)).toMatchObject({ quota: 500_000 })
  })

  it('accepts a code until its last second', async () => {
    const node = await ledgerOf(await fresh())
    const userId = await node.user(0)
    const at = (seconds: number) => ({ ...appOf(node), now: () => seconds * 1000 })
    const { key } = await codeOf(node, { expired_time: 2_000_000_000 })
    await expect(redeem(at(2_000_000_000), { key, caller: callerOf(userId) })).rejects.toMatchObject({
      code: 'redemption_expired',
    })
    expect(await redeem(at(1_999_999_999), { key, caller: callerOf(userId) })).toBe(500_000)
  })

  it('leaves the code unused when the credit fails', async () => {
    const node = await ledgerOf(await fresh())
    const { key, id } = await codeOf(node)
    expect(await attempt(node, key, 999_999)).toBe('not_found')
    const rich = await node.user(Number.MAX_SAFE_INTEGER)
    expect(await attempt(node, key, rich)).toBe('amount_out_of_range')

    const userId = await node.user(0)
    expect(await attempt(node, key, userId)).toBe('ok')
    await expectCreditedOnce(node, id, 500_000)
  })

  it('[T164] credits one of many parallel attempts over two nodes, and the others learn that it is used', async () => {
    const database = await fresh()
    const a = await ledgerOf(database, { node: 'a' })
    // SQLite has one process.
    const nodes = kind === 'postgres' ? [a, await ledgerOf(database, { node: 'b' })] : [a]
    const users = await Promise.all(Array.from({ length: 10 }, () => a.user(0)))
    const { key, id } = await codeOf(a)

    const attempts = Array.from({ length: 60 }, (_, index) => {
      const node = nodes[index % nodes.length] ?? a
      return attempt(node, key, users[index % users.length] ?? 0)
    })

    expect(tally(await Promise.all(attempts))).toEqual({ ok: 1, redemption_used: 59 })
    await expectCreditedOnce(a, id, 500_000)
  })

  it('credits once when admins disable, delete and enable the code at the same time', async () => {
    const node = await ledgerOf(await fresh())
    const userId = await node.user(0)
    for (let round = 0; round < 10; round++) {
      const { key, id } = await codeOf(node, { quota: 100 })
      const before = (await node.userRow(userId)).quota
      const results = await Promise.all([
        attempt(node, key, userId),
        outcome(async () => void (await setRedemptionStatus(node.core, { id, status: 2, caller: admin }))),
        attempt(node, key, userId),
        outcome(async () => void (await setRedemptionStatus(node.core, { id, status: 1, caller: admin }))),
        attempt(node, key, userId),
        outcome(() => deleteRedemption(node.core, { id, caller: admin })),
      ])
      const credited = [results[0], results[2], results[4]].filter((result) => result === 'ok').length
      expect(credited).toBeLessThanOrEqual(1)
      expect((await node.userRow(userId)).quota - before).toBe(100 * credited)
    }
    expect(await reconcile(node.core)).toEqual([])
  })
})
