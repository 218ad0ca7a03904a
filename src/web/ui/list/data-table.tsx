import { Button, Skeleton } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import { useNarrow } from '../../lib/narrow.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { Empty } from '../page/empty.tsx'
import { ErrorView } from '../page/error-view.tsx'
import { texts } from '../texts.ts'
import { ColumnChooser, useHiddenColumns } from './column-chooser.tsx'
import { DataCards } from './data-cards.tsx'
import { DataRows } from './data-rows.tsx'
import styles from './data-table.module.css'
import { type DataTableProps, groupsOf } from './listing.ts'
import { Pager } from './pager.tsx'
import { SortSelect } from './sort-select.tsx'
import { ViewsButton } from './views/views-button.tsx'

/** The list of this interface: a table, or cards where the window is narrow, with every state it can be in. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const {
    label,
    name,
    rows,
    total,
    totalAtLeast,
    isFetching = false,
    error,
    onRetry,
    page,
    onPage,
    sort,
    onSort,
    selected,
    onSelect,
    bulkActions,
    toolbar,
    view,
    empty,
    dense,
    tall,
  } = props
  const say = useText(texts)
  const narrow = useNarrow()
  const size = usePageSize()
  const { hidden, chosen, choose } = useHiddenColumns(name, props.columns)
  const columns = props.columns.filter((column) => !hidden.has(column.key))
  const selecting = selected !== undefined && selected.size > 0
  const Body = narrow ? DataCards : DataRows

  return (
    <div className={styles.frame} data-dense={dense} data-tall={tall}>
      {(toolbar || view || (name && !narrow)) && (
        <div className={styles.toolbar}>
          <div className={styles.tools}>{toolbar}</div>
          {narrow && onSort && <SortSelect className={styles.order} columns={props.columns} sort={sort} onSort={onSort} />}
          {view && <ViewsButton viewed={view} hidden={chosen} onHidden={choose} />}
          {name && !narrow && <ColumnChooser columns={props.columns} hidden={hidden} onChange={choose} />}
        </div>
      )}
      <div className={styles.progress} data-busy={isFetching && rows !== undefined} />
      {rows === undefined && error ? (
        <ErrorView error={error} onRetry={onRetry} />
      ) : rows === undefined ? (
        <Loading columns={columns.length} rows={Math.min(size, 10)} narrow={narrow} />
      ) : rows.length === 0 ? (
        <Empty {...(empty ?? { title: say('empty') })} />
      ) : (
        <Body {...props} label={label} columns={columns} rows={rows} />
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
      {page !== undefined && onPage && rows && (rows.length > 0 || page > 1) && (
        <Pager
          page={page}
          onPage={onPage}
          shown={props.groupOf ? groupsOf({ rows, groupOf: props.groupOf }).length : rows.length}
          total={total}
          atLeast={totalAtLeast}
        />
      )}
    </div>
  )
}

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
