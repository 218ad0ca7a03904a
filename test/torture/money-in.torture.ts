import { describe, expect, it } from 'vitest'
import { topUpStatus } from '../../src/contract/entities/top-up.ts'
import { reconcile } from '../../src/server/money/ledger/reconcile.ts'
import { createRedemptions } from '../../src/server/money/payments/redemptions.ts'
import { eachDatabase, freshDatabase } from '../helpers/databases.ts'
import { ledgerOf, type TestLedger } from '../helpers/ledger.ts'
import { startMoneyWorker } from '../helpers/money-worker.ts'
import { reportOf } from '../helpers/payment-gateway.ts'
import { pay, stripeEvent, stripeSignature, webhookSecret } from '../helpers/stripe-server.ts'

/** Once means once: 1,000 attempts over two processes, and processes that are killed between any two steps. */
const merchantKey = 'merchant-key'
const options = {
  ServerAddress: 'https://sluice.example',
  PayAddress: 'https://pay.example',
  EpayId: '1001',
  EpayKey: merchantKey,
  StripeApiSecret: 'sk_test_1',
  StripeWebhookSecret: webhookSecret,
}
const quota = 6_000_000
const caller = { id: 1, username: 'root', role: 100, group: 'default', address: '127.0.0.1' }

interface Scene {
  /** The work of the workers. */
  readonly move: Record<string, unknown>
  readonly users: readonly number[]
  /** The result of the one successful attempt, and of the others. */
  readonly won: string
  readonly late: string
  /** Whether only one attempt succeeds; reports of one payment are all acknowledged. */
  readonly isOnlyOne: boolean
  /** The ledger amount of the one successful attempt, if it is not `quota`. */
  readonly amount?: number
}

type Stage = (node: TestLedger, number: number) => Promise<Scene>

const orders = (node: TestLedger, row: { userId: number; provider: string; method: string; number: number; status?: string }) =>
  node.core.db
    .insertInto('top_ups')
    .values({
      user_id: row.userId,
      provider: row.provider,
      method: row.method,
      trade_no: `USR${row.userId}NO${row.number}`,
      quota,
      amount: 12,
      money_minor: 8760,
      currency: row.provider === 'stripe' ? 'USD' : 'CNY',
      status: row.status ?? topUpStatus.pending,
      refunded_minor: row.status === topUpStatus.success ? 8760 : 0,
      created_time: 0,
    })
    .returning('id')
    .executeTakeFirstOrThrow()

const stages: Record<string, Stage> = {
  async 'a redemption code'(node) {
    const users = await Promise.all(Array.from({ length: 50 }, () => node.user(0)))
    const [key] = await createRedemptions(node.core, { input: { name: 'code', quota }, count: 1, caller })
    return { move: { name: 'redeem', key }, users, won: String(quota), late: 'redemption_used', isOnlyOne: true }
  },

  async 'an order paid with epay'(node, number) {
    const userId = await node.user(0)
    await orders(node, { userId, provider: 'epay', method: 'alipay', number })
    const form = { pid: '1001', type: 'alipay', out_trade_no: `USR${userId}NO${number}`, name: 'TUC12', money: '87.60' }
    const move = { name: 'epay', report: reportOf(form, merchantKey) }
    return { move, users: [userId], won: 'true', late: 'true', isOnlyOne: false }
  },

  async 'an order paid with Stripe'(node, number) {
    const userId = await node.user(0)
    const tradeNo = `USR${userId}NO${number}`
    await orders(node, { userId, provider: 'stripe', method: 'stripe', number })
    const session = pay({
      id: `cs_test_${number}`,
      url: '',
      mode: 'payment',
      client_reference_id: tradeNo,
      metadata: { trade_no: tradeNo, user_id: String(userId) },
      amount_total: 8760,
      currency: 'usd',
      payment_status: 'unpaid',
      status: 'open',
      payment_intent: null,
    })
    const body = stripeEvent('checkout.session.completed', session)
    const move = { name: 'stripe', body, signature: stripeSignature(body) }
    return { move, users: [userId], won: 'credited', late: 'credited', isOnlyOne: false }
  },

  async 'a transfer of everything that was earned'(node) {
    const userId = await node.user(0)
    await node.core.db.updateTable('users').set({ aff_quota: quota }).where('id', '=', userId).execute()
    const move = { name: 'transfer', amount: quota }
    return { move, users: [userId], won: 'ok', late: 'transfer_exceeds_earned', isOnlyOne: true }
  },

  async 'the refund of an order'(node, number) {
    const userId = await node.user(quota)
    const { id } = await orders(node, { userId, provider: 'stripe', method: 'stripe', number, status: topUpStatus.success })
    const move = { name: 'withdraw', refund: { id, quota, reason: 'refund' } }
    return { move, users: [userId], won: 'ok', late: 'top_up_not_refunded', isOnlyOne: true, amount: -quota }
  },
}

describe('[T164] [T172] [T152] of 1,000 attempts over two processes', () => {
  it.each(Object.entries(stages))('%s takes effect once', async (_name, stage) => {
    const database = await freshDatabase('postgres')
    const node = await ledgerOf(database)
    const scene = await stage(node, 1)
    const workers = await Promise.all([0, 1].map(() => startMoneyWorker(database, { ...scene, options, attempts: 500 })))
    const counts = await Promise.all(workers.map((worker) => worker.go()))

    const sum = (outcome: string) => counts.reduce((total, each) => total + (each?.[outcome] ?? 0), 0)
    const expected = scene.isOnlyOne ? { [scene.won]: 1, [scene.late]: 999 } : { [scene.won]: 1000 }
    for (const [outcome, count] of Object.entries(expected)) expect([outcome, sum(outcome)]).toEqual([outcome, count])
    expect(await credited(node, scene.users)).toEqual([scene.amount ?? quota])
    expect(await reconcile(node.core)).toEqual([])
  })
})

const steps = ['at begin', 'before credit', 'after credit', 'before commit', 'after commit']

eachDatabase('[T166] [T174] a process that is killed', (fresh) => {
  it.each(Object.entries(stages))(
    'at any step of %s leaves all of it or nothing, and the next attempt completes it',
    async (_name, stage) => {
      const database = await fresh()
      const node = await ledgerOf(database)
      for (const [index, step] of [...steps, ...steps].entries()) {
        const scene = await stage(node, index)
        const worker = await startMoneyWorker(database, { ...scene, options, attempts: 1, kill: step })
        expect([step, await worker.go()]).toEqual([step, undefined])
        const isDone = step === 'after commit'
        const amount = scene.amount ?? quota
        expect([step, await credited(node, scene.users)]).toEqual([step, isDone ? [amount] : []])

        const next = await (await startMoneyWorker(database, { ...scene, options, attempts: 1 })).go()
        expect([step, next]).toEqual([step, { [isDone ? scene.late : scene.won]: 1 }])
        expect(await credited(node, scene.users)).toEqual([amount])
      }
      expect(await reconcile(node.core)).toEqual([])
    },
  )

  it('at a random moment of a redemption, a hundred times, has used the code if and only if it is credited', async () => {
    const database = await fresh()
    const node = await ledgerOf(database)
    const redeem = async () => {
      const userId = await node.user(0)
      const [key] = await createRedemptions(node.core, { input: { name: 'code', quota }, count: 1, caller })
      const work = { move: { name: 'redeem', key }, users: [userId], options, attempts: 1 }
      return { userId, worker: await startMoneyWorker(database, work) }
    }
    const whole = await redeem()
    const startedMs = performance.now()
    await whole.worker.go()
    const wholeMs = performance.now() - startedMs

    const outcomes = { used: 0, unused: 0 }
    for (let round = 1; round <= 100; round++) {
      const { userId, worker } = await redeem()
      const running = worker.go()
      // The kills are spread over the duration of a redemption, and some come after it.
      await new Promise((resolve) => setTimeout(resolve, ((round % 25) / 16) * wholeMs))
      worker.kill()
      await running
      const code = await node.core.db
        .selectFrom('redemptions')
        .selectAll()
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow()
      const isUsed = code.status === 3
      expect(await credited(node, [userId])).toEqual(isUsed ? [quota] : [])
      outcomes[isUsed ? 'used' : 'unused']++
    }
    console.log(`killed at random: ${outcomes.used} used, ${outcomes.unused} not`)
    // Otherwise no kill hit the interval: all were too early or too late.
    expect(Math.min(outcomes.used, outcomes.unused)).toBeGreaterThan(0)
    expect(await reconcile(node.core)).toEqual([])
  })
})

/** The amounts that were credited to any of the users, or taken back from them. */
async function credited({ core }: TestLedger, users: readonly number[]): Promise<number[]> {
  const rows = await core.db
    .selectFrom('ledger')
    .select('amount')
    .where('user_id', 'in', users)
    .where('kind', '<>', 'grant')
    .execute()
  return rows.map(({ amount }) => amount)
}
