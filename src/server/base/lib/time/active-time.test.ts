import { describe, expect, it } from 'vitest'
import { ActiveClock, setActiveTimeout, withActiveTimeout } from './active-time.ts'
import { newSteadyClock } from './clock.ts'
import { Deadlines } from './timer-wheel.ts'

function newClock() {
  let nowMs = 5000
  const clock = new ActiveClock(() => nowMs)
  /** Lets active time pass: the clock is sampled on the way. */
  const run = (ms: number) => {
    for (let step = 0; step < ms; step += 250) {
      nowMs += 250
      clock.now()
    }
  }
  const suspend = (ms: number) => {
    nowMs += ms
  }
  return { clock, run, suspend }
}

describe('a process that was suspended', () => {
  it('leaves the suspension out, except for one sampling interval', () => {
    const { clock, run, suspend } = newClock()
    const before = clock.now()
    run(2000)
    suspend(30_000)
    expect(clock.now() - before).toBe(2250)
    expect(clock.suspendedMs).toBe(29_750)
    run(1000)
    expect(clock.now() - before).toBe(3250)
  })

  it('counts a gap of less than a second as active time', () => {
    const { clock, suspend } = newClock()
    const before = clock.now()
    suspend(900)
    expect([clock.now() - before, clock.suspendedMs]).toEqual([900, 0])
  })

  it('fires no deadline on resuming, and the remaining ones after their active time', () => {
    const { clock, run, suspend } = newClock()
    const deadlines = new Deadlines(() => clock.now())
    const reached: string[] = []
    deadlines.after(1000, () => reached.push('first'))
    deadlines.after(5000, () => reached.push('second'))
    run(500)
    suspend(60_000)
    deadlines.advance()
    expect(reached).toEqual([])
    run(500)
    deadlines.advance()
    expect(reached).toEqual(['first'])
    deadlines.stop()
  })
})

describe('time limits', () => {
  it('return the result in time, otherwise that of `late`, and pass on the errors of either', async () => {
    const never = new Promise<never>(() => {})
    expect(await withActiveTimeout(1000, Promise.resolve('came'), () => 'late')).toBe('came')
    expect(await withActiveTimeout(1, never, () => 'late')).toBe('late')
    await expect(withActiveTimeout(1000, Promise.reject(new Error('failed')), () => 'late')).rejects.toThrow('failed')
    const tooLate = () => {
      throw new Error('too late')
    }
    await expect(withActiveTimeout(1, never, tooLate)).rejects.toThrow('too late')
  })

  it('do not apply once they are cancelled', async () => {
    const judged: string[] = []
    setActiveTimeout(1, () => judged.push('cancelled'))()
    await new Promise<void>((resolve) => setActiveTimeout(2, resolve))
    expect(judged).toEqual([])
  })
})

describe('the steady clock', () => {
  it('starts at the time of day and continues by the monotonic clock, unaffected by changes of the time of day', () => {
    let wall = Date.UTC(2026, 0, 2, 12)
    let monotonic = 1234.5
    const now = newSteadyClock(
      () => wall,
      () => monotonic,
    )
    const started = now()
    expect(Math.abs(started - wall)).toBeLessThanOrEqual(1)
    monotonic += 1500
    wall -= 3_600_000
    expect(now() - started).toBe(1500)
    wall += 7_200_000
    expect(now() - started).toBe(1500)
  })
})
