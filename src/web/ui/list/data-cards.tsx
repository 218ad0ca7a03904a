import { useText } from '../../lib/i18n.ts'
import shared from '../shared.module.css'
import { texts } from '../texts.ts'
import { ExpandButton, GroupHead, SelectAll, SelectOne, useKeySet } from './data-row-parts.tsx'
import styles from './data-table.module.css'
import { type BodyProps, type Column, groupsOf, openRows } from './listing.ts'

/** A list as cards, where a table has no room: one card for each row, headed by the column that names it. */
export function DataCards<Row>({
  label,
  columns,
  rows,
  rowKey,
  selected,
  onSelect,
  expand,
  isOpen,
  card,
  rowActions,
  isMuted,
  isLit,
  groupOf,
}: BodyProps<Row>) {
  const say = useText(texts)
  const [toggled, toggleOpen] = useKeySet()
  const [closed, toggleClosed] = useKeySet()
  const head = columns.find(({ heads }) => heads) ?? columns[0]
  const rest = columns.filter((column) => column !== head)
  const first = rest.filter(({ inCard }) => inCard)
  const states = first.filter(({ inCard }) => inCard === 'state')
  const figures = first.filter(({ inCard }) => inCard === 'figure')
  const isShort = first.length > 0 && !card

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
      <ul className={shared.list}>
        {openRows(group, closed).map((row) => {
          const key = rowKey(row)
          const isShown = toggled.has(key) !== (isOpen?.(row) ?? false)
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
                <div className={styles.cardTitle}>
                  <span>{head?.cell(row)}</span>
                  {isShort && states.map(({ key: name, cell }) => <span key={name}>{cell(row)}</span>)}
                </div>
                {rowActions?.(row)}
                {(expand || isShort) && <ExpandButton open={isShown} onToggle={() => toggleOpen(key)} />}
              </div>
              {card ? (
                <div className={styles.cardOwn}>{card(row)}</div>
              ) : (
                <Columns columns={isShort ? figures : rest} row={row} />
              )}
              {isShort && isShown && <Columns columns={rest.filter(({ inCard }) => !inCard)} row={row} />}
              {expand && isShown && <div className={styles.cardDetails}>{expand(row)}</div>}
            </li>
          )
        })}
      </ul>
    </section>
  ))
}

function Columns<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  const shown = columns
    .map(({ key, title, cell }) => ({ key, title, content: cell(row) }))
    .filter(({ content }) => content !== null)
  return (
    <dl className={styles.cardBody}>
      {shown.map(({ key, title, content }) => (
        <div key={key}>
          <dt className={shared.note}>{title}</dt>
          <dd>{content}</dd>
        </div>
      ))}
    </dl>
  )
}
