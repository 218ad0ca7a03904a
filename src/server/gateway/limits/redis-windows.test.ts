import { createClient } from '@redis/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { testLogger } from '../../../../test/helpers/logger.ts'
import { type RedisServer, startRedis } from '../../../../test/helpers/redis-server.ts'
import { Counters, type Decision, type Grant } from './counters.ts'
import { RedisWindows } from './redis-windows.ts'
import type { Rule } from './rule.ts'

const rule = (more: Partial<Rule> = {}): Rule => ({
  key: 'user:1',
  scope: 'user',
  windowMs: 60_000,
  requests: 0,
  successes: 0,
  tokens: 0,
  concurrency: 0,
  ...more,
})

const redis = await startRedis()
afterAll(() => redis?.stop())

describe.skipIf(!redis)('over several nodes', () => {
  // The tests are skipped without it.
  const server = redis as RedisServer
  let ids = 0
  let admin: ReturnType<typeof createClient>
  beforeAll(async () => {
    admin = createClient({ url: server.url })
    admin.on('error', () => {})
    await admin.connect()
  })
  afterAll(() => void admin.destroy())
  beforeEach(async () => {
    await admin.flushAll()
  })

  /** A node with long timeouts: this tests counting, and the machine may be busy. */
  async function node(timing: object = {}, prefix = 'test') {
    const logged: string[] = []
    const logger = testLogger('info', (line) => void logged.push(line))
    const patient = { waitMs: 20_000, ...timing }
    const shared = await RedisWindows.open({ url: server.url, prefix, logger, timing: patient })
    const counters = new Counters({ now: Date.now, shared })
    onTestFinished(() => counters.close())

    const take = async (rules: readonly Rule[], inputTokens = 0, outputTokens = 0): Promise<Decision> =>
      counters.acquire(rules, { id: String(ids++), inputTokens, outputTokens })
    const passed = async (rules: readonly Rule[], times: number) => {
      const decisions = await Promise.all(Array.from({ length: times }, () => take(rules)))
      return decisions.filter(({ grant }) => grant).length
    }
    const end = (grant: Grant | undefined, succeeded: boolean, tokens = 0) => {
      if (!grant) throw new Error('It was not let in')
      counters.release(grant, { succeeded, tokens })
    }
    const connected = () =>
      eventually(async () => (await take([rule({ key: `probe:${ids}`, requests: 1 })])).grant?.redisPieces !== undefined)
    await connected()
    return { take, passed, end, logged, connected, close: () => counters.close() }
  }

  it('[T205] of 1,000 simultaneous requests to two nodes exactly as many are admitted as the limit allows', async () => {
    const [a, b] = await Promise.all([node(), node()])
    const rules = [rule({ requests: 300 }), rule({ key: 'group:default', scope: 'group', requests: 5000 })]
    const counts = await Promise.all([a.passed(rules, 500), b.passed(rules, 500)])
    expect(counts[0] + counts[1]).toBe(300)
    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect((await b.take([rule({ key: 'group:default', requests: 5000 })])).statuses).toMatchObject([{ requests: 301 }])
  })

  it('reports when requests are admitted again, and admits them then', async () => {
    const [a, b] = await Promise.all([node(), node()])
    const rules = [rule({ requests: 10, windowMs: 5000 })]
    expect(await a.passed(rules, 10)).toBe(10)
    const { refusal } = await b.take(rules)
    expect(refusal).toMatchObject({ measure: 'requests', rule: { key: 'user:1' } })
    const retryMs = Number(refusal?.retryMs)
    expect(retryMs).toBeGreaterThan(0)
    expect(retryMs).toBeLessThanOrEqual(5000)
    await new Promise((resolve) => setTimeout(resolve, 5020))
    expect((await a.passed(rules, 20)) + (await b.passed(rules, 20))).toBe(10)
  })

  it('a request that another node refuses is not counted on this one', async () => {
    const [a, b] = await Promise.all([node(), node()])
    const rules = [rule({ requests: 1 })]
    const user = [rule({ key: 'user:2', requests: 5 })]
    expect(await a.passed(rules, 1)).toBe(1)
    expect(await b.passed([...rules, ...user], 10)).toBe(0)
    expect(await b.passed(user, 10)).toBe(5)
  })

  it('the count of a failed request and its unused tokens are available again on the other node', async () => {
    const [a, b] = await Promise.all([node(), node()])
    const rules = [rule({ successes: 1, tokens: 1000 })]
    const first = await a.take(rules, 400, 400)
    expect((await b.take(rules)).refusal?.measure).toBe('successes')
    a.end(first.grant, false, 0)
    const second = await retried(() => b.take(rules, 500, 500))
    b.end(second.grant, true, 300)
    const freed = [rule({ tokens: 1000 })]
    expect((await retried(() => a.take(freed, 700, 0))).statuses).toMatchObject([{ tokens: 1000 }])
    expect((await b.take(freed, 1, 0)).refusal?.measure).toBe('tokens')
  })

  it('tokens beyond the reserved ones count once they are known, even after the window has passed', async () => {
    const [a, b] = await Promise.all([node(), node()])
    const rules = [rule({ tokens: 1000, windowMs: 3000 })]
    const first = await a.take(rules, 10, 10)
    await new Promise((resolve) => setTimeout(resolve, 3050))
    a.end(first.grant, true, 1500)
    await eventually(async () => (await b.take(rules, 10, 0)).refusal?.measure === 'tokens')
  })

  it('concurrent requests are counted over both nodes, and free their slots when they end', async () => {
    const [a, b] = await Promise.all([node(), node()])
    const rules = [rule({ concurrency: 4 })]
    const all = await Promise.all([a, b].flatMap((one) => Array.from({ length: 50 }, () => one.take(rules))))
    const running = all.filter(({ grant }) => grant)
    expect(running.length).toBe(4)
    const onA = all.slice(0, 50).find(({ grant }) => grant)
    ;(onA ? a : b).end(running[0]?.grant, false)
    expect((await retried(() => a.take(rules))).grant).toBeDefined()
    expect((await b.take(rules)).refusal).toMatchObject({ measure: 'concurrency', retryMs: 1000 })
  })

  it('running requests of a dead node expire; those of a living one are renewed', async () => {
    const timing = { runsForMs: 2500, renewEveryMs: 100 }
    const [a, b, c] = await Promise.all([node(timing), node(timing), node(timing)])
    const rules = [rule({ concurrency: 2 })]
    await a.take(rules)
    await b.take(rules)
    expect((await b.take(rules)).refusal?.measure).toBe('concurrency')
    await a.close()
    expect((await retried(() => b.take(rules))).grant).toBeDefined()
    await new Promise((resolve) => setTimeout(resolve, 2600))
    // Not refused by its own count: both requests run on the other node.
    expect((await c.take(rules)).refusal?.measure).toBe('concurrency')
  })

  it('running requests are recorded again after Redis has lost them', async () => {
    const [a, b] = await Promise.all([node({ renewEveryMs: 50 }), node()])
    const rules = [rule({ concurrency: 2 })]
    await a.passed(rules, 2)
    await admin.flushAll()
    await eventually(async () => {
      const { grant, refusal } = await b.take(rules)
      // An admitted request is ended at once, so that a refusal cannot come from the node's own count.
      if (grant) b.end(grant, true)
      return refusal?.measure === 'concurrency'
    })
  })

  it('[T223] without Redis each node counts on its own, including earlier requests, and logs it once', async () => {
    const [a, b] = await Promise.all([node({ waitMs: 2000 }), node({ waitMs: 2000 })])
    const rules = [rule({ requests: 10 })]
    expect((await a.passed(rules, 4)) + (await b.passed(rules, 2))).toBe(6)
    await server.kill()
    await eventually(async () => (await a.take([])).grant !== undefined && a.logged.length > 0)
    expect([await a.passed(rules, 100), await b.passed(rules, 100)]).toEqual([6, 8])
    await Promise.all(Array.from({ length: 50 }, () => a.take([rule({ key: 'other', requests: 100 })])))
    const warnings = () => a.logged.filter((line) => line.includes('REDIS IS UNREACHABLE'))
    expect(warnings().length).toBe(1)

    await server.start()
    await a.connected()
    expect(a.logged.filter((line) => line.includes('Redis is back')).length).toBe(1)
  })

  it('[T223] while Redis hangs, one request waits a bounded time, and the others do not wait', async () => {
    const a = await node({ waitMs: 100, pauseMs: 60_000 })
    await server.kill('SIGSTOP')
    onTestFinished(() => server.kill('SIGCONT'))
    let askedMs = 0
    let count = 0
    for (let isAsked = true; isAsked; count++) {
      const startedAt = performance.now()
      isAsked = (await a.take([rule({ requests: 1000 })])).grant?.redisPieces !== undefined
      askedMs = performance.now() - startedAt
      if (isAsked) await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(askedMs).toBeLessThan(5000)
    expect(await a.passed([rule({ requests: 1000 })], 2000)).toBe(1000 - count)
  })

  it('[T224] installations that share a Redis count separately', async () => {
    const [a, b] = await Promise.all([node({}, 'one'), node({}, 'two')])
    const rules = [rule({ requests: 5 })]
    expect([await a.passed(rules, 9), await b.passed(rules, 9)]).toEqual([5, 5])
  })
})

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 15_000
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('It did not come to pass')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Releases are sent to Redis without waiting, so the next request may arrive before them. */
async function retried(take: () => Promise<Decision>): Promise<Decision> {
  let last = await take()
  await eventually(async () => {
    if (!last.grant) last = await take()
    return last.grant !== undefined
  })
  return last
}
