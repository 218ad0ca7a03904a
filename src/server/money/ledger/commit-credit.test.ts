import { describe, expect, it } from 'vitest'
import { commitProxy } from '../../../../test/helpers/commit-proxy.ts'
import { freshDatabase } from '../../../../test/helpers/databases.ts'
import { ledgerOf, outcome } from '../../../../test/helpers/ledger.ts'
import { adjustQuota } from '../../people/accounts/adjust-quota.ts'
import { listRedemptions } from '../payments/list-redemptions.ts'
import { redeem } from '../payments/redeem.ts'
import { createRedemptions, deleteRedemption } from '../payments/redemptions.ts'
import { transferEarned } from '../payments/transfer.ts'
import { reconcile } from './reconcile.ts'

const admin = { id: 1, username: 'root', role: 100, group: 'default', address: '127.0.0.1' }

/**
 * A node that reaches its database by way of a proxy, a user without quota, and a code. Only PostgreSQL: SQLite commits within the
 * process, so no answer can be lost.
 */
async function stage() {
  const proxy = await commitProxy(await freshDatabase('postgres'))
  const node = await ledgerOf(proxy.database)
  const core = { ...node.core, ledger: node.ledger }
  const userId = await node.user(0)
  const caller = { id: userId, username: 'ada', role: 1, group: 'default', address: '127.0.0.1' }
  const [key = ''] = await createRedemptions(core, { input: { name: 'code', quota: 500_000 }, count: 1, caller: admin })
  const quota = async () => (await node.userRow(userId)).quota
  return { proxy, core, userId, caller, key, quota, redeem: () => redeem(core, { key, caller }) }
}

describe('a COMMIT without an answer on PostgreSQL', () => {
  it('of a redemption that took effect is a success with its amount', async () => {
    const { proxy, core, quota, redeem } = await stage()
    proxy.loseNext({ commit: 'unanswered', afterwards: 'reachable' })
    expect(await redeem()).toBe(500_000)
    expect(await quota()).toBe(500_000)
    expect(await outcome(async () => void (await redeem()))).toBe('redemption_used')
    expect(await reconcile(core)).toEqual([])
  })

  it('of a redemption without effect is reported as such, and the code stays valid', async () => {
    const { proxy, quota, redeem } = await stage()
    proxy.loseNext({ commit: 'unsent', afterwards: 'reachable' })
    expect(await outcome(async () => void (await redeem()))).toBe('redemption_undone')
    expect(await quota()).toBe(0)
    expect(await redeem()).toBe(500_000)
    expect(await quota()).toBe(500_000)
  })

  it('of a redemption is reported as unclear while the database is away, and redeeming again credits once', async () => {
    for (const commit of ['unsent', 'unanswered'] as const) {
      const { proxy, quota, redeem } = await stage()
      proxy.loseNext({ commit, afterwards: 'away' })
      expect(await outcome(async () => void (await redeem()))).toBe('redemption_unclear')
      proxy.bringBack()
      expect(await outcome(async () => void (await redeem()))).toBe(commit === 'unsent' ? 'ok' : 'redemption_used')
      expect(await quota()).toBe(500_000)
    }
  })

  it('of a redemption is reported as unclear while it may still arrive', async () => {
    const { proxy, core, quota, redeem } = await stage()
    proxy.loseNext({ commit: 'delayed', afterwards: 'reachable' })
    expect(await outcome(async () => void (await redeem()))).toBe('redemption_unclear')
    await proxy.deliver()
    expect(await quota()).toBe(500_000)
    expect(await outcome(async () => void (await redeem()))).toBe('redemption_used')
    expect(await reconcile(core)).toEqual([])
  })

  it('is distinguished from a refusal: redeeming a code that was deleted meanwhile reports it as invalid', async () => {
    const { proxy, core, redeem } = await stage()
    const [code] = (await listRedemptions(core, { offset: 0, limit: 1 })).items
    await deleteRedemption(core, { id: code?.id ?? 0, caller: admin })
    proxy.loseNext({ commit: 'unsent', afterwards: 'reachable' })
    expect(await outcome(async () => void (await redeem()))).toBe('redemption_invalid')
  })

  it('of a transfer or of a change by an admin is decided by the ledger, and published only if it took effect', async () => {
    const { proxy, core, userId, caller, quota } = await stage()
    await core.db.updateTable('users').set({ aff_quota: 1_000_000 }).where('id', '=', userId).execute()
    const published: number[] = []
    core.bus.on('user', (id) => published.push(id))
    const transfer = () => outcome(() => transferEarned(core, { amount: 500_000, caller }))
    const adjust = () => outcome(async () => void (await adjustQuota(core, admin, { id: userId, change: 7, reason: 'x' })))

    for (const [move, amount] of [
      [transfer, 500_000],
      [adjust, 7],
    ] as const) {
      const before = await quota()
      proxy.loseNext({ commit: 'unsent', afterwards: 'reachable' })
      expect(await move()).toBe('quota_unchanged')
      proxy.loseNext({ commit: 'unsent', afterwards: 'away' })
      expect(await move()).toBe('quota_change_unclear')
      proxy.bringBack()
      expect(await quota()).toBe(before)
      proxy.loseNext({ commit: 'unanswered', afterwards: 'reachable' })
      expect(await move()).toBe('ok')
      expect(await quota()).toBe(before + amount)
    }
    expect(published).toEqual([userId])
    expect(await reconcile(core)).toEqual([])
  })
})
