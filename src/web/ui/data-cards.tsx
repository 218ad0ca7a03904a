import { ExpandButton, SelectOne, useKeySet } from './data-row-parts.tsx'
import styles from './data-table.module.css'
import type { BodyProps } from './listing.ts'

/** The same list where a table has no room: one card a row, its first column as the title. */
export function DataCards<Row>({
  label,
  columns,
  rows,
  rowKey,
  selected,
  onSelect,
  expand,
  rowActions,
  isMuted,
}: BodyProps<Row>) {
  const [open, toggleOpen] = useKeySet()
  const [first, ...others] = columns
  return (
    <ul className={styles.cards} aria-label={label}>
      {rows.map((row) => {
        const key = rowKey(row)
        return (
          <li key={key} className={styles.card} data-muted={isMuted?.(row)} data-selected={selected?.has(key)}>
            <div className={styles.cardHead}>
              {selected && <SelectOne rowKey={key} selected={selected} onSelect={onSelect} />}
              <div className={styles.cardTitle}>{first?.cell(row)}</div>
              {rowActions?.(row)}
              {expand && <ExpandButton open={open.has(key)} onToggle={() => toggleOpen(key)} />}
            </div>
            <dl className={styles.cardBody}>
              {others.map((column) => (
                <div key={column.key}>
                  <dt>{column.title}</dt>
                  <dd>{column.cell(row)}</dd>
                </div>
              ))}
            </dl>
            {expand && open.has(key) && <div className={styles.cardDetails}>{expand(row)}</div>}
          </li>
        )
      })}
    </ul>
  )
}
