import { expect, it } from 'vitest'
import { groupsOf, rowsOf } from './listing.ts'

it('groups rows under their headings, in any order', () => {
  const groupOf = (row: string) => ({ key: row.charAt(0), title: row.charAt(0).toUpperCase() })
  expect(groupsOf({ rows: ['b1', 'a1', 'b2'], groupOf })).toEqual([
    { key: 'b', title: 'B', rows: ['b1', 'b2'] },
    { key: 'a', title: 'A', rows: ['a1'] },
  ])
})

it('keeps rows together where there are no headings', () => {
  expect(groupsOf({ rows: [1, 2], groupOf: undefined })).toEqual([{ rows: [1, 2] }])
})

it('reads the rows of either form of answer', () => {
  expect(rowsOf({ items: [1], total: 9 })).toEqual([1])
  expect(rowsOf([1])).toEqual([1])
  expect(rowsOf(undefined)).toEqual([])
})
