import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, commitElsewhere, ledgerOf, outcome, type TestLedger } from '../../../../test/helpers/ledger.ts'
import { interruptDatabase, refuseRows } from '../../../../test/helpers/outage.ts'
import { reconcile } from './reconcile.ts'
import { settleUndelivered, writtenOff } from './write-off.ts'

eachDatabase('a charge that is withdrawn', (fresh, kind) => {
  /** A request whose charge could not be committed because the database was unreachable. */
  async function failed() {
    const node = await ledgerOf(await fresh(), { commitWaitMs: 500 })
    const userId = await node.user(1000)
    const tokenId = await node.token(userId, 1000)
    const hold = aHold(userId, tokenId, 100)
    const charge = { ...aCharge(hold, 70), channelId: await node.channel() }
    await node.ledger.hold(hold)
    const bringBack = await interruptDatabase(node.core.database)
    expect(await outcome(() => node.ledger.settle(hold, charge))).toBe('database_unavailable')
    return { node, userId, tokenId, hold, charge, bringBack }
  }

  it('leaves the hold open; settling it again charges once, in full', async () => {
    const { node, userId, hold, charge, bringBack } = await failed()
    expect(await node.ledger.withdraw(hold, writtenOff(charge))).toBe(true)
    expect(node.ledger.openHolds).toBe(1)
    await bringBack()
    await writesAgain(node)
    expect(await charged(node, hold.requestId)).toEqual([])
    expect(await outcome(() => node.ledger.settle(hold, charge))).toBe('ok')
    expect(await charged(node, hold.requestId)).toEqual([70])
    expect(await node.userRow(userId)).toMatchObject({ quota: 930, held: 0, request_count: 1 })
    expect(await node.ledger.withdraw(hold, writtenOff(charge))).toBe(false)
    expect(await holdsOf(node)).toEqual([])
    expect(await reconcile(node.core)).toEqual([])
  })

  it('stays reserved until it is settled', async () => {
    const { node, userId, hold, charge, bringBack } = await failed()
    await node.ledger.withdraw(hold, writtenOff(charge))
    await bringBack()
    await writesAgain(node)
    expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 901)))).toBe('quota_insufficient')
    await settleUndelivered(node.core, node.ledger, hold, charge)
    expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 1000)))).toBe('ok')
    expect(await charged(node, hold.requestId)).toEqual([0])
    expect(await costs(node)).toEqual([{ request_id: hold.requestId, amount: 70, reason: 'undelivered' }])
  })

  it('is written off by the next start when its process dies, as soon as the database can be reached', async () => {
    const { node, userId, hold, charge, bringBack } = await failed()
    await node.ledger.withdraw(hold, writtenOff(charge))
    await bringBack()
    await writesAgain(node)
    // What a dead process leaves: the row of its hold, with the last checkpoint.
    await node.core.db.updateTable('holds').set({ lease_until: 1, node: 'dead' }).execute()
    // Another process may have a SQLite file only after this one.
    if (kind === 'sqlite') await node.close()
    const next = await ledgerOf(node.database, { node: 'next' })
    expect(await next.ledger.expire()).toMatchObject({ settled: 1 })
    expect(await charged(next, hold.requestId)).toEqual([0])
    expect(await costs(next)).toEqual([{ request_id: hold.requestId, amount: 70, reason: 'undelivered' }])
    expect(await next.userRow(userId)).toMatchObject({ quota: 1000 })
    // The first process continues nevertheless: its settlement changes nothing.
    if (kind === 'postgres') await outcome(() => node.ledger.settle(hold, charge))
    expect(await charged(next, hold.requestId)).toEqual([0])
  })

  it('is refunded once when a commit of unknown outcome had written it', async () => {
    const { node, userId, tokenId, hold, charge, bringBack } = await failed()
    await node.ledger.withdraw(hold, writtenOff(charge))
    await bringBack()
    await writesAgain(node)
    // As if the lost commit had taken effect.
    await commitElsewhere(node, hold, charge)
    for (let times = 0; times < 2; times++) await settleUndelivered(node.core, node.ledger, hold, charge)
    expect(await charged(node, hold.requestId)).toEqual([70])
    expect(await node.userRow(userId)).toMatchObject({ quota: 1000, held: 0, used_quota: 0 })
    expect(await node.tokenRow(tokenId)).toMatchObject({ remain_quota: 1000, held: 0, used_quota: 0 })
    expect(await costs(node)).toEqual([{ request_id: hold.requestId, amount: 70, reason: 'undelivered' }])
    expect(await node.core.db.selectFrom('channels').select('used_quota').execute()).toEqual([{ used_quota: 0 }])
    // The call stays counted; only its charge is refunded.
    const hours = node.core.db.selectFrom('quota_data').where('user_id', '=', userId)
    const sums = hours.select(({ fn }) => [
      fn.sum('count').as('count'),
      fn.sum('token_used').as('tokens'),
      fn.sum('quota').as('quota'),
    ])
    const { count, tokens, quota } = await sums.executeTakeFirstOrThrow()
    expect([count, tokens, quota].map(Number)).toEqual([1, charge.rollup.tokens, 0])
    expect(await outcome(() => node.ledger.hold(aHold(userId, tokenId, 1000)))).toBe('ok')
    expect(await reconcile(node.core)).toEqual([])
  })

  it('is refunded by a later attempt when the first one fails', async () => {
    const { node, userId, hold, charge, bringBack } = await failed()
    await node.ledger.withdraw(hold, writtenOff(charge))
    await bringBack()
    await writesAgain(node)
    await commitElsewhere(node, hold, charge)
    const allowRefunds = await refuseRows(node.core.database, 'ledger', "new.kind = 'refund'")
    await expect(settleUndelivered(node.core, node.ledger, hold, charge)).rejects.toThrow('no new rows in ledger')
    await allowRefunds()
    expect(await node.userRow(userId)).toMatchObject({ quota: 930, used_quota: 70 })
    await settleUndelivered(node.core, node.ledger, hold, charge)
    expect(await node.userRow(userId)).toMatchObject({ quota: 1000, used_quota: 0 })
    expect(await reconcile(node.core)).toEqual([])
  })
})

it('a reply that was never delivered adds its charge to the cost that the site bears already', () => {
  const charge = { ...aCharge(aHold(1, 1, 100), 70), siteCost: { amount: 5, reason: 'usage_implausible' } as const }
  expect(writtenOff(charge)).toMatchObject({ amount: 0, siteCost: { amount: 75, reason: 'undelivered' } })
})

async function writesAgain(node: TestLedger): Promise<void> {
  const userId = await node.user(10)
  for (let tries = 0; tries < 300; tries++) {
    const hold = aHold(userId, 0, 1)
    if ((await outcome(async () => node.ledger.hold(hold))) === 'ok') {
      await node.ledger.settle(hold, aCharge(hold, 0))
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('The ledger does not write')
}

async function charged({ core }: TestLedger, requestId: string): Promise<number[]> {
  const rows = await core.db.selectFrom('ledger').select('amount').where('reference', '=', `charge:${requestId}`).execute()
  return rows.map(({ amount }) => 0 - amount)
}

const costs = ({ core }: TestLedger) => core.db.selectFrom('site_costs').select(['request_id', 'amount', 'reason']).execute()
const holdsOf = ({ core }: TestLedger) => core.db.selectFrom('holds').selectAll().execute()
