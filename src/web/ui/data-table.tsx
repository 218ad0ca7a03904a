import { Button, Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useText } from '../lib/i18n.ts'
import { usePageSize } from '../lib/page-size.ts'
import { ColumnChooser, useHiddenColumns } from './column-chooser.tsx'
import { DataCards } from './data-cards.tsx'
import { DataRows } from './data-rows.tsx'
import styles from './data-table.module.css'
import { Empty, type EmptyProps } from './empty.tsx'
import { ErrorView } from './error-view.tsx'
import { Pager } from './pager.tsx'
import { texts } from './texts.ts'

export type RowKey = string | number

export interface Column<Row> {
  readonly key: string
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  readonly width?: number | string
  readonly align?: 'left' | 'right' | 'center'
  /** May be hidden with the column menu; `hidden` begins so. */
  readonly hideable?: boolean
  readonly hidden?: boolean
  /** Makes the column sortable under this name. */
  readonly sortKey?: string
}

export interface Sort {
  readonly key: string
  readonly descending: boolean
}

/** What list routes answer: a bare array, whose total is unknown, or a page. */
export type Listing<Row> = readonly Row[] | { readonly items: readonly Row[]; readonly total: number }

export interface DataTableProps<Row> {
  /** Names the table for screen readers. */
  readonly label: string
  /** Under this name the choice of columns is kept; without it there is no choice. */
  readonly name?: string
  readonly columns: readonly Column<Row>[]
  readonly list: Pick<UseQueryResult<Listing<Row>>, 'data' | 'error' | 'isPending' | 'isFetching' | 'refetch'>
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
  /** Buttons at the end of a row, usually `<RowActions>`. */
  readonly rowActions?: (row: Row) => ReactNode
  /** Shown weaker, such as a disabled thing. */
  readonly isMuted?: (row: Row) => boolean
  readonly empty?: EmptyProps
  /** Stands above the rows, usually `<ListFilters>`. */
  readonly toolbar?: ReactNode
}

/** The list of this interface: a table, or cards where the window is narrow, with every state it can be in. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, name, list, page, onPage, selected, onSelect, bulkActions, toolbar, empty } = props
  const say = useText(texts)
  const narrow = useMediaQuery('(width <= 600px)', undefined, { getInitialValueInEffect: false })
  const size = usePageSize()
  const [hidden, setHidden] = useHiddenColumns(name, props.columns)
  const columns = props.columns.filter((column) => !hidden.has(column.key))
  const rows = rowsOf(list.data)
  const selecting = selected !== undefined && selected.size > 0
  const Body = narrow ? DataCards : DataRows

  return (
    <div className={styles.frame}>
      {(toolbar || (name && !narrow)) && (
        <div className={styles.toolbar}>
          <div className={styles.tools}>{toolbar}</div>
          {name && !narrow && <ColumnChooser columns={props.columns} hidden={hidden} onChange={setHidden} />}
        </div>
      )}
      {selecting && (
        <section className={styles.bulk} aria-label={say('selected', { count: selected.size })}>
          <strong>{say('selected', { count: selected.size })}</strong>
          {bulkActions}
          <Button size="compact-sm" variant="subtle" color="gray" onClick={() => onSelect?.(new Set())}>
            {say('clearSelection')}
          </Button>
        </section>
      )}
      <div className={styles.progress} data-busy={list.isFetching && !list.isPending} />
      {list.isPending && !list.error ? (
        <Loading columns={columns.length} rows={Math.min(size, 10)} narrow={narrow} />
      ) : !list.data ? (
        <ErrorView error={list.error} onRetry={() => void list.refetch()} />
      ) : rows.length === 0 ? (
        <Empty {...(empty ?? { title: say('empty') })} />
      ) : (
        <Body {...props} label={label} columns={columns} rows={rows} />
      )}
      {page !== undefined && onPage && list.data && (rows.length > 0 || page > 1) && (
        <Pager page={page} onPage={onPage} shown={rows.length} total={'total' in list.data ? list.data.total : undefined} />
      )}
    </div>
  )
}

export function rowsOf<Row>(listing: Listing<Row> | undefined): readonly Row[] {
  if (!listing) return []
  return 'items' in listing ? listing.items : listing
}

export type BodyProps<Row> = DataTableProps<Row> & { readonly rows: readonly Row[] }

function Loading({ columns, rows, narrow }: { columns: number; rows: number; narrow: boolean }) {
  const say = useText(texts)
  return (
    <div className={styles.loading} data-narrow={narrow} role="status" aria-label={say('loading')}>
      {!narrow && <div className={styles.loadingHead} />}
      {numbers(rows).map((row) => (
        <div key={row} className={styles.loadingRow}>
          {numbers(narrow ? 1 : Math.min(columns, 8)).map((cell) => (
            <Skeleton
              key={cell}
              height={narrow ? 72 : 10}
              radius="sm"
              width={narrow ? '100%' : `${45 + ((row * 7 + cell * 13) % 45)}%`}
            />
          ))}
        </div>
      ))}
    </div>
  )
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
