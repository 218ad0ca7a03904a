import type { ReactNode } from 'react'
import type { ViewedList } from '../../../contract/entities/saved-view.ts'
import type { SearchValue } from '../../lib/search-params.ts'
import type { EmptyProps } from '../page/empty.tsx'
import type { Filter } from './list-filters.tsx'

/** The parts of a list: its columns, its rows and their actions. */

export type RowKey = string | number

export interface Column<Row> {
  readonly key: string
  readonly title: string
  /** Null when this row has nothing to show here; a card then leaves the name out too. */
  readonly cell: (row: Row) => ReactNode
  readonly width?: number | string
  /** As wide as the content up to this width; longer content is truncated. */
  readonly maxWidth?: number
  /** Takes the remaining width, and at least its own; longer content is truncated. */
  readonly fill?: true
  /** Whether a row has so much to show here that the empty cells before it are taken too. */
  readonly spreads?: (row: Row) => boolean
  /** Stays at the right edge while a wide table is scrolled sideways; for the last column. */
  readonly pinned?: true
  readonly align?: 'left' | 'right' | 'center'
  /** Names the row: it is the title of the row's card in a narrow window. Without any, the first column is. */
  readonly heads?: boolean
  /**
   * A narrow window shows a card with these alone: its state beside the name, and two figures below. The other columns are behind a
   * press. Without any, the card has all columns.
   */
  readonly inCard?: 'state' | 'figure'
  /** May be hidden with the column menu; `hidden` begins so. */
  readonly hideable?: boolean
  readonly hidden?: boolean
  /** Makes the column sortable under this name; `sortsDown` only downwards. */
  readonly sortKey?: string
  readonly sortsDown?: true
}

/** Rows whose groups have the same key are under one heading. */
export interface RowGroup {
  readonly key: string
  /** For screen readers, where the key does not say it. */
  readonly name?: string
  readonly title: ReactNode
  /** The actions on all of its rows at once, usually `<RowActions>`. */
  readonly actions?: ReactNode
}

export interface Sort {
  readonly key: string
  readonly descending: boolean
}

/** The state of a list: its filters, its order and its page, as in the address. */
export interface ListState {
  readonly page: number
  readonly onPage: (page: number) => void
  readonly values: Readonly<Record<string, SearchValue>>
  readonly onChange: (patch: Record<string, SearchValue>) => void
  readonly onReset: () => void
  readonly filtered: boolean
  readonly sort: Sort | undefined
  readonly onSort: (sort: Sort) => void
  /** The differences to the list's defaults, except the page; applying them restores that state. */
  readonly search: Readonly<Record<string, string>>
  readonly onSearch: (search: Readonly<Record<string, string>>) => void
}

/** The content of a list's view, and how the list applies it. */
export interface Viewed extends Pick<ListState, 'page' | 'search' | 'onSearch'> {
  readonly list: ViewedList
  readonly filters: readonly Filter[]
}

/** The reply of list routes: a bare array, or a page, which has its total where the route counts rows. */
export type Listing<Row> = readonly Row[] | { readonly items: readonly Row[]; readonly total?: number }

export type RowOf<Reply> = Reply extends readonly (infer Row)[]
  ? Row
  : Reply extends { readonly items: readonly (infer Row)[] }
    ? Row
    : never

/** The rows of a table, and how loading them goes. */
export interface TableRows<Row> {
  /** Those of the page shown; undefined until they are loaded. */
  readonly rows: readonly Row[] | undefined
  /** The number of rows on all pages, where it is known. */
  readonly total?: number
  /** There may be more rows than `total` says. */
  readonly totalAtLeast?: boolean
  readonly isFetching?: boolean
  /** Why the rows could not be loaded. */
  readonly error?: Error | null
  readonly onRetry?: () => void
}

export interface DataTableProps<Row> extends TableRows<Row> {
  /** Names the table for screen readers. */
  readonly label: string
  /** The choice of columns is stored under this name; without it there is no choice. */
  readonly name?: string
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => RowKey
  /** The page shown, counted from 1. Without it everything is on one page. */
  readonly page?: number
  readonly onPage?: (page: number) => void
  readonly sort?: Sort
  readonly onSort?: (sort: Sort) => void
  readonly selected?: ReadonlySet<RowKey>
  readonly onSelect?: (selected: ReadonlySet<RowKey>) => void
  /** Buttons for the selected rows. */
  readonly bulkActions?: ReactNode
  readonly expand?: (row: Row) => ReactNode
  /** Rows whose details are shown until they are closed. */
  readonly isOpen?: (row: Row) => boolean
  /** The text under a card's title, used instead of all columns. */
  readonly card?: (row: Row) => ReactNode
  /** Buttons at the end of a row, usually `<RowActions>`. */
  readonly rowActions?: (row: Row) => ReactNode
  /** Dims the row, such as that of a disabled item. */
  readonly isMuted?: (row: Row) => boolean
  /** Highlights the row for a moment, such as one that was just added. */
  readonly isLit?: (row: Row) => boolean
  /** Puts rows under headings. The pages and the total of the list then count groups. */
  readonly groupOf?: (row: Row) => RowGroup
  readonly empty?: EmptyProps
  /** Narrow cells and low rows, for long lists with many columns. */
  readonly dense?: boolean
  /** Rows of 32 px, which scroll under their head. */
  readonly tall?: boolean
  /** Above the rows, usually `<ListFilters>`. */
  readonly toolbar?: ReactNode
  /** Makes views of the list that can be saved. */
  readonly view?: Viewed
}

export function rowsOf<Row>(listing: Listing<Row> | undefined): readonly Row[] {
  if (!listing) return []
  return 'items' in listing ? listing.items : listing
}

/** One page of rows that are all here, or the last page when the rows of a later one have vanished. */
export function pageOf<Row>(all: readonly Row[] | undefined, page: number, size: number) {
  const total = all?.length ?? 0
  const shown = Math.min(page, Math.max(1, Math.ceil(total / size)))
  return { rows: all?.slice((shown - 1) * size, shown * size), total, page: shown }
}

export type BodyProps<Row> = DataTableProps<Row> & { readonly rows: readonly Row[] }

/** The cells of a row. A cell that spreads also spans the empty cells before it. */
export function cellsOf<Row>(columns: readonly Column<Row>[], row: Row) {
  const cells: { readonly column: Column<Row>; readonly content: ReactNode; readonly span: number }[] = []
  for (const column of columns) {
    let span = 1
    while (column.spreads?.(row) && cells.at(-1)?.content === null) span += cells.pop()?.span ?? 0
    cells.push({ column, content: column.cell(row), span })
  }
  return cells
}

/** The rows under their headings, groups in the order of their first rows; all of them in one without heading when there are no groups. */
export function groupsOf<Row>({
  rows,
  groupOf,
}: Pick<BodyProps<Row>, 'rows' | 'groupOf'>): (Partial<RowGroup> & { rows: readonly Row[] })[] {
  if (!groupOf) return [{ rows }]
  const groups = new Map<string, RowGroup & { rows: Row[] }>()
  for (const row of rows) {
    const group = groupOf(row)
    const known = groups.get(group.key)
    if (known) known.rows.push(row)
    else groups.set(group.key, { ...group, rows: [row] })
  }
  return [...groups.values()]
}

/** The rows of a group, none while it is closed. */
export function openRows<Row>({ key = '', rows }: Partial<RowGroup> & { rows: readonly Row[] }, closed: ReadonlySet<RowKey>) {
  return closed.has(key) ? [] : rows
}
