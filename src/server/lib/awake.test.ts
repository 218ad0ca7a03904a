import { describe, expect, it } from 'vitest'
import { AwakeClock, afterAwake, withinAwake } from './awake.ts'
import { newSteadyClock } from './clock.ts'
import { Deadlines } from './timer-wheel.ts'

function standing() {
  let nowMs = 5000
  const clock = new AwakeClock(() => nowMs)
  /** Time in which the process runs and looks at its clock. */
  const run = (ms: number) => {
    for (let step = 0; step < ms; step += 250) {
      nowMs += 250
      clock.now()
    }
  }
  const standStill = (ms: number) => {
    nowMs += ms
  }
  return { clock, run, standStill }
}

describe('a process that stood still', () => {
  it('has not lived through that time: it is left out, all but what may have passed since the last look', () => {
    const { clock, run, standStill } = standing()
    const before = clock.now()
    run(2000)
    standStill(30_000)
    expect(clock.now() - before).toBe(2250)
    expect(clock.stillMs).toBe(29_750)
    run(1000)
    expect(clock.now() - before).toBe(3250)
  })

  it('that was only busy for less than a second was not still', () => {
    const { clock, standStill } = standing()
    const before = clock.now()
    standStill(900)
    expect([clock.now() - before, clock.stillMs]).toEqual([900, 0])
  })

  it('reaches no deadline on waking, and those that are left when they are due', () => {
    const { clock, run, standStill } = standing()
    const deadlines = new Deadlines(() => clock.now())
    const reached: string[] = []
    deadlines.after(1000, () => reached.push('first'))
    deadlines.after(5000, () => reached.push('second'))
    run(500)
    standStill(60_000)
    deadlines.advance()
    expect(reached).toEqual([])
    run(500)
    deadlines.advance()
    expect(reached).toEqual(['first'])
    deadlines.stop()
  })
})

describe('time limits', () => {
  it('answer what came in time, what `late` says otherwise, and pass failures of either on', async () => {
    const never = new Promise<never>(() => {})
    expect(await withinAwake(1000, Promise.resolve('came'), () => 'late')).toBe('came')
    expect(await withinAwake(1, never, () => 'late')).toBe('late')
    await expect(withinAwake(1000, Promise.reject(new Error('failed')), () => 'late')).rejects.toThrow('failed')
    const tooLate = () => {
      throw new Error('too late')
    }
    await expect(withinAwake(1, never, tooLate)).rejects.toThrow('too late')
  })

  it('that are cancelled are not judged', async () => {
    const judged: string[] = []
    afterAwake(1, () => judged.push('cancelled'))()
    await new Promise<void>((resolve) => afterAwake(2, resolve))
    expect(judged).toEqual([])
  })
})

describe('the steady clock', () => {
  it('tells the time of its start and goes on by the monotonic clock, whatever becomes of the time of day', () => {
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
