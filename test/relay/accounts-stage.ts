import { beforeAll, expect } from 'vitest'
import { reconcile } from '../../src/server/money/ledger/reconcile.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import type { DatabaseKind } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { countWords, type FakeUpstream, type Program, promptText, startFakeUpstream } from '../helpers/upstream.ts'
import { bodyOf, idle, type PairFormat, post, readAnswer } from './trust-stage.ts'

const unitsOfDollar = 500_000
/** The model ratio and the completion ratio, in ten-thousandths. */
const byTokens: Readonly<Record<string, readonly [number, number]>> = {
  cheap: [3_700, 40_000],
  dear: [12_500, 50_000],
  odd: [3_333, 12_345],
  free: [0, 10_000],
}
const byCall = { name: 'call', usd: 0.0123 }

/** The cost of one answer, in whole numbers and rounded up once, independent of the code that charges it. */
export function costOf(model: string, prompt: number, completion: number): number {
  if (model === byCall.name) return Math.ceil(Math.round(byCall.usd * unitsOfDollar * 1000) / 1000)
  const [ratio = 0, ratioOut = 0] = byTokens[model] ?? []
  const exact = BigInt(ratio) * (BigInt(prompt) * 10_000n + BigInt(completion) * BigInt(ratioOut))
  return Number((exact + 99_999_999n) / 100_000_000n)
}

function* numbers(): Generator<number, never> {
  let seed = 20_261_120
  for (;;) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    yield seed
  }
}

/**
 * One server for a suite, with a healthy channel below two of higher priority that fail two times in three, and models of every
 * kind of price.
 */
export function accountsOfSuite(kind: DatabaseKind) {
  let server: TestServer
  let good: FakeUpstream
  let flaky: FakeUpstream
  const models = [...Object.keys(byTokens), byCall.name]

  beforeAll(async () => {
    server = await startServer(kind)
    good = await startFakeUpstream()
    const random = numbers()
    flaky = await startFakeUpstream({ programs: { '*': () => (random.next().value % 3 > 0 ? { status: 503 } : {}) } })
    const ratios = (at: 0 | 1) => Object.fromEntries(Object.entries(byTokens).map(([name, both]) => [name, both[at] / 10_000]))
    const prices = { ModelRatio: ratios(0), CompletionRatio: ratios(1), ModelPrice: { [byCall.name]: byCall.usd } }
    await setOptions(server, { ...prices, RetryTimes: 3 })
    await addChannel(server, { url: good.url, models: models.join(',') })
    for (let count = 0; count < 2; count++)
      await addChannel(server, { url: flaky.url, models: models.join(','), priority: 9, auto_ban: 0 })
    return async () => {
      await server.stop()
      await Promise.all([good.stop(), flaky.stop()])
    }
  })

  return {
    get server() {
      return server
    },
    /** Sets the reply of every upstream for a model. */
    program(model: string, wanted: Program): void {
      for (const upstream of [good, flaky]) upstream.program(model, wanted)
    },

    /** Sends `rounds` batches of `together` concurrent requests, and compares every account with the journals of the upstreams. */
    async requireExactAccounts(rounds: number, together: number): Promise<void> {
      const count = rounds * together
      const token = await addToken(server)
      const random = numbers()
      const upTo = (limit: number) => random.next().value % limit
      for (let round = 0; round < rounds; round++) {
        await Promise.all(
          Array.from({ length: together }, async () => {
            const asks: PairFormat = upTo(2) ? 'openai' : 'anthropic'
            const model = models[upTo(models.length)] ?? ''
            const words = 'word '.repeat(1 + upTo(40))
            const answer = await post(server, token.key, asks, bodyOf(model, words, { stream: upTo(2) === 0 }))
            expect(readAnswer(asks, answer).ending).toBe('done')
          }),
        )
      }
      await idle(server)
      const answered = [...good.journal, ...flaky.journal].filter(({ status }) => status === 200)
      expect(answered).toHaveLength(count)
      // Not more: after some consecutive failures the channels of `flaky` are skipped for a while.
      expect(flaky.journal.length).toBeGreaterThan(5)
      const costs = answered.map(({ json, model = '', wordsSent }) => costOf(model, countWords(promptText(json)), wordsSent))
      const sum = costs.reduce((total, cost) => total + cost, 0)
      expect(sum).toBeGreaterThan(0)

      const { users, tokens, ledger, logs, channels } = await books(server)
      const charged = ledger.filter((row) => row.kind === 'charge').map((row) => 0 - row.amount)
      expect(charged.sort((a, b) => a - b)).toEqual(costs.sort((a, b) => a - b))
      expect(users[0]).toMatchObject({ used_quota: sum, request_count: count, held: 0 })
      expect(tokens.find(({ id }) => id === token.id)).toMatchObject({ used_quota: sum, held: 0 })
      expect(channels.reduce((total, row) => total + row.used_quota, 0)).toBe(sum)
      expect(logs.reduce((total, row) => total + row.quota, 0)).toBe(sum)
      expect(await server.call('GET /api/log/stat?type=2')).toMatchObject({ quota: sum })
      const hours = await server.app.db.selectFrom('quota_data').select(['quota', 'count']).execute()
      expect(hours.reduce((total, row) => total + row.quota, 0)).toBe(sum)
      expect(hours.reduce((total, row) => total + row.count, 0)).toBe(count)
      expect(await reconcile(server.app)).toEqual([])
      await requireBalancedBooks(server)
    },
  }
}
