import { expect, it } from 'vitest'
import { eachDatabase } from '../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf } from '../../../test/helpers/ledger.ts'

const attempt = async (move: () => Promise<void> | void): Promise<string> => {
  try {
    await move()
    return 'ok'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

const tally = (results: readonly string[]) =>
  Object.fromEntries([...new Set(results)].map((each) => [each, results.filter((r) => r === each).length]))

eachDatabase('ledger', (fresh) => {
  it('lets exactly ten of 200 parallel holds pass on a user with quota for ten', async () => {
    const { ledger, user, token, userRow } = await ledgerOf(await fresh())
    const userId = await user(1005)
    const tokenId = await token(userId, 'unlimited')
    const holds = Array.from({ length: 200 }, () => aHold(userId, tokenId, 100))

    const results = await Promise.all(holds.map((hold) => attempt(() => ledger.hold(hold))))

    expect(tally(results)).toEqual({ ok: 10, quota_insufficient: 190 })
    expect(ledger.openHolds).toBe(10)
    await Promise.all(holds.filter((_, index) => results[index] === 'ok').map((hold) => ledger.settle(hold, aCharge(hold, 100))))
    expect(await userRow(userId)).toEqual({ quota: 5, held: 0, used_quota: 1000, request_count: 10 })
  })
})
