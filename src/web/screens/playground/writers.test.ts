import { expect, it } from 'vitest'
import { beatMs, OtherWriters } from './writers.ts'

it('knows the answers that other tabs write until they report their end, or send no more heartbeats', () => {
  let now = 1000
  const others = new OtherWriters(() => now)
  others.hear({ tab: 'one', writing: ['a', 'b'] })
  others.hear({ tab: 'two', writing: ['c'] })
  const writing = () => ['a', 'b', 'c'].filter((id) => others.isWriting(id))
  expect(writing()).toEqual(['a', 'b', 'c'])
  others.hear({ tab: 'one', writing: ['b'] })
  expect(writing()).toEqual(['b', 'c'])
  others.hear({ tab: 'two', writing: [] })
  now += 4 * beatMs
  expect(writing()).toEqual(['b'])
  others.hear({ tab: 'one', writing: ['b'] })
  now += 4 * beatMs
  expect(writing()).toEqual(['b'])
  now += beatMs
  expect(writing()).toEqual([])
})
