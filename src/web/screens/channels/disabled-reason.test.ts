import { expect, it } from 'vitest'
import type { Channel } from '../../../contract/entities/channel.ts'
import { readDisabledReason } from './disabled-reason.ts'

// Only the two members that are read.
const channel = (status: number, other_info: string) => ({ status, other_info }) as Channel

it('reads why and when a channel was disabled automatically', () => {
  const info = '{"status_reason":"status 401","status_time":1795180000}'
  expect(readDisabledReason(channel(3, info))).toEqual({ reason: 'status 401', at: 1795180000 })
  expect(readDisabledReason(channel(2, info))).toBeUndefined()
})

it('returns an empty reason for other content', () => {
  for (const info of ['', 'null', '[]', '{', '"text"', '{"status_time":"soon"}'])
    expect(readDisabledReason(channel(3, info)), info).toEqual({ reason: '', at: 0 })
})
