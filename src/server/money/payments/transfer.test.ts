import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { ledgerOf, outcome, type TestLedger, tally } from '../../../../test/helpers/ledger.ts'
import { retryWhileBusy } from '../../../../test/helpers/retry-while-busy.ts'
import { reconcile } from '../ledger/reconcile.ts'
import { transferEarned } from './transfer.ts'

async function earner({ core, user }: TestLedger, earned: number): Promise<number> {
  const id = await user(0)
  await core.db.updateTable('users').set({ aff_quota: earned, aff_history_quota: earned }).where('id', '=', id).execute()
  return id
}

const move = ({ core, ledger }: TestLedger, id: number, amount: number) => {
  const caller = { id, username: 'someone', role: 1, group: 'default', address: '' }
  return outcome(() => retryWhileBusy(() => transferEarned({ ...core, ledger }, { amount, caller })))
}

const sides = ({ core }: TestLedger, id: number) =>
  core.db.selectFrom('users').select(['quota', 'aff_quota', 'aff_history_quota']).where('id', '=', id).executeTakeFirstOrThrow()

eachDatabase('transfer of quota earned by invitations', (fresh, kind) => {
  it('moves units to the balance, with ledger row and log row, and keeps the total ever earned', async () => {
    const node = await ledgerOf(await fresh())
    const id = await earner(node, 1_200_000)
    expect(await move(node, id, 500_000)).toBe('ok')
    expect(await move(node, id, 700_000)).toBe('ok')
    expect(await sides(node, id)).toEqual({ quota: 1_200_000, aff_quota: 0, aff_history_quota: 1_200_000 })
    const logs = await node.core.db.selectFrom('logs').select(['type', 'quota']).orderBy('id').execute()
    expect(logs).toEqual([
      { type: 4, quota: 500_000 },
      { type: 4, quota: 700_000 },
    ])
    expect(await reconcile(node.core)).toEqual([])
  })

  it('[T152] refuses less than the quota of one dollar, negative amounts and more than was earned', async () => {
    const node = await ledgerOf(await fresh())
    const id = await earner(node, 600_000)
    for (const amount of [499_999, 0, -1, -600_000, Number.MIN_SAFE_INTEGER])
      expect(await move(node, id, amount)).toBe('transfer_below_minimum')
    for (const amount of [600_001, Number.MAX_SAFE_INTEGER]) expect(await move(node, id, amount)).toBe('transfer_exceeds_earned')
    expect(await sides(node, id)).toMatchObject({ quota: 0, aff_quota: 600_000 })
  })

  it('[T152] moves everything once for fifty concurrent requests on two nodes', async () => {
    const database = await fresh()
    const a = await ledgerOf(database, { node: 'a' })
    const nodes = kind === 'postgres' ? [a, await ledgerOf(database, { node: 'b' })] : [a]
    const id = await earner(a, 500_000)
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => move(nodes[index % nodes.length] ?? a, id, 500_000)),
    )
    expect(tally(results)).toEqual({ ok: 1, transfer_exceeds_earned: 49 })
    expect(await sides(a, id)).toMatchObject({ quota: 500_000, aff_quota: 0 })
    expect(await reconcile(a.core)).toEqual([])
  })
})
