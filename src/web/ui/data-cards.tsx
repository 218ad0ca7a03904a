import { useText } from '../lib/i18n.ts'
import { ExpandButton, GroupHead, SelectAll, SelectOne, useKeySet } from './data-row-parts.tsx'
import styles from './data-table.module.css'
import { type BodyProps, type Column, groupsOf, openRows } from './listing.ts'
import { texts } from './texts.ts'

/** The same list where a table has no room: one card a row, headed by the column that names it. */
export function DataCards<Row>({
  label,
  columns,
  rows,
  rowKey,
  selected,
  onSelect,
  expand,
  card,
  rowActions,
  isMuted,
  isLit,
  groupOf,
}: BodyProps<Row>) {
  const say = useText(texts)
  const [open, toggleOpen] = useKeySet()
  const [closed, toggleClosed] = useKeySet()
  const head = columns.find(({ heads }) => heads) ?? columns[0]

  return groupsOf({ rows, groupOf }).map((group) => (
    <section key={group.key ?? ''} aria-label={group.name ?? group.key ?? label}>
      {group.title !== undefined && (
        <div className={styles.cardsGroup}>
          {selected && (
            <SelectAll keys={group.rows.map(rowKey)} selected={selected} onSelect={onSelect} label={say('selectGroup')} />
          )}
          <GroupHead group={group} closed={closed} onToggle={toggleClosed} />
        </div>
      )}
      <ul className={styles.cards}>
        {openRows(group, closed).map((row) => {
          const key = rowKey(row)
          return (
            <li
              key={key}
              className={styles.card}
              data-muted={isMuted?.(row)}
              data-lit={isLit?.(row)}
              data-selected={selected?.has(key)}
            >
              <div className={styles.cardHead}>
                {selected && <SelectOne rowKey={key} selected={selected} onSelect={onSelect} />}
                <div className={styles.cardTitle}>{head?.cell(row)}</div>
                {rowActions?.(row)}
                {expand && <ExpandButton open={open.has(key)} onToggle={() => toggleOpen(key)} />}
              </div>
              {card ? <div className={styles.cardOwn}>{card(row)}</div> : <AllColumns columns={columns} head={head} row={row} />}
              {expand && open.has(key) && <div className={styles.cardDetails}>{expand(row)}</div>}
            </li>
          )
        })}
      </ul>
    </section>
  ))
}

function AllColumns<Row>({ columns, head, row }: { columns: readonly Column<Row>[]; head: Column<Row> | undefined; row: Row }) {
  const shown = columns
    .filter((column) => column !== head)
    .map(({ key, title, cell }) => ({ key, title, content: cell(row) }))
    .filter(({ content }) => content !== null)
  return (
    <dl className={styles.cardBody}>
      {shown.map(({ key, title, content }) => (
        <div key={key}>
          <dt>{title}</dt>
          <dd>{content}</dd>
        </div>
      ))}
    </dl>
  )
}
