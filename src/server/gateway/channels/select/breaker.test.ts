import { expect, it } from 'vitest'
import { Breaker } from './breaker.ts'

const fail = (breaker: Breaker, times: number, nowMs = 0) => {
  for (let time = 0; time < times; time++) breaker.failed(nowMs)
}

it('opens after five failures in a row, no matter how slowly they occur', () => {
  const breaker = new Breaker()
  for (let time = 0; time < 4; time++) breaker.failed(time * 100_000)
  expect(breaker.stateAt(400_000)).toBe('closed')
  breaker.failed(400_000)
  expect(breaker.stateAt(400_000)).toBe('open')
})

it('opens when half of many requests fail, and not when few do', () => {
  const half = new Breaker()
  const few = new Breaker()
  for (let time = 0; time < 12; time++) {
    half.failed(time)
    if (time % 2 === 0) few.failed(time)
    half.answered(time)
    few.answered(time)
    few.answered(time)
  }
  half.failed(20)
  few.failed(20)
  expect([half.stateAt(20), few.stateAt(20)]).toEqual(['open', 'closed'])
})

it('forgets old failures', () => {
  const breaker = new Breaker()
  for (let time = 0; time < 40; time++) {
    breaker.failed(time * 10_000)
    breaker.answered(time * 10_000)
  }
  expect(breaker.stateAt(400_000)).toBe('closed')
})

it('admits one trial request after a while, and the next one when the trial takes long', () => {
  const breaker = new Breaker()
  fail(breaker, 5)
  expect([breaker.stateAt(4999), breaker.stateAt(5000)]).toEqual(['open', 'half-open'])
  breaker.begin(5000)
  expect([breaker.stateAt(5001), breaker.stateAt(6999), breaker.stateAt(7000)]).toEqual(['open', 'open', 'half-open'])
})

it('closes with the first answer', () => {
  const breaker = new Breaker()
  fail(breaker, 5)
  breaker.begin(5000)
  breaker.answered(5400)
  expect(breaker.stateAt(5400)).toBe('closed')
  fail(breaker, 4, 5400)
  expect(breaker.stateAt(5400)).toBe('closed')
})

it('stays open twice as long each time, but at most two minutes', () => {
  const breaker = new Breaker()
  fail(breaker, 5)
  let nowMs = 0
  const times = [5000, 10_000, 20_000, 40_000, 80_000, 120_000, 120_000]
  for (const openMs of times) {
    expect([breaker.stateAt(nowMs + openMs - 1), breaker.stateAt(nowMs + openMs)]).toEqual(['open', 'half-open'])
    nowMs += openMs
    breaker.begin(nowMs)
    breaker.failed(nowMs)
  }
})

it('ignores failures of requests that were in flight when it opened', () => {
  const breaker = new Breaker()
  fail(breaker, 50)
  expect(breaker.stateAt(5000)).toBe('half-open')
})

it('opens at once when the failure is certain to come again', () => {
  const breaker = new Breaker()
  breaker.failed(0, true)
  expect(breaker.stateAt(0)).toBe('open')
})
