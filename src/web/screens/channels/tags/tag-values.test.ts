import { expect, it } from 'vitest'
import type { Channel } from '../../../../contract/entities/channel.ts'
import { commonOf, patchOf, tagValues } from './tag-values.ts'

it('changes only filled fields', () => {
  const values = tagValues('blue')
  expect(patchOf('blue', values)).toBeUndefined()
  expect(patchOf('blue', { ...values, weight: 0, models: ['a', 'b'] })).toEqual({ tag: 'blue', weight: 0, models: 'a,b' })
  expect(patchOf('blue', { ...values, new_tag: ' ' })).toEqual({ tag: 'blue', new_tag: '' })
  expect(patchOf('blue', { ...values, model_mapping: ' ', groups: ['vip'] })).toEqual({ tag: 'blue', groups: 'vip' })
})

it('reports common values of all channels', () => {
  // Only shared fields are read.
  const channel = (group: string, priority: number) => ({ group, priority, weight: 0, models: 'a' }) as Channel
  expect(commonOf([channel('x', 1), channel('x', 2)])).toEqual({ models: 'a', group: 'x', priority: undefined, weight: '0' })
})
