import { expect, it, onTestFinished } from 'vitest'
import { startServer, type TestServer } from '../../../../test/helpers/app.ts'
import { newClock, type TestClock } from '../../../../test/helpers/clock.ts'
import { type DatabaseKind, eachDatabase, freshDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, outcome } from '../../../../test/helpers/ledger.ts'
import { randomsOf } from '../../../../test/helpers/randoms.ts'
import { isTorture } from '../../../../test/helpers/torture.ts'
import type { BudgetInput } from '../../../contract/entities/budget.ts'
import { role } from '../../../contract/roles.ts'
import { purgeBudgetSums } from './budget-use.ts'
import { createBudget, listBudgets, resetBudget } from './manage-budgets.ts'

const root = { id: 1, role: role.root, username: 'root', address: '' }
const [second, hour, day] = [1, 3600, 86_400]
const limit = 1000
const zone = 'Europe/Berlin'

/** Every kind of window, sliding ones of the least, the greatest and odd lengths. */
const kinds = [
  { period: 'day', seconds: 0 },
  { period: 'week', seconds: 0 },
  { period: 'month', seconds: 0 },
  { period: 'total', seconds: 0 },
  ...[second, 7, 60, hour, 5000, day, 31 * day].map((seconds) => ({ period: 'sliding', seconds }) as const),
] as const satisfies readonly Pick<BudgetInput, 'period' | 'seconds'>[]
type Kind = Pick<BudgetInput, 'period' | 'seconds'>

/** A call that a budget has counted. */
interface Counted {
  readonly at: number
  readonly amount: number
}

eachDatabase('budgets and clocks', (_fresh, kind) => {
  it('[T249] after jumps of the clocks by seconds to months, no window of any kind counts more than its limit, and none refuses what it has room for', async () => {
    const seed = Number(process.env.SEED ?? 1)
    const random = randomsOf(seed)
    const rounds = isTorture ? 1000 : 100
    const begins = Date.parse('2026-03-28T22:59:00Z')
    const nodes = await nodesOf(kind, begins)
    const budgets = await Promise.all(
      kinds.map(async (each) => ({ each, counted: [] as Counted[], ...(await aBudget(nodes, each)) })),
    )
    const tallies = { granted: 0, refused: 0 }
    for (let round = 0; round < rounds; round++) {
      const node = nodes[Math.floor(random() * nodes.length)] ?? nodes[0]
      jump(node.clock, random, begins)
      const at = Math.floor(node.clock.nowMs / 1000)
      const one = async ({ each, counted, userId }: (typeof budgets)[number]) => {
        const amount = 1 + Math.floor(random() * 400)
        const where = `${each.period} ${each.seconds} s, round ${round}, seed ${seed}`
        const isGranted = await spend(node.server, userId, amount)
        tallies[isGranted ? 'granted' : 'refused']++
        if (isGranted) counted.push({ at, amount })
        if (isGranted) expect(most(each, counted, at), where).toBeLessThanOrEqual(limit)
        else expect(nearby(each, counted, at) + amount, where).toBeGreaterThan(limit)
      }
      await Promise.all(budgets.map(one))
    }
    expect(tallies.granted + tallies.refused).toBe(rounds * kinds.length)
    expect(Math.min(tallies.granted, tallies.refused)).toBeGreaterThan(rounds / 4)

    // The console shows what the current windows count, and no later ones that a clock has once reached.
    for (const { server, clock } of nodes) {
      const at = Math.floor(clock.nowMs / 1000)
      const { items } = await listBudgets(server.app, root, {
        filter: { scope: '', subject: '' },
        page: { limit: 100, offset: 0 },
      })
      for (const { each, counted, id } of budgets) {
        const shown = items.find((item) => item.id === id)?.spent ?? -1
        const where = `${each.period} ${each.seconds} s`
        if (each.period === 'sliding') expect(shown, where).toBeLessThanOrEqual(nearby(each, counted, at))
        else expect(shown, where).toBe(nearby(each, counted, at))
      }
    }
    // Nothing is held, nothing is negative, and the rows count every granted call once.
    const rows = await nodes[0].server.app.db.selectFrom('budget_sums').selectAll().execute()
    expect(rows.filter(({ held, charged }) => held !== 0 || charged < 0)).toEqual([])
    for (const { counted, id } of budgets)
      expect(rows.filter((row) => row.budget_id === id).reduce((total, { charged }) => total + charged, 0)).toBe(sum(counted))
    // Years later every budget but the one without an end has its whole amount again.
    for (const { clock } of nodes) clock.nowMs = begins + 10 * 365 * day * 1000
    for (const { each, userId } of budgets)
      expect(await spend(nodes[0].server, userId, limit), each.period).toBe(each.period !== 'total')
  })

  it('[T249] a clock that was months ahead and is set right again leaves budgets of all kinds as they were', async () => {
    const begins = Date.parse('2026-10-25T00:30:00Z')
    const nodes = await nodesOf(kind, begins)
    const [{ server, clock }] = nodes
    const budgets = await Promise.all(kinds.map(async (each) => ({ each, ...(await aBudget(nodes, each)) })))
    const spendAll = async (amount: number) => {
      const spent = await Promise.all(budgets.map(({ userId }) => spend(server, userId, amount)))
      return Object.fromEntries(budgets.map(({ each }, at) => [`${each.period} ${each.seconds}`, spent[at]]))
    }
    const all = (isGranted: boolean, ofTotal = isGranted) =>
      Object.fromEntries(kinds.map(({ period, seconds }) => [`${period} ${seconds}`, period === 'total' ? ofTotal : isGranted]))
    expect(await spendAll(600)).toEqual(all(true))
    for (const days of [70, 200, 500]) {
      clock.passSeconds(days * day)
      expect(await spendAll(400)).toEqual(all(true, days !== 200))
      await purgeBudgetSums({ ...server.app, steady: () => begins })
      // An admin resets the windows of that day: the others keep what they count.
      if (days === 200) for (const { id } of budgets) await resetBudget(server.app, root, id)
      clock.passSeconds(-days * day)
    }
    expect(await spendAll(601)).toEqual(all(false))
    expect(await spendAll(400)).toEqual(all(true))
    expect(await spendAll(201)).toEqual(all(false))
  })
})

interface Node {
  readonly server: TestServer
  readonly clock: TestClock
}

/** On PostgreSQL three nodes whose clocks are set without regard to each other; SQLite has one process. */
async function nodesOf(kind: DatabaseKind, nowMs: number): Promise<readonly [Node, ...Node[]]> {
  const database = await freshDatabase(kind, 'started')
  onTestFinished(() => database.drop())
  const start = async (): Promise<Node> => {
    const clock = newClock(nowMs)
    const server = await startServer(kind, { database, now: () => clock.now() })
    onTestFinished(() => server.stop())
    return { server, clock }
  }
  const first = await start()
  await first.server.call('PUT /api/option/', { key: 'SiteTimeZone', value: zone })
  return kind === 'sqlite' ? [first] : [first, await start(), await start()]
}

/** A budget of a user of its own, known to all nodes. */
async function aBudget(nodes: readonly Node[], { period, seconds }: Kind): Promise<{ id: number; userId: number }> {
  const app = nodes[0]?.server.app as TestServer['app']
  const name = `u${period}${seconds}`
  const row = { username: name, username_key: name, display_name: '', password_hash: '', aff_code: name, created_time: 0 }
  const { id: userId } = await app.db.insertInto('users').values(row).returning('id').executeTakeFirstOrThrow()
  const grant = { userId, kind: 'grant', amount: 1e9, reference: `grant:${userId}`, at: 0 } as const
  await app.db.transaction().execute((within) => app.ledger.credit(within, grant))
  const input: BudgetInput = {
    scope: 'user',
    subject: String(userId),
    period,
    seconds,
    name: '',
    amount: limit,
    is_hard: true,
    shares: [],
  }
  const { id } = await createBudget(app, root, input)
  for (const { server } of nodes) await server.app.budgets.refresh()
  return { id, userId }
}

/** One call from its hold to its charge; whether the budgets admit it. */
async function spend({ app: { budgets, ledger } }: TestServer, userId: number, amount: number): Promise<boolean> {
  const windows = budgets.windowsOf({ userId, tokenId: 0 }, '', [])
  const hold = { ...aHold(userId, 0, amount), ...(windows ? { budgets: windows } : {}) }
  let held = 'database_unavailable'
  // A busy machine may need a connection for longer than a call waits for it.
  while (held === 'database_unavailable') held = await outcome(() => ledger.hold(hold))
  if (held === 'ok') await ledger.settle(hold, aCharge(hold, amount))
  else expect(held).toBe('budget_exceeded')
  return held === 'ok'
}

/** Moves a clock forward or back, or to about an hour, day, month or change of the clocks. */
function jump(clock: TestClock, random: () => number, begins: number): void {
  const spans = [second, 30, hour, 5 * hour, day, 8 * day, 31 * day, 65 * day]
  const span = spans[Math.floor(random() * spans.length)] ?? day
  const edges = ['2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z', '2026-03-31T22:00:00Z', '2026-05-31T22:00:00Z']
  if (random() < 0.1)
    clock.nowMs = Date.parse(edges[Math.floor(random() * edges.length)] ?? '') + Math.round((random() - 0.5) * 4000)
  else clock.passSeconds(Math.round((random() - 0.5) * 2 * span))
  // Around the year in which the test begins.
  if (Math.abs(clock.nowMs - begins) > 250 * day * 1000) clock.nowMs = begins
}

const sum = (counted: readonly Counted[]) => counted.reduce((total, { amount }) => total + amount, 0)

/** The most that one window which has `at` in it counts. */
function most({ period, seconds }: Kind, counted: readonly Counted[], at: number): number {
  if (period !== 'sliding') return nearby({ period, seconds }, counted, at)
  const ends = counted.filter((one) => one.at >= at && one.at < at + seconds).map((one) => one.at)
  return Math.max(...ends.map((end) => sum(counted.filter((one) => one.at <= end && one.at > end - seconds))))
}

/** What may be counted together with a call at this time: in its window, or within a part more than the length of a sliding one on both sides. */
function nearby({ period, seconds }: Kind, counted: readonly Counted[], at: number): number {
  const step = Math.ceil(seconds / 16)
  if (period === 'sliding') return sum(counted.filter((one) => Math.abs(one.at - at) <= seconds + step))
  const name = nameOf({ period }, at)
  return sum(counted.filter((one) => nameOf({ period }, one.at) === name))
}

const dates = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })

/** The name of the calendar window of a time, computed from its date. */
function nameOf({ period }: Pick<Kind, 'period'>, at: number): string {
  const date = dates.format(at * 1000)
  if (period === 'total') return ''
  if (period === 'month') return date.slice(0, 7)
  if (period === 'day') return date
  const days = Date.parse(`${date}T00:00:00Z`) / 1000 / day
  return String(Math.floor((days + 3) / 7))
}
