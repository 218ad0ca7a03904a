import { ActionIcon, Checkbox } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import styles from './data-table.module.css'
import type { RowGroup, RowKey } from './listing.ts'

export function useKeySet(): [ReadonlySet<RowKey>, (key: RowKey) => void] {
  const [keys, setKeys] = useState<ReadonlySet<RowKey>>(new Set())
  return [keys, (key) => setKeys(toggled(keys, key))]
}

function toggled(keys: ReadonlySet<RowKey>, key: RowKey): ReadonlySet<RowKey> {
  const next = new Set(keys)
  if (!next.delete(key)) next.add(key)
  return next
}

interface Selection {
  readonly selected: ReadonlySet<RowKey>
  readonly onSelect?: (selected: ReadonlySet<RowKey>) => void
}

export function SelectAll({ keys, label, selected, onSelect }: Selection & { keys: readonly RowKey[]; label?: string }) {
  const say = useText(texts)
  const here = keys.filter((key) => selected.has(key)).length
  const all = here === keys.length
  return (
    <Checkbox
      size="xs"
      aria-label={label ?? say('selectAll')}
      checked={all}
      indeterminate={here > 0 && !all}
      onChange={() =>
        onSelect?.(all ? new Set([...selected].filter((key) => !keys.includes(key))) : new Set([...selected, ...keys]))
      }
    />
  )
}

export function SelectOne({ rowKey, selected, onSelect }: Selection & { rowKey: RowKey }) {
  const say = useText(texts)
  return (
    <Checkbox
      size="xs"
      aria-label={say('selectRow')}
      checked={selected.has(rowKey)}
      onChange={() => onSelect?.(toggled(selected, rowKey))}
    />
  )
}

export function ExpandButton({ open, label, onToggle }: { open: boolean; label?: string; onToggle: () => void }) {
  const say = useText(texts)
  return (
    <ActionIcon size="sm" aria-expanded={open} aria-label={label ?? say('expand')} onClick={onToggle}>
      <IconChevronRight size={16} className={styles.chevron} data-open={open} />
    </ActionIcon>
  )
}

interface GroupHeadProps {
  readonly group: Partial<RowGroup>
  readonly closed: ReadonlySet<RowKey>
  readonly onToggle: (key: RowKey) => void
}

/** The heading of a group, which expands and collapses its rows. */
export function GroupHead({ group: { key = '', name = key, title, actions }, closed, onToggle }: GroupHeadProps) {
  const say = useText(texts)
  return (
    <div className={styles.groupHead}>
      <ExpandButton open={!closed.has(key)} label={`${say('toggleGroup')}: ${name}`} onToggle={() => onToggle(key)} />
      <div className={styles.groupTitle}>{title}</div>
      {actions}
    </div>
  )
}
