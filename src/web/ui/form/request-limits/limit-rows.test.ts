import { expect, it } from 'vitest'
import { decodeOption } from '../../../../contract/options/codec.ts'
import { rateLimit } from '../../../../contract/options/rate-limit.ts'
import {
  faultsOfCount,
  faultsOfLimit,
  limitsNothing,
  newCount,
  newLimit,
  readCounts,
  readLimits,
  writeCounts,
  writeLimits,
} from './limit-rows.ts'

const { UserRequestLimits, ModelRequestRateLimitGroup } = rateLimit.options
const limit = { seconds: 60, requests: 60, tokens: 0, concurrency: 5 }

it('shows limits of groups as rows and writes them back with the same meaning', () => {
  const day = { ...limit, seconds: 86_400, requests: 1000 }
  const text = JSON.stringify({ '*': [limit, day], vip: [] }, null, 2)
  const rows = readLimits(text) ?? []
  expect(rows).toEqual([
    { group: '*', ...limit },
    { group: '*', ...day },
    { ...newLimit, group: 'vip' },
  ])
  expect(rows.map(limitsNothing)).toEqual([false, false, true])
  expect(JSON.parse(writeLimits(rows))).toEqual({ '*': [limit, day], vip: [{ ...limit, requests: 0, concurrency: 0 }] })
  expect(readLimits('{"vip": {"requests": 5}}')).toEqual([{ ...newLimit, group: 'vip', requests: 5 }])
  expect([readLimits(''), readLimits('{}'), writeLimits([])]).toEqual([[], [], '{}'])
})

it('shows any other form of limits as text', () => {
  for (const text of ['{', '[]', '{"a": 5}', '{"a": [1]}', '{"a": {"request": 5}}', '{"a": {"requests": "5"}}'])
    expect(readLimits(text), text).toBeUndefined()
  for (const text of ['{', '[]', '{"a": 5}', '{"a": [1]}', '{"a": [1, 2, 3]}', '{"a": [1, null]}'])
    expect(readCounts(text), text).toBeUndefined()
})

it('an empty amount is no limit, and a missing value is reported at its field and refused by the schema', () => {
  const refused = (rows: Parameters<typeof writeLimits>[0]) => 'reason' in decodeOption(UserRequestLimits, writeLimits(rows))
  const row = { group: 'vip', ...limit }
  const faults = (given: object, rows = [row]) => faultsOfLimit({ ...row, ...given }, { rows, index: rows.length - 1 })
  expect([faults({ tokens: '' }), refused([{ ...row, tokens: '' }])]).toEqual([{}, false])
  expect([faults({ seconds: '' }), refused([{ ...row, seconds: '' }])]).toEqual([{ seconds: 'seconds' }, true])
  expect([faults({ seconds: 2_678_401 }), refused([{ ...row, seconds: 2_678_401 }])]).toEqual([{ seconds: 'seconds' }, true])
  expect([faults({ requests: 2e9 }), refused([{ ...row, requests: 2e9 }])]).toEqual([{ requests: 'amount' }, true])
  expect([faults({}, Array(5).fill(row)), refused(Array(5).fill(row))]).toEqual([{ group: 'tooMany' }, true])
  expect([faults({}, Array(4).fill(row)), refused(Array(4).fill(row))]).toEqual([{}, false])
})

it('shows counts of groups as rows, and refuses a group that is missing or repeated', () => {
  const text = JSON.stringify({ vip: [0, 1000], default: [5, 5] }, null, 2)
  const rows = readCounts(text) ?? []
  expect(rows).toEqual([
    { group: 'vip', requests: 0, completed: 1000 },
    { group: 'default', requests: 5, completed: 5 },
  ])
  expect(JSON.parse(writeCounts(rows))).toEqual(JSON.parse(text))
  const [vip] = readCounts('{"vip": [0, 1000]}') ?? []
  if (!vip) throw new Error('The row is missing')
  const check = (given: (typeof vip)[]) => {
    const faults = given.map((row, index) => faultsOfCount(row, { rows: given, index }))
    return [faults.at(-1), 'reason' in decodeOption(ModelRequestRateLimitGroup, writeCounts(given))]
  }
  expect(check([vip])).toEqual([{}, false])
  expect(check([newCount])).toEqual([{ group: 'missing' }, true])
  expect(check([vip, vip])).toEqual([{ group: 'repeated' }, true])
  expect(check([{ ...vip, completed: '' }])).toEqual([{ completed: 'fromOne' }, true])
  expect(check([{ ...vip, requests: '' }])).toEqual([{}, false])
})
