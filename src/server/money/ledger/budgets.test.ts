import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf, outcome, type TestLedger, tally } from '../../../../test/helpers/ledger.ts'
import type { BudgetWindow } from './budget-window.ts'
import type { Hold } from './ledger.ts'
import { refundCharge } from './refund.ts'

const windowOf = (budgetId: number, limit: number, more: Partial<BudgetWindow> = {}): BudgetWindow => {
  const start = more.start ?? 1_760_000_000
  return { budgetId, start, since: start, until: start, step: 0, limit, ...more }
}

const budgeted = (hold: Hold, ...budgets: BudgetWindow[]): Hold => ({ ...hold, budgets })

/** The ledger reads nothing of this row; it exists so that it can be locked. */
async function addBudget({ core }: TestLedger): Promise<number> {
  const row = { scope: 'user', subject: '1', period: 'day', amount: 0, set_by: 'admin', created_at: 0 }
  return (await core.db.insertInto('budgets').values(row).returning('id').executeTakeFirstOrThrow()).id
}

async function sums({ core }: TestLedger) {
  const rows = await core.db.selectFrom('budget_sums').selectAll().orderBy('budget_id').orderBy('start').execute()
  const charges = await core.db.selectFrom('budget_charges').selectAll().execute()
  for (const { budget_id, start, charged, held } of rows) {
    const own = charges.filter((row) => row.budget_id === budget_id && row.start === start)
    expect(own.reduce((sum, row) => sum + row.amount, 0)).toBe(charged)
    expect(held).toBeGreaterThanOrEqual(0)
  }
  return rows.map(({ charged, held }) => ({ charged, held }))
}

eachDatabase('budgets in the ledger', (fresh, kind) => {
  it('parallel holds do not exceed a budget, and a refused hold reserves nothing', async () => {
    const node = await ledgerOf(await fresh())
    const { ledger } = node
    const userId = await node.user(1_000_000)
    const window = windowOf(await addBudget(node), 1000)
    const holds = Array.from({ length: 200 }, () => budgeted(aHold(userId, 0, 30), window))
    const outcomes = await Promise.all(holds.map((hold) => outcome(() => ledger.hold(hold))))
    expect(tally(outcomes)).toEqual({ ok: 33, budget_exceeded: 167 })

    const granted = holds.filter((_, at) => outcomes[at] === 'ok')
    await Promise.all(granted.map((hold, at) => (at % 3 === 0 ? ledger.release(hold) : ledger.settle(hold, aCharge(hold, 20)))))
    expect(await sums(node)).toEqual([{ charged: 440, held: 0 }])
    expect((await node.userRow(userId)).held).toBe(0)
    expect(await outcome(() => ledger.hold(budgeted(aHold(userId, 0, 561), window)))).toBe('budget_exceeded')
    expect(await outcome(() => ledger.hold(budgeted(aHold(userId, 0, 560), window)))).toBe('ok')
  })

  it('two nodes together do not exceed a budget', async () => {
    if (kind === 'sqlite') return
    const database = await fresh()
    const nodes = [await ledgerOf(database, { node: 'a' }), await ledgerOf(database, { node: 'b' })] as const
    const [a] = nodes
    const users = await Promise.all(Array.from({ length: 5 }, () => a.user(1_000_000)))
    const window = windowOf(await addBudget(a), 1000)
    const other = windowOf(await addBudget(a), 100_000)
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        const { ledger } = nodes[at % 2] ?? a
        const hold = budgeted(aHold(users[at % 5] ?? 0, 0, 30), ...(at % 3 ? [window, other] : [other, window]))
        let held = 'database_unavailable'
        // A busy machine may need a lock for longer than a call waits for it.
        while (held === 'database_unavailable') held = await outcome(() => ledger.hold(hold))
        if (held === 'ok') await ledger.settle(hold, aCharge(hold, 30))
        return held
      }),
    )
    expect(tally(outcomes)).toEqual({ ok: 33, budget_exceeded: 167 })
    expect(await sums(a)).toEqual([
      { charged: 990, held: 0 },
      { charged: 990, held: 0 },
    ])
  })

  it('the sums are those of the charges after any mix of holds, settles, releases, withdrawals and refunds', async () => {
    const node = await ledgerOf(await fresh())
    const { core, ledger } = node
    const userId = await node.user(10_000_000)
    const tokenId = await node.token(userId, 'unlimited')
    const ids = [await addBudget(node), await addBudget(node), await addBudget(node)]
    const channels = [await node.channel(), await node.channel()] as const
    const charged = new Map<number, number>()
    const request = async () => {
      const windows = ids.filter(() => Math.random() < 0.6).map((id) => windowOf(id, 20_000, { start: 60 * id, since: 60 * id }))
      const [first] = windows
      if (first && Math.random() < 0.5) windows[0] = { ...first, channelId: channels[0] }
      const hold = budgeted(aHold(userId, tokenId, 1 + Math.floor(Math.random() * 200)), ...windows)
      if ((await outcome(() => ledger.hold(hold))) !== 'ok') return
      if (Math.random() < 0.2) ledger.checkpoint(hold, aCharge(hold, 1))
      if (Math.random() < 0.2) return ledger.release(hold)
      const channelId = channels[Math.random() < 0.5 ? 0 : 1]
      const amount = Math.floor(Math.random() * 220)
      const charge = aCharge(hold, amount, { channelId })
      await ledger.settle(hold, charge)
      if (Math.random() < 0.2) await ledger.settle(hold, charge)
      if (Math.random() < 0.2) {
        const refund = { requestId: hold.requestId, channelId, model: '', group: '', at: 1, detail: '' }
        await core.db.transaction().execute((within) => refundCharge(ledger, within, refund))
        ledger.refresh({ userId, budgets: true })
        return
      }
      for (const window of windows)
        if (window.channelId === undefined || window.channelId === channelId)
          charged.set(window.budgetId, (charged.get(window.budgetId) ?? 0) + amount)
    }
    for (let round = 0; round < 12; round++) await Promise.all(Array.from({ length: 40 }, request))

    await sums(node)
    for (const id of ids) {
      const used = charged.get(id) ?? 0
      const row = await core.db.selectFrom('budget_sums').selectAll().where('budget_id', '=', id).executeTakeFirstOrThrow()
      expect(row).toMatchObject({ charged: used, held: 0 })
      const window = windowOf(id, 20_000, { start: 60 * id, since: 60 * id })
      // A charge may be higher than its hold, so a budget may be exceeded by a little.
      const free = Math.max(0, 20_000 - used)
      expect(await outcome(() => ledger.hold(budgeted(aHold(userId, 0, free + 1), window)))).toBe('budget_exceeded')
      if (free > 0) expect(await outcome(() => ledger.hold(budgeted(aHold(userId, 0, free), window)))).toBe('ok')
    }
  })

  it('an open hold is counted in the budgets of its channel too, in all of them or none, and only once', async () => {
    const database = await fresh()
    const node = await ledgerOf(database, { node: 'a' })
    const nodes = kind === 'sqlite' ? [node] : [node, await ledgerOf(database, { node: 'b' })]
    const { ledger } = node
    const userId = await node.user(1_000_000)
    const channelId = await node.channel()
    const ofUser = windowOf(await addBudget(node), 100_000)
    const ofChannel = windowOf(await addBudget(node), 1000, { channelId })
    const wide = windowOf(await addBudget(node), 1_000_000, { channelId })
    const holds = Array.from({ length: 60 }, (_, at) => budgeted(aHold(userId, 0, 30), ...(at % 2 ? [ofUser] : [])))
    const ledgerFor = (at: number) => (nodes[at % nodes.length] ?? node).ledger
    const enter = async (hold: Hold, at: number) => {
      let entered = 'database_unavailable'
      while (entered === 'database_unavailable') entered = await outcome(() => ledgerFor(at).hold(hold))
      expect(entered).toBe('ok')
      entered = 'database_unavailable'
      const both = at % 3 ? [ofChannel, wide] : [wide, ofChannel]
      while (entered === 'database_unavailable') entered = await outcome(() => ledgerFor(at).extend(hold, both))
      return entered
    }
    const outcomes = await Promise.all(holds.map(enter))
    expect(tally(outcomes)).toEqual({ ok: 33, budget_exceeded: 27 })
    // Extending the hold by a budget that counts it already adds nothing.
    const first = outcomes.indexOf('ok')
    expect(await outcome(() => ledgerFor(first).extend(holds[first] as Hold, [ofChannel]))).toBe('ok')

    const other = await node.channel()
    await Promise.all(
      holds.map((hold, at) => {
        if (at % 5 === 0) return ledgerFor(at).release(hold)
        // A charge of another channel, to which the request failed over, does not count in the first channel's budgets.
        return ledgerFor(at).settle(hold, aCharge(hold, 20, { channelId: at % 2 ? channelId : other }))
      }),
    )
    const ofTheChannel = holds.filter((_, at) => outcomes[at] === 'ok' && at % 5 !== 0 && at % 2 === 1).length * 20
    const rows = await sums(node)
    expect(rows.at(1)).toEqual({ charged: ofTheChannel, held: 0 })
    expect(rows.at(2)).toEqual({ charged: ofTheChannel, held: 0 })
    const last = aHold(userId, 0, 1000 - ofTheChannel + 1)
    await ledger.hold(last)
    expect(await outcome(() => ledger.extend(last, [ofChannel]))).toBe('budget_exceeded')
  })

  it('the charged sums survive a restart, which ends the holds of the killed node', async () => {
    const database = await fresh()
    const before = await ledgerOf(database, { node: 'before' })
    const userId = await before.user(1_000_000)
    const id = await addBudget(before)
    const window = windowOf(id, 1000)
    const charged = budgeted(aHold(userId, 0, 400), window)
    await before.ledger.hold(charged)
    await before.ledger.settle(charged, aCharge(charged, 300))
    const streaming = budgeted(aHold(userId, 0, 200), window)
    await before.ledger.hold(streaming)
    before.ledger.checkpoint(streaming, aCharge(streaming, 150))
    await before.ledger.hold(budgeted(aHold(userId, 0, 200), window))
    await before.close()

    const after = await ledgerOf(database, { node: 'after' })
    await after.core.db.updateTable('holds').set({ lease_until: 1 }).execute()
    await after.ledger.expire()
    expect(await sums(after)).toEqual([{ charged: 450, held: 0 }])
    expect(await outcome(() => after.ledger.hold(budgeted(aHold(userId, 0, 551), window)))).toBe('budget_exceeded')
    expect(await outcome(() => after.ledger.hold(budgeted(aHold(userId, 0, 550), window)))).toBe('ok')
  })

  it('a sliding window counts all of its rows, and no older one', async () => {
    const node = await ledgerOf(await fresh())
    const { ledger } = node
    const userId = await node.user(1_000_000)
    const id = await addBudget(node)
    const at = (start: number) => windowOf(id, 100, { start, since: start - 160, step: 10 })
    for (const start of [1000, 1010, 1100]) {
      const hold = budgeted(aHold(userId, 0, 30), at(start))
      await ledger.hold(hold)
      await ledger.settle(hold, aCharge(hold, 30))
    }
    expect(await outcome(() => ledger.hold(budgeted(aHold(userId, 0, 11), at(1160))))).toBe('budget_exceeded')
    expect(await outcome(() => ledger.hold(budgeted(aHold(userId, 0, 41), at(1170))))).toBe('budget_exceeded')
    expect(await outcome(() => ledger.hold(budgeted(aHold(userId, 0, 40), at(1170))))).toBe('ok')
  })

  it('a hold that takes all available quota is limited by the budget', async () => {
    const node = await ledgerOf(await fresh())
    const { ledger } = node
    const userId = await node.user(1_000_000)
    const window = windowOf(await addBudget(node), 100)
    const all = { ...budgeted(aHold(userId, 0, 90), window), takesAll: true }
    expect(await outcome(() => ledger.hold(all))).toBe('quota_insufficient')
    expect(await outcome(() => ledger.hold({ ...all, amount: 100 }))).toBe('ok')
    expect(await outcome(() => ledger.hold(budgeted(aHold(userId, 0, 1), window)))).toBe('budget_exceeded')
  })
})
