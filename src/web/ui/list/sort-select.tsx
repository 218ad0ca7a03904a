import { NativeSelect } from '@mantine/core'
import { IconArrowsSort } from '@tabler/icons-react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import type { Column, Sort } from './listing.ts'

interface SortSelectProps<Row> {
  readonly columns: readonly Column<Row>[]
  readonly sort: Sort | undefined
  readonly onSort: (sort: Sort) => void
  readonly className?: string | undefined
}

/** The sort order of a list without column headings, as an icon. */
export function SortSelect<Row>({ columns, sort, onSort, className }: SortSelectProps<Row>) {
  const say = useText(texts)
  const orders = columns.flatMap(({ title, sortKey: key, sortsDown }) =>
    key === undefined
      ? []
      : [{ label: `${title} ↓`, key, descending: true }, ...(sortsDown ? [] : [{ label: `${title} ↑`, key, descending: false }])],
  )
  if (orders.length < 2) return null
  const place = orders.findIndex(({ key, descending }) => key === sort?.key && descending === sort.descending)
  return (
    <NativeSelect
      className={className}
      rightSection={<IconArrowsSort size={16} />}
      rightSectionWidth="100%"
      aria-label={say('sortBy')}
      value={String(place)}
      data={[
        ...(place < 0 ? [{ value: '-1', label: say('sortBy') }] : []),
        ...orders.map(({ label }, index) => ({ value: String(index), label })),
      ]}
      onChange={(event) => {
        const order = orders[Number(event.currentTarget.value)]
        if (order) onSort(order)
      }}
    />
  )
}
