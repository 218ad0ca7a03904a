import { expect, it } from 'vitest'
import { newClock } from '../../../test/helpers/clock.ts'
import { ConsoleRequests } from './console-requests.ts'

function limiter() {
  const clock = newClock()
  const requests = new ConsoleRequests(() => clock.now())
  const passes = (address: string, times = 1, limit: 'login' | 'every' = 'login') => {
    let passed = 0
    for (let n = 0; n < times; n++) {
      try {
        requests.count(limit, address)
        passed++
      } catch (error) {
        expect(error).toMatchObject({ code: 'too_many_requests' })
      }
    }
    return passed
  }
  return { clock, passes }
}

it('lets exactly the limit through', () => {
  const { passes } = limiter()
  expect(passes('203.0.113.9', 100)).toBe(20)
  expect(passes('203.0.113.9', 1000, 'every')).toBe(600)
})

it('counts the addresses of one IPv6 network, and the two writings of an IPv4 address, as one client', () => {
  const { passes } = limiter()
  expect(passes('2001:db8::1', 15) + passes('2001:db8::2', 15) + passes('2001:db8:0:0:ffff::1', 15)).toBe(20)
  expect(passes('203.0.113.9', 15) + passes('::ffff:203.0.113.9', 15)).toBe(20)
  expect(passes('2001:db8:0:1::1', 30)).toBe(20)
})

it('never lets much more than the limit through around the edge of a window, and all of it after a quiet one', () => {
  const { clock, passes } = limiter()
  clock.nowMs = Math.ceil(clock.nowMs / 1_200_000) * 1_200_000 - 1000
  expect(passes('203.0.113.9', 30)).toBe(20)
  clock.passSeconds(1)
  expect(passes('203.0.113.9', 30)).toBe(0)
  clock.passSeconds(600)
  expect(passes('203.0.113.9', 30)).toBe(10)
  clock.passSeconds(2400)
  expect(passes('203.0.113.9', 30)).toBe(20)
})
