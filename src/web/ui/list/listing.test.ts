import { expect, it } from 'vitest'
import { type Column, cellsOf, groupsOf, pageOf, rowsOf } from './listing.ts'

it('groups rows under their headings, in any order', () => {
  const groupOf = (row: string) => ({ key: row.charAt(0), title: row.charAt(0).toUpperCase() })
  expect(groupsOf({ rows: ['b1', 'a1', 'b2'], groupOf })).toEqual([
    { key: 'b', title: 'B', rows: ['b1', 'b2'] },
    { key: 'a', title: 'A', rows: ['a1'] },
  ])
})

it('lets a long text span the empty cells before it, if the row requests it', () => {
  interface Row {
    readonly name: string
    readonly count?: number
    readonly text: string
  }
  const columns: readonly Column<Row>[] = [
    { key: 'name', title: '', cell: ({ name }) => name },
    { key: 'count', title: '', cell: ({ count }) => count ?? null },
    { key: 'more', title: '', cell: () => null },
    { key: 'text', title: '', spreads: ({ name }) => name !== 'short', cell: ({ text }) => text },
  ]
  const spans = (row: Row) => cellsOf(columns, row).map(({ column, span }) => [column.key, span])
  expect(spans({ name: 'long', text: 'text' })).toEqual([
    ['name', 1],
    ['text', 3],
  ])
  expect(spans({ name: 'long', count: 0, text: 'text' })).toEqual([
    ['name', 1],
    ['count', 1],
    ['text', 2],
  ])
  expect(spans({ name: 'short', text: 'text' }).map(([, span]) => span)).toEqual([1, 1, 1, 1])
})

it('keeps rows together where there are no headings', () => {
  expect(groupsOf({ rows: [1, 2], groupOf: undefined })).toEqual([{ rows: [1, 2] }])
})

it('reads the rows of either form of answer', () => {
  expect(rowsOf({ items: [1], total: 9 })).toEqual([1])
  expect(rowsOf([1])).toEqual([1])
  expect(rowsOf(undefined)).toEqual([])
})

it('cuts a page out of all rows, and shows the last page where rows of a later one have vanished', () => {
  expect(pageOf([1, 2, 3, 4, 5], 2, 2)).toEqual({ rows: [3, 4], total: 5, page: 2 })
  expect(pageOf([1, 2, 3], 9, 2)).toEqual({ rows: [3], total: 3, page: 2 })
  expect(pageOf([], 3, 2)).toEqual({ rows: [], total: 0, page: 1 })
  expect(pageOf(undefined, 3, 2)).toEqual({ rows: undefined, total: 0, page: 1 })
})
