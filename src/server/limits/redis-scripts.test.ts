import { createClient } from '@redis/client'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { newClock } from '../../../test/helpers/clock.ts'
import { randomsOf } from '../../../test/helpers/randoms.ts'
import { startRedis } from '../../../test/helpers/redis-server.ts'
import { changeOf, concurrencyRetryMs, MemoryWindows } from './memory-windows.ts'
import { endScript, takeScript } from './redis-scripts.ts'
import { hasWindow, type LimitedRequest, type RequestOutcome, type Rule, tokensReserved, type Verdict } from './rule.ts'

/** Rules that requests come under, some of them with a part of the measures only. */
const rules: readonly Rule[] = [
  { key: 'user:1', scope: 'user', windowMs: 60_000, requests: 40, successes: 12, tokens: 9000, concurrency: 12 },
  { key: 'group:g', scope: 'group', windowMs: 16_000, requests: 0, successes: 0, tokens: 5000, concurrency: 0 },
  { key: 'token:3', scope: 'token', windowMs: 30_000, requests: 12, successes: 0, tokens: 0, concurrency: 0 },
  { key: 'channel:4', scope: 'channel', windowMs: 0, requests: 0, successes: 0, tokens: 0, concurrency: 5 },
]

const redis = await startRedis()
afterAll(() => redis?.stop())

describe.skipIf(!redis)('the scripts in Redis', () => {
  it.each([1, 2, 3, 4])('count and refuse like the windows in memory, whatever comes in whatever order (%i)', async (seed) => {
    const random = randomsOf(seed)
    const upTo = (most: number) => Math.floor(random() * (most + 1))
    const clock = newClock()
    const shared = await scriptsOver(clock)
    const memory = new MemoryWindows()
    const running: { need: LimitedRequest; under: readonly Rule[]; pieces: readonly number[] }[] = []
    const seen = { admitted: 0, requests: 0, successes: 0, tokens: 0, concurrency: 0 }

    // By more than all windows.
    const setBackAt = 700
    for (let step = 0; step < 1500; step++) {
      // Bursts, and pauses as long as some windows.
      clock.nowMs += random() < 0.03 ? upTo(40_000) : upTo(400)
      if (step === setBackAt) clock.nowMs -= 200_000
      await shared.setClock()
      const under = rules.filter(() => random() < 0.7)
      const action = random()
      if (action < 0.55) {
        const need = { id: `${seed}:${step}`, inputTokens: upTo(200), outputTokens: upTo(400) }
        const verdict = memory.acquire(under, need, clock.now())
        expect(await shared.acquire(under, need), `step ${step}`).toEqual(verdict)
        seen[verdict.refusal?.measure ?? 'admitted']++
        if (!verdict.refusal) running.push({ need, under, pieces: verdict.pieces })
      } else if (action < 0.85 && running.length > 0) {
        const [ended] = running.splice(upTo(running.length - 1), 1)
        if (!ended) continue
        const outcome = { succeeded: random() < 0.7, undone: random() < 0.2, tokens: upTo(900) }
        memory.release(ended.under, ended.pieces, ended.need, outcome, clock.now())
        await shared.release(ended, outcome)
      } else if (action < 0.9) {
        const [rule] = rules
        if (!rule) continue
        const tokens = upTo(300)
        memory.add(rule, tokens, clock.now())
        await shared.add(rule, tokens)
      } else {
        // Of a check only the counts are compared: in memory it disregards measures that only a request has.
        expect((await shared.peek(under)).statuses, `step ${step}`).toEqual(memory.peek(under, clock.now()).statuses)
      }
    }
    // All that can happen has happened.
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0)
  })
})

/** The scripts with a clock of the test in place of that of Redis. */
async function scriptsOver(clock: { now(): number }) {
  const client = createClient({ url: redis?.url ?? '' })
  await client.connect()
  onTestFinished(() => client.destroy())
  await client.flushAll()
  const timed = (script: string) => script.replace(`redis.call('TIME')`, `{ 0, redis.call('GET', 'clock') * 1000 }`)
  const [take, end] = [timed(takeScript), timed(endScript)]
  const keysOf = (under: readonly Rule[]) => under.flatMap(({ key }) => [`limit:${key}`, `running:${key}`])
  const run = (script: string, under: readonly Rule[], values: readonly (string | number)[]) =>
    client.eval(script, { keys: keysOf(under), arguments: values.map(String) })

  async function judge(under: readonly Rule[], first: 0 | 1, need: LimitedRequest): Promise<Verdict> {
    const ofRules = under.flatMap((rule) => [
      ...[rule.windowMs, rule.requests, rule.successes, rule.tokens, rule.concurrency],
      tokensReserved(rule, need),
    ])
    const reply = await run(take, under, [first, need.id, 3_600_000, concurrencyRetryMs, ...ofRules])
    const [refused = 0, measure = 0, retryMs = 0, ...rest] = reply as unknown as number[]
    const all = under.map((rule, at) => {
      const [piece = 0, requests = 0, successes = 0, tokens = 0, resetMs = 0] = rest.slice(at * 5)
      return { piece, status: { rule, requests, successes, tokens, resetMs } }
    })
    const rule = under[refused - 1]
    return {
      refusal: rule && {
        rule,
        measure: (['requests', 'successes', 'tokens', 'concurrency'] as const)[measure - 1] ?? 'requests',
        retryMs,
      },
      statuses: all.map(({ status }) => status).filter((status) => hasWindow(status.rule)),
      pieces: rule ? [] : all.map(({ piece }) => piece),
    }
  }

  return {
    setClock: () => client.set('clock', String(clock.now())),
    acquire: (under: readonly Rule[], need: LimitedRequest) => judge(under, 1, need),
    peek: (under: readonly Rule[]) => judge(under, 0, { id: '', inputTokens: 0, outputTokens: 0 }),
    async release(
      { under, need, pieces }: { under: readonly Rule[]; need: LimitedRequest; pieces: readonly number[] },
      ended: RequestOutcome,
    ): Promise<void> {
      const ofRules = under.flatMap((rule, at) => {
        const { requests, successes, tokens } = changeOf(rule, need, ended)
        return [hasWindow(rule) ? rule.windowMs : 0, pieces[at] ?? 0, requests, successes, tokens]
      })
      await run(end, under, [need.id, ...ofRules])
    },
    async add(rule: Rule, tokens: number): Promise<void> {
      await run(end, [rule], ['', rule.windowMs, 0, 0, 0, tokens])
    },
  }
}
