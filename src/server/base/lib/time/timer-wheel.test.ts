import { describe, expect, it } from 'vitest'
import { Deadlines } from './timer-wheel.ts'

function wheel() {
  let now = 1000
  const reached: string[] = []
  const deadlines = new Deadlines(() => now)
  return {
    deadlines,
    reached,
    note: (name: string) => () => void reached.push(name),
    pass(ms: number, steps = Math.max(1, Math.ceil(ms / 50))) {
      for (let step = 0; step < steps; step++) {
        now += ms / steps
        deadlines.advance()
      }
    },
  }
}

describe('deadlines', () => {
  it('expire never early and at most two ticks late', () => {
    const { deadlines, pass } = wheel()
    let passed = 0
    const reachedAt = new Map<number, number>()
    for (const ms of [0, 1, 49, 50, 51, 120, 3000, 51_199, 51_200, 51_201, 60_000, 120_000]) {
      deadlines.after(ms, () => reachedAt.set(ms, passed))
    }
    while (deadlines.size > 0) {
      passed += 10
      pass(10, 1)
    }
    for (const [ms, at] of reachedAt) expect(at - ms, `${ms}`).toBeGreaterThanOrEqual(0)
    for (const [ms, at] of reachedAt) expect(at - ms, `${ms}`).toBeLessThanOrEqual(100)
    expect(reachedAt.size).toBe(12)
  })

  it('expire once', () => {
    const { deadlines, reached, note, pass } = wheel()
    deadlines.after(100, note('a'))
    pass(200_000)
    expect(reached).toEqual(['a'])
    expect(deadlines.size).toBe(0)
  })

  it('can be postponed again and again', () => {
    const { deadlines, reached, note, pass } = wheel()
    const idle = deadlines.after(1000, note('idle'))
    for (let chunk = 0; chunk < 300; chunk++) {
      pass(500)
      deadlines.refresh(idle, 1000)
    }
    expect(reached).toEqual([])
    pass(900)
    expect(reached).toEqual([])
    pass(200)
    expect(reached).toEqual(['idle'])
  })

  it('can be brought forward', () => {
    const { deadlines, reached, note, pass } = wheel()
    const deadline = deadlines.after(100_000, note('a'))
    deadlines.refresh(deadline, 100)
    pass(200)
    expect(reached).toEqual(['a'])
    pass(200_000)
    expect(reached).toEqual(['a'])
  })

  it('do not expire when cancelled once or twice, and can be armed again', () => {
    const { deadlines, reached, note, pass } = wheel()
    const deadline = deadlines.after(100, note('a'))
    deadlines.cancel(deadline)
    deadlines.cancel(deadline)
    pass(500)
    expect(reached).toEqual([])
    expect(deadlines.size).toBe(0)
    deadlines.refresh(deadline, 100)
    pass(200)
    expect(reached).toEqual(['a'])
  })

  it('may be cancelled and postponed by their callbacks', () => {
    const { deadlines, reached, note, pass } = wheel()
    const late = deadlines.after(500, note('late'))
    const first = deadlines.after(100, () => {
      reached.push('first')
      deadlines.cancel(twin)
      deadlines.cancel(late)
      deadlines.refresh(first, 51_200)
    })
    const twin = deadlines.after(100, note('twin'))
    pass(1000)
    expect(reached).toEqual(['first'])
    pass(51_200)
    expect(reached).toEqual(['first', 'first'])
  })

  it('all expire after a pause of more than a turn of the wheel', () => {
    const { deadlines, reached, note, pass } = wheel()
    for (let index = 0; index < 2000; index++) deadlines.after(index * 30, note(`${index}`))
    pass(200_000, 1)
    expect(reached.length).toBe(2000)
  })

  it('work with a clock that is set back', () => {
    const { deadlines, reached, note, pass } = wheel()
    deadlines.after(100, note('a'))
    pass(60, 1)
    pass(-500, 1)
    pass(700)
    expect(reached).toEqual(['a'])
  })

  it('run no timer while nothing is armed', () => {
    const { deadlines, pass } = wheel()
    expect(deadlines.isRunning).toBe(false)
    const deadline = deadlines.after(100, () => {})
    expect(deadlines.isRunning).toBe(true)
    deadlines.cancel(deadline)
    pass(50)
    expect(deadlines.isRunning).toBe(false)
  })

  it('behave like a list sorted by time under random use', () => {
    const { deadlines, pass } = wheel()
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed % below
    }
    let passed = 0
    const expected = new Map<number, number>()
    const handles = Array.from({ length: 200 }, (_, id) =>
      deadlines.after(1e9, () => {
        const at = expected.get(id) ?? Number.NaN
        expect(passed - at).toBeGreaterThanOrEqual(0)
        expect(passed - at).toBeLessThan(100)
        expected.delete(id)
      }),
    )
    for (const handle of handles) deadlines.cancel(handle)

    for (let step = 0; step < 5000; step++) {
      for (let change = 0; change < 4; change++) {
        const id = random(handles.length)
        const handle = handles[id]
        if (!handle) continue
        if (random(3) === 0) {
          deadlines.cancel(handle)
          expected.delete(id)
          continue
        }
        const ms = random(80_000)
        deadlines.refresh(handle, ms)
        expected.set(id, passed + ms)
      }
      passed += 50
      pass(50, 1)
      expect(deadlines.size).toBe(expected.size)
    }
  })

  it('expire by the timer of the wheel', async () => {
    const deadlines = new Deadlines()
    await new Promise<void>((resolve) => {
      deadlines.after(20, resolve)
      // The timer of the wheel does not keep the process alive; this one does.
      setTimeout(() => {}, 1000)
    })
    expect(deadlines.size).toBe(0)
  })
})
