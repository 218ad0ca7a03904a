import { expect, it } from 'vitest'
import { Calibration } from './token-estimate.ts'

const feed = (calibration: Calibration, times: number, told: { estimated: number; reported: number }) => {
  for (let round = 0; round < times; round++) calibration.learn('m', told)
}

it('learns the ratio of a model from enough answers, and follows it', () => {
  const calibration = new Calibration()
  feed(calibration, 19, { estimated: 100, reported: 140 })
  expect(calibration.ratioOf('m')).toBeUndefined()
  feed(calibration, 60, { estimated: 100, reported: 140 })
  expect(calibration.ratioOf('m')).toBeCloseTo(1.4, 2)
  feed(calibration, 60, { estimated: 100, reported: 90 })
  expect(calibration.ratioOf('m')).toBeCloseTo(0.9, 2)
  expect(calibration.ratioOf('another')).toBeUndefined()
})

it('limits a sample to between half and three times the estimate, and ignores short prompts', () => {
  const calibration = new Calibration()
  feed(calibration, 200, { estimated: 63, reported: 1000 })
  feed(calibration, 200, { estimated: 100, reported: 0 })
  expect(calibration.ratioOf('m')).toBeUndefined()
  feed(calibration, 200, { estimated: 100, reported: 1_000_000 })
  expect(calibration.ratioOf('m')).toBeCloseTo(3, 5)
  feed(calibration, 200, { estimated: 100, reported: 1 })
  expect(calibration.ratioOf('m')).toBeCloseTo(0.5, 5)
})
