import { expect, it } from 'vitest'
import { TurnoverMap } from './turnover-map.ts'

it('holds what a Map holds, over any number of insertions and deletions', () => {
  const map = new Map<number, string>()
  const turnover = new TurnoverMap<number, string>()
  for (let step = 0; step < 20_000; step++) {
    // A few entries stay for ever, many for a while, and some are set twice.
    const key = step % 97 === 0 ? step : step - (step % 3 === 0 ? 1 : 0)
    map.set(key, `${step}`)
    turnover.set(key, `${step}`)
    const gone = step - 150 - (step % 50)
    if (gone % 97 !== 0) {
      map.delete(gone)
      turnover.delete(gone)
    }
    expect(turnover.size).toBe(map.size)
    expect(turnover.get(gone)).toBe(map.get(gone))
    expect(turnover.has(key)).toBe(true)
  }
  expect([...turnover.keys()]).toEqual([...map.keys()])
  expect([...turnover.values()]).toEqual([...map.values()])
})
