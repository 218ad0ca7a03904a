import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { ViewedList } from '../../../contract/entities/saved-view.ts'
import type { EmptyProps } from '../page/empty.tsx'
import { DataTable } from './data-table.tsx'
import { useFilteredEmpty } from './filtered-empty.tsx'
import { type Filter, ListFilters } from './list-filters.tsx'
import type { DataTableProps, ListState, RowKey, TableRows } from './listing.ts'
import { type Action, perform } from './row-action.ts'

type OfTable<Row> = TableRows<Row> &
  Pick<
    DataTableProps<Row>,
    'label' | 'columns' | 'dense' | 'tall' | 'expand' | 'isOpen' | 'card' | 'isMuted' | 'isLit' | 'groupOf'
  >

/** One list, declared once: its columns, filters, row actions and bulk actions. */
export interface ListTableProps<Row> extends OfTable<Row> {
  /** The choice of columns and the views are stored under this name. */
  readonly name: ViewedList
  /** Of `useListState`. */
  readonly state: ListState
  readonly filters: readonly Filter[]
  /** Beside the filters. */
  readonly tools?: ReactNode
  /** The message of an empty list; a filtered one has its own. */
  readonly empty: EmptyProps
  /** The actions of a row, usually `<RowActions>`; `forget` removes it from the selection. */
  readonly rowActions?: (row: Row, forget: () => void) => ReactNode
  /** The actions on the selected rows, of other pages too; `done` clears the selection. */
  readonly bulkActions?: (rows: readonly Row[], done: () => void) => readonly Action[]
}

export function ListTable<Row extends { readonly id: number }>(props: ListTableProps<Row>) {
  const { name, state, filters, tools, empty, rowActions, bulkActions, ...table } = props
  const { selected, select } = useSelection(props.rows ?? [])
  const nothingMatches = useFilteredEmpty(state.onReset)
  const forget = (id: RowKey) => select(new Set([...selected.keys()].filter((key) => key !== id)))
  const bulk = bulkActions?.([...selected.values()], () => select(new Set()))

  return (
    <DataTable
      {...table}
      name={name}
      rowKey={({ id }) => id}
      page={state.page}
      onPage={state.onPage}
      sort={state.sort}
      onSort={state.onSort}
      {...(bulk && { selected: new Set(selected.keys()), onSelect: select, bulkActions: <BulkActions actions={bulk} /> })}
      rowActions={rowActions && ((row) => rowActions(row, () => forget(row.id)))}
      empty={state.filtered || state.page > 1 ? nothingMatches : empty}
      toolbar={filters.length + (tools ? 1 : 0) > 0 && <ListFilters filters={filters} tools={tools} {...state} />}
      view={{ list: name, filters, ...state }}
    />
  )
}

function BulkActions({ actions }: { actions: readonly Action[] }) {
  return actions.map((action) => (
    <Button
      key={action.label}
      size="compact-sm"
      variant={action.danger ? 'light' : 'default'}
      color={action.danger ? 'red' : undefined}
      disabled={action.disabled}
      onClick={() => void perform(action)}
    >
      {action.label}
    </Button>
  ))
}

/** The selected rows themselves, since those of other pages are worked with too. */
function useSelection<Row extends { readonly id: number }>(rows: readonly Row[]) {
  const [selected, setSelected] = useState<ReadonlyMap<RowKey, Row>>(new Map())

  function select(ids: ReadonlySet<RowKey>): void {
    const known = new Map<RowKey, Row>([...selected, ...rows.map((row) => [row.id, row] as const)])
    setSelected(new Map([...known].filter(([id]) => ids.has(id))))
  }
  return { selected, select }
}
