import { expect, it } from 'vitest'
import { freshDatabase } from '../../../../test/helpers/databases.ts'
import { ledgerOf } from '../../../../test/helpers/ledger.ts'
import { startMoneyWorker } from '../../../../test/helpers/money-worker.ts'
import { reconcile } from '../ledger/reconcile.ts'
import { createRedemptions } from './redemptions.ts'

// All steps, all ways to pay and two processes at once are in test/torture/money-in.torture.ts.
const root = { id: 1, username: 'root', role: 100, group: 'default', address: '127.0.0.1' }

it('[T166] [T174] a process that is killed before the commit has credited nothing, after it everything, and a repetition gets the outcome', async () => {
  const database = await freshDatabase('sqlite')
  const node = await ledgerOf(database)
  const userId = await node.user(0)
  const [key] = await createRedemptions(node.core, { input: { name: 'code', quota: 500 }, count: 1, caller: root })
  const redeem = async (kill?: string) => {
    const work = { move: { name: 'redeem', key }, users: [userId], options: {}, attempts: 1 }
    const worker = await startMoneyWorker(database, kill === undefined ? work : { ...work, kill })
    return [await worker.go(), (await node.userRow(userId)).quota]
  }
  expect(await redeem('before commit')).toEqual([undefined, 0])
  expect(await redeem('after commit')).toEqual([undefined, 500])
  expect(await redeem()).toEqual([{ redemption_used: 1 }, 500])
  expect(await reconcile(node.core)).toEqual([])
})
