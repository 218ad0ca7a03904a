import { expect, it } from 'vitest'
import { serverOfTest } from '../helpers/app.ts'
import { collectGarbage } from '../helpers/collect-garbage.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { fuzzRoutes } from '../helpers/fuzz-routes.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'

/** FUZZ_ROUNDS (100; T089 asks for 1,000): requests for each route and role, a tenth of them over PostgreSQL. SEED repeats a run. */
const rounds = Number(process.env.FUZZ_ROUNDS ?? 100)
/** The time limit of one request; the figure is for an idle machine. */
const hangMs = Number(process.env.HANG_MS ?? 2000)
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)

/** Memory in use without garbage: the process also runs the callers. */
function usedMb(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

eachDatabase('made-up requests', (_fresh, kind) => {
  it('[T089] cause no server error, do not hang and leave no memory behind', async () => {
    const server = await serverOfTest(kind, { env: { TRUSTED_PROXIES: '127.0.0.1' } })
    const all = kind === 'sqlite' ? rounds : Math.ceil(rounds / 10)
    // Memory loaded by the first requests stays.
    const first = await fuzzRoutes(server, { rounds: Math.ceil(all / 4), seed })
    const before = usedMb()
    const rest = await fuzzRoutes(server, { rounds: Math.floor((all * 3) / 4), seed: seed + 1 })
    const grown = Math.round(usedMb() - before)
    const slowestMs = Math.round(Math.max(first.slowestMs, rest.slowestMs))
    console.log(`seed ${seed}: ${first.count + rest.count} requests, the slowest took ${slowestMs} ms, ${grown} MB more`)
    expect([slowestMs < hangMs, slowestMs]).toEqual([true, slowestMs])
    expect([grown < 64, grown]).toEqual([true, grown])
    await requireBalancedBooks(server)
  })
})
