import { beforeAll, expect, it } from 'vitest'
import { reconcile } from '../../src/server/wallet/reconcile.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import { type DatabaseKind, eachDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { countWords, type FakeUpstream, promptText, startFakeUpstream } from '../helpers/upstream.ts'
import { eventually, requestBytes, speak } from './stage.ts'
import { bodyOf, idle, paths, post, readAnswer, type Tongue } from './trust-stage.ts'

// Accounting, part G of the reference about trust. Its numbers name the cases.

const unitsOfDollar = 500_000
/** In ten thousandths: the ratio of the model, and that of its output. */
const byTokens: Readonly<Record<string, readonly [number, number]>> = {
  cheap: [3_700, 40_000],
  dear: [12_500, 50_000],
  odd: [3_333, 12_345],
  free: [0, 10_000],
}
const byCall = { name: 'call', usd: 0.0123 }

/** What one answer costs, in whole numbers and rounded up once, apart from the code that charges it. */
function costOf(model: string, prompt: number, completion: number): number {
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

eachDatabase('accounts', (_fresh, kind: DatabaseKind) => {
  let server: TestServer
  let good: FakeUpstream
  let flaky: FakeUpstream
  const models = [...Object.keys(byTokens), byCall.name]

  beforeAll(async () => {
    server = await startServer(kind)
    good = await startFakeUpstream()
    const random = numbers()
    flaky = await startFakeUpstream({ programs: { '*': () => (random.next().value % 3 > 0 ? { status: 503 } : {}) } })
    const save = (key: string, value: unknown) => server.call('PUT /api/option/', { key, value: JSON.stringify(value) })
    const ratios = (at: 0 | 1) => Object.fromEntries(Object.entries(byTokens).map(([name, both]) => [name, both[at] / 10_000]))
    await save('ModelRatio', ratios(0))
    await save('CompletionRatio', ratios(1))
    await save('ModelPrice', { [byCall.name]: byCall.usd })
    await save('RetryTimes', 3)
    await addChannel(server, { url: good.url, models: models.join(',') })
    for (let count = 0; count < 2; count++)
      await addChannel(server, { url: flaky.url, models: models.join(','), priority: 9, auto_ban: 0 })
    return async () => {
      await server.stop()
      await Promise.all([good.stop(), flaky.stop()])
    }
  })

  it('[T141] [T148] [T160] what random requests cost is what an independent reckoning of the upstream’s journal says, in every account', async () => {
    const token = await addToken(server)
    const random = numbers()
    const upTo = (limit: number) => random.next().value % limit
    for (let round = 0; round < 6; round++) {
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const asks: Tongue = upTo(2) ? 'openai' : 'anthropic'
          const model = models[upTo(models.length)] ?? ''
          const answer = await post(
            server,
            token.key,
            asks,
            bodyOf(model, 'word '.repeat(1 + upTo(40)), { stream: upTo(2) === 0 }),
          )
          expect(readAnswer(asks, answer).ending).toBe('done')
        }),
      )
    }
    await idle(server)
    const answered = [...good.journal, ...flaky.journal].filter(({ status }) => status === 200)
    expect(answered).toHaveLength(120)
    // After some failures in a row its channels are left alone for a while.
    expect(flaky.journal.length).toBeGreaterThan(5)
    const costs = answered.map(({ json, model = '', wordsSent }) => costOf(model, countWords(promptText(json)), wordsSent))
    const sum = costs.reduce((total, cost) => total + cost, 0)
    expect(sum).toBeGreaterThan(0)

    const { users, tokens, ledger, logs, channels } = await books(server)
    const charged = ledger.filter((row) => row.kind === 'charge').map((row) => 0 - row.amount)
    expect(charged.sort((a, b) => a - b)).toEqual(costs.sort((a, b) => a - b))
    expect(users[0]).toMatchObject({ used_quota: sum, request_count: 120, held: 0 })
    expect(tokens.find(({ id }) => id === token.id)).toMatchObject({ used_quota: sum, held: 0 })
    expect(channels.reduce((total, row) => total + row.used_quota, 0)).toBe(sum)
    expect(logs.reduce((total, row) => total + row.quota, 0)).toBe(sum)
    expect(await server.call('GET /api/log/stat?type=2')).toMatchObject({ quota: sum })
    expect(await reconcile(server.app)).toEqual([])
    await requireBalancedBooks(server)
  })

  it('[T157] a free model has its row, and a key that is deleted, disabled or expired in mid-stream pays for the stream', async () => {
    good.program('cheap', { words: 40, pauseMs: 5 })
    const ends: ((id: number) => Promise<unknown>)[] = [
      (id) => server.call(`DELETE /api/token/${id}`),
      (id) => server.call('PUT /api/token/?status_only=true', { id, status: 2 }),
      (id) => server.app.db.updateTable('tokens').set({ expired_time: 1 }).where('id', '=', id).execute(),
    ]
    const rowsOf = (id: number) => server.app.db.selectFrom('logs').selectAll().where('token_id', '=', id).execute()
    for (const end of ends) {
      const token = await addToken(server)
      const caller = speak(
        server,
        requestBytes(token.key, JSON.stringify(bodyOf('cheap', 'one two', { stream: true })), {}, paths.openai),
      )
      await caller.until((text) => text.includes('word3'))
      await end(token.id)
      expect(await caller.until((text) => text.includes('[DONE]'))).toContain('word40')
      caller.socket.destroy()
      expect(await rowsOf(token.id)).toMatchObject([{ prompt_tokens: 2, completion_tokens: 40, quota: costOf('cheap', 2, 40) }])
    }
    const token = await addToken(server)
    expect((await post(server, token.key, 'openai', bodyOf('free', 'one two'))).status).toBe(200)
    expect(await rowsOf(token.id)).toMatchObject([{ model_name: 'free', quota: 0 }])
    await idle(server)
    await requireBalancedBooks(server)
  })

  it('[T151] a flood of changes of the own account disturbs no charge', async () => {
    good.program('dear', {})
    const token = await addToken(server)
    const before = (await books(server)).users[0]
    const flood = Array.from({ length: 50 }, async (_, count) => {
      await server.app.db
        .updateTable('users')
        .set({ display_name: `root ${count}` })
        .where('id', '=', 1)
        .execute()
      server.app.bus.publish('user', 1)
    })
    const asked = await Promise.all(
      Array.from({ length: 100 }, () => post(server, token.key, 'openai', bodyOf('dear', 'one two three'))),
    )
    await Promise.all(flood)
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([200]))
    await eventually(
      'all is charged',
      async () => (await books(server)).users[0]?.request_count === (before?.request_count ?? 0) + 100,
    )
    const after = (await books(server)).users[0]
    // "You said:" and the three words.
    expect((before?.quota ?? 0) - (after?.quota ?? 0)).toBe(100 * costOf('dear', 3, 5))
    await idle(server)
    await requireBalancedBooks(server)
  })
})
