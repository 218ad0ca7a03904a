import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf, type TestLedger } from '../../../../test/helpers/ledger.ts'
import { isTorture } from '../../../../test/helpers/torture.ts'
import { AppError } from '../../base/lib/failure.ts'
import type { BudgetWindow } from './budget-window.ts'

/** Budgets of an organisation as the ledger sees them: a call is in one window for each budget of each place above it. */

/** A repeatable source of numbers below a bound. */
function numbers(seed: number) {
  let state = seed >>> 0
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface Place {
  readonly parent: number
  readonly budgets: readonly BudgetWindow[]
}

const start = 1_760_000_000
const depthMax = 5

/** A tree of places, at most five deep, of which each has up to two budgets of several windows, some of them soft. */
async function treeOf({ core }: TestLedger, below: (bound: number) => number): Promise<readonly Place[]> {
  const places: Place[] = []
  for (let at = 0; at < 20; at++) {
    let parent = at === 0 ? -1 : below(at)
    while (parent >= 0 && pathOf(places, parent).length >= depthMax) parent = places[parent]?.parent ?? -1
    const budgets: BudgetWindow[] = []
    for (let count = below(3); count > 0 || (at === 0 && budgets.length === 0); count--) {
      const row = { scope: 'team', subject: String(at), period: 'day', amount: 0, set_by: 'owner', created_at: 0 }
      const { id: budgetId } = await core.db.insertInto('budgets').values(row).returning('id').executeTakeFirstOrThrow()
      const limit = below(5) === 0 ? Number.MAX_SAFE_INTEGER : 200 + below(3000)
      const at0 = [start, start - 86_400, 0][below(3)] ?? start
      budgets.push({ budgetId, start: at0, since: at0, until: at0, step: 0, limit })
    }
    places.push({ parent, budgets })
  }
  return places
}

/** A place and those above it. */
function pathOf(places: readonly Place[], at: number): number[] {
  return at < 0 ? [] : [at, ...pathOf(places, places[at]?.parent ?? -1)]
}

const windowsAbove = (places: readonly Place[], at: number) => pathOf(places, at).flatMap((each) => places[each]?.budgets ?? [])

eachDatabase('a tree of budgets', (fresh, kind) => {
  it.each(isTorture ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2])(
    'is exceeded at no height, whoever calls, and a refusal names the budget with the least left (seed %i)',
    async (seed) => {
      const below = numbers(seed)
      const database = await fresh()
      const first = await ledgerOf(database, { node: 'a' })
      const nodes = kind === 'postgres' ? [first, await ledgerOf(database, { node: 'b' })] : [first]
      const places = await treeOf(first, below)
      const userId = await first.user(10_000_000)
      const calls = Array.from({ length: isTorture ? 1000 : 200 }, () => ({
        at: below(places.length),
        amount: 1 + below(60),
        end: below(4),
      }))
      const spent = new Map<number, number>()
      await Promise.all(
        calls.map(async ({ at, amount, end }, index) => {
          const { ledger } = nodes[index % nodes.length] ?? first
          const hold = { ...aHold(userId, 0, amount), budgets: windowsAbove(places, at) }
          if (!(await granted(() => ledger.hold(hold)))) return
          if (end === 0) return ledger.release(hold)
          // At most what was held.
          const charge = Math.ceil((amount * end) / 3)
          await ledger.settle(hold, aCharge(hold, charge))
          for (const place of pathOf(places, at)) spent.set(place, (spent.get(place) ?? 0) + charge)
        }),
      )

      // A parent counts what its own calls and those of all its children cost: the charges below it.
      const rows = await first.core.db.selectFrom('budget_sums').selectAll().execute()
      const charged = new Map(rows.map((row) => [row.budget_id, row.charged]))
      for (const [at, { budgets }] of places.entries()) {
        for (const { budgetId, limit } of budgets) {
          expect(charged.get(budgetId) ?? 0, `budget ${budgetId}`).toBe(spent.get(at) ?? 0)
          expect(charged.get(budgetId) ?? 0).toBeLessThanOrEqual(limit)
        }
      }
      expect(rows.every(({ held }) => held === 0)).toBe(true)

      let refusals = 0
      for (const [at] of places.entries()) {
        const windows = windowsAbove(places, at)
        const lefts = windows.map(({ budgetId, limit }) => limit - (charged.get(budgetId) ?? 0))
        const least = Math.min(...lefts)
        const hold = { ...aHold(userId, 0, least + 1), budgets: windows }
        if (least > 5000) continue
        refusals++
        const refusal = await refusalOf(() => first.ledger.hold(hold))
        expect(refusal).toEqual({ budgetId: windows[lefts.indexOf(least)]?.budgetId, need: least + 1, have: least })
        const fits = { ...aHold(userId, 0, least), budgets: windows }
        if (least === 0) continue
        expect(await granted(() => first.ledger.hold(fits))).toBe(true)
        await first.ledger.release(fits)
      }
      expect(refusals).toBeGreaterThan(5)
    },
  )
})

/** False for a refusal by a budget. A busy machine may need a lock for longer than a call waits for it. */
async function granted(hold: () => unknown): Promise<boolean> {
  for (;;) {
    try {
      await hold()
      return true
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code === 'budget_exceeded') return false
      if (error.code !== 'database_unavailable') throw error
    }
  }
}

async function refusalOf(hold: () => unknown): Promise<unknown> {
  try {
    await hold()
    return 'granted'
  } catch (error) {
    if (error instanceof AppError && error.code === 'budget_exceeded') return error.params
    throw error
  }
}
