import { expect, it } from 'vitest'
import { startOfDay } from '../../../lib/times.ts'
import { withMovingTimes, withTimesOfToday } from './moving-times.ts'

it('times of a view that begin a day move along with the date, others stay', () => {
  const filters = [{ kind: 'time', from: 'from', to: 'to', label: '' }] as const
  const search = { from: String(startOfDay(6)), to: '1700000001', model_name: String(startOfDay(2)) }
  const kept = withMovingTimes(search, filters)
  expect(kept).toEqual({ ...search, from: '-6d' })
  expect(withTimesOfToday(kept, filters)).toEqual(search)
  expect(withTimesOfToday({ from: '0', to: '-1000d' }, filters)).toEqual({ from: '0', to: '-1000d' })
})
