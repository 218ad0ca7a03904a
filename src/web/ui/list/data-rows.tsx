import { VisuallyHidden } from '@mantine/core'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import { Fragment } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { ExpandButton, GroupHead, SelectAll, SelectOne, useKeySet } from './data-row-parts.tsx'
import styles from './data-table.module.css'
import { type BodyProps, type Column, cellsOf, groupsOf, openRows, type Sort } from './listing.ts'

/** The rows of a list as a table. */
export function DataRows<Row>({
  label,
  columns,
  rows,
  rowKey,
  sort,
  onSort,
  selected,
  onSelect,
  expand,
  isOpen,
  rowActions,
  isMuted,
  isLit,
  groupOf,
}: BodyProps<Row>) {
  const say = useText(texts)
  const [toggled, toggleOpen] = useKeySet()
  const [closed, toggleClosed] = useKeySet()
  const extra = (selected ? 1 : 0) + (expand ? 1 : 0) + (rowActions ? 1 : 0)

  return (
    // A table wider than the window scrolls separately, by keyboard too.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            {selected && (
              <th scope="col" className={styles.check}>
                <SelectAll keys={rows.map(rowKey)} selected={selected} onSelect={onSelect} />
              </th>
            )}
            {expand && (
              <th scope="col" className={styles.toggle}>
                <VisuallyHidden>{say('expand')}</VisuallyHidden>
              </th>
            )}
            {columns.map((column) => (
              <HeadCell key={column.key} column={column} sort={sort} onSort={onSort} />
            ))}
            {rowActions && (
              <th scope="col" className={styles.actions}>
                <VisuallyHidden>{say('actions')}</VisuallyHidden>
              </th>
            )}
          </tr>
        </thead>
        {groupsOf({ rows, groupOf }).map((group) => (
          <tbody key={group.key ?? ''}>
            {group.title !== undefined && (
              <tr className={styles.group}>
                {selected && (
                  <td className={styles.check}>
                    <SelectAll keys={group.rows.map(rowKey)} selected={selected} onSelect={onSelect} label={say('selectGroup')} />
                  </td>
                )}
                <th scope="rowgroup" colSpan={columns.length + extra - (selected ? 1 : 0)}>
                  <GroupHead group={group} closed={closed} onToggle={toggleClosed} />
                </th>
              </tr>
            )}
            {openRows(group, closed).map((row) => {
              const key = rowKey(row)
              const isShown = toggled.has(key) !== (isOpen?.(row) ?? false)
              return (
                <Fragment key={key}>
                  <tr
                    className={styles.row}
                    data-muted={isMuted?.(row)}
                    data-lit={isLit?.(row)}
                    data-selected={selected?.has(key)}
                  >
                    {selected && (
                      <td className={styles.check}>
                        <SelectOne rowKey={key} selected={selected} onSelect={onSelect} />
                      </td>
                    )}
                    {expand && (
                      <td className={styles.toggle}>
                        <ExpandButton open={isShown} onToggle={() => toggleOpen(key)} />
                      </td>
                    )}
                    {cellsOf(columns, row).map(({ column, content, span }) => (
                      <td
                        key={column.key}
                        colSpan={span}
                        data-align={column.align}
                        className={column.pinned && styles.pinned}
                        style={{ maxWidth: column.fill ? 0 : (column.maxWidth ?? column.width) }}
                      >
                        {content}
                      </td>
                    ))}
                    {rowActions && <td className={styles.actions}>{rowActions(row)}</td>}
                  </tr>
                  {expand && isShown && (
                    <tr className={styles.details}>
                      <td colSpan={columns.length + extra}>
                        <div className={styles.detailsBody}>{expand(row)}</div>
                      </td>
                    </tr>
                  )}
                </Fragment>
              )
            })}
          </tbody>
        ))}
      </table>
    </section>
  )
}

function HeadCell<Row>({ column, sort, onSort }: { column: Column<Row>; sort?: Sort; onSort?: (sort: Sort) => void }) {
  const say = useText(texts)
  const { sortKey, sortsDown, title, width, fill, align, pinned } = column
  const size = { width: fill ? '100%' : width, minWidth: width }
  if (!sortKey || !onSort) {
    return (
      <th scope="col" style={size} data-align={align} className={pinned && styles.pinned}>
        {title}
      </th>
    )
  }
  const active = sort?.key === sortKey
  const Icon = active ? (sort.descending ? IconArrowDown : IconArrowUp) : IconArrowsSort
  return (
    <th
      scope="col"
      style={size}
      data-align={align}
      className={pinned && styles.pinned}
      aria-sort={active ? (sort.descending ? 'descending' : 'ascending') : 'none'}
    >
      <button
        type="button"
        className={styles.sort}
        data-active={active}
        title={say('sort', { name: title })}
        onClick={() => onSort({ key: sortKey, descending: !active || sortsDown || !sort.descending })}
      >
        {title}
        <Icon size={14} aria-hidden="true" />
      </button>
    </th>
  )
}
