import { createClient } from '@redis/client'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { newClock } from '../../../../test/helpers/clock.ts'
import { randomsOf } from '../../../../test/helpers/randoms.ts'
import { startRedis } from '../../../../test/helpers/redis-server.ts'
import { MemoryWindows } from './memory-windows.ts'
import { addValues, checkValues, endScript, endValues, readVerdict, takeScript, takeValues } from './redis-scripts.ts'
import type { LimitedRequest, Rule, Verdict } from './rule.ts'

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
  it.each([1, 2, 3, 4])('count and refuse like the windows in memory, for any requests in any order (%i)', async (seed) => {
    const random = randomsOf(seed)
    const upTo = (most: number) => Math.floor(random() * (most + 1))
    const clock = newClock()
    const shared = await scriptsOver(clock)
    const memory = new MemoryWindows()
    const running: { need: LimitedRequest; under: readonly Rule[]; pieces: readonly number[] }[] = []
    const seen = { admitted: 0, requests: 0, successes: 0, tokens: 0, concurrency: 0 }

    // The clock is set back by more than the longest window.
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
        // A refused request was counted in no piece.
        const pieces = verdict.refusal ? under.map(() => 0) : verdict.pieces
        expect(await shared.acquire(under, need), `step ${step}`).toEqual({ ...verdict, pieces })
        seen[verdict.refusal?.measure ?? 'admitted']++
        if (!verdict.refusal) running.push({ need, under, pieces: verdict.pieces })
      } else if (action < 0.85 && running.length > 0) {
        const [ended] = running.splice(upTo(running.length - 1), 1)
        if (!ended) continue
        const outcome = { succeeded: random() < 0.7, undone: random() < 0.2, tokens: upTo(900) }
        memory.release(ended.under, ended.pieces, { need: ended.need, ended: outcome }, clock.now())
        await shared.release(ended.under, { ...ended, outcome })
      } else if (action < 0.9) {
        const [rule] = rules
        if (!rule) continue
        const tokens = upTo(300)
        memory.add(rule, tokens, clock.now())
        await shared.add(rule, tokens)
      } else {
        // For a check only the counts are compared, because in memory it ignores measures that depend on a request.
        expect((await shared.peek(under)).statuses, `step ${step}`).toEqual(memory.peek(under, clock.now()).statuses)
      }
    }
    // Every outcome has occurred.
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

  async function judge(under: readonly Rule[], values: readonly (string | number)[]): Promise<Verdict> {
    // The script returns a list of integers.
    return readVerdict(under, (await run(take, under, values)) as unknown as number[])
  }

  return {
    setClock: () => client.set('clock', String(clock.now())),
    acquire: (under: readonly Rule[], need: LimitedRequest) => judge(under, takeValues(under, need, 3_600_000)),
    peek: (under: readonly Rule[]) => judge(under, checkValues(under)),
    release: (under: readonly Rule[], ended: Parameters<typeof endValues>[1]) => run(end, under, endValues(under, ended)),
    add: (rule: Rule, tokens: number) => run(end, [rule], addValues(rule, tokens)),
  }
}
