import { afterAll, expect, it, onTestFinished } from 'vitest'
import { newClock } from '../../../../test/helpers/clock.ts'
import { testLogger } from '../../../../test/helpers/logger.ts'
import { startRedis } from '../../../../test/helpers/redis-server.ts'
import { type ConsoleLimit, ConsoleRateLimits } from './console-rate-limits.ts'
import { Counters } from './counters.ts'
import { RedisWindows } from './redis-windows.ts'
import type { SharedWindows } from './shared-windows.ts'

function limiter(shared?: SharedWindows) {
  const clock = newClock()
  const requests = new ConsoleRateLimits(new Counters({ now: () => clock.now(), shared }))
  const passes = async (address: string, times = 1, ...limits: ConsoleLimit[]) => {
    let passed = 0
    for (let n = 0; n < times; n++) {
      try {
        await requests.count(limits.length === 0 ? ['login'] : limits, address)
        passed++
      } catch (error) {
        expect(error).toMatchObject({ code: 'too_many_requests', params: { seconds: expect.any(Number) } })
      }
    }
    return passed
  }
  return { clock, passes }
}

it('lets exactly the limit through', async () => {
  const { passes } = limiter()
  expect(await passes('203.0.113.9', 100)).toBe(20)
  expect(await passes('203.0.113.9', 1000, 'every')).toBe(600)
})

it('[T205] counts the addresses of one IPv6 network, and the two writings of an IPv4 address, as one client', async () => {
  const { passes } = limiter()
  expect((await passes('2001:db8::1', 15)) + (await passes('2001:db8::2', 15)) + (await passes('2001:db8:0:0:ffff::1', 15))).toBe(
    20,
  )
  expect((await passes('203.0.113.9', 15)) + (await passes('::ffff:203.0.113.9', 15))).toBe(20)
  expect(await passes('2001:db8:0:1::1', 30)).toBe(20)
})

it('never admits more than the limit in a window, wherever it begins, and all of it after an idle one', async () => {
  const { clock, passes } = limiter()
  clock.nowMs = Math.ceil(clock.nowMs / 1_200_000) * 1_200_000 - 1000
  expect(await passes('203.0.113.9', 30)).toBe(20)
  clock.passSeconds(1)
  expect(await passes('203.0.113.9', 30)).toBe(0)
  clock.passSeconds(1198)
  expect(await passes('203.0.113.9', 30)).toBe(0)
  clock.passSeconds(1)
  expect(await passes('203.0.113.9', 30)).toBe(20)
})

it('a critical request that is refused does not use up the limit for all requests', async () => {
  const { passes } = limiter()
  expect(await passes('203.0.113.9', 1000, 'every', 'critical')).toBe(20)
  expect(await passes('203.0.113.9', 1000, 'every')).toBe(580)
})

const redis = await startRedis()
afterAll(() => redis?.stop())

it.skipIf(!redis)('lets exactly the limit through over two nodes with Redis', async () => {
  const node = async () => {
    const logger = testLogger()
    const shared = await RedisWindows.open({ url: redis?.url ?? '', prefix: 'test', logger, timing: { waitMs: 20_000 } })
    onTestFinished(() => shared.close())
    await expect.poll(() => shared.peek([])).toBeDefined()
    return limiter(shared)
  }
  const [a, b] = [await node(), await node()]
  expect((await a.passes('203.0.113.9', 15)) + (await b.passes('203.0.113.9', 15))).toBe(20)
  expect(await a.passes('203.0.113.9', 1)).toBe(0)
  expect((await a.passes('203.0.113.9', 400, 'every')) + (await b.passes('203.0.113.9', 400, 'every'))).toBe(600)
})
