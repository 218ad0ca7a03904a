import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useText } from '../lib/i18n.ts'
import styles from './row-actions.module.css'
import { texts } from './texts.ts'

export interface RowAction {
  readonly label: string
  readonly icon: ReactNode
  readonly onClick: () => void
  /** Stands in the row itself; the others are in the menu. */
  readonly primary?: boolean
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly busy?: boolean
}

/** What can be done with one row: the frequent things as icons, the rest in a menu, dangerous ones last and red. */
export function RowActions({ name, actions }: { name: string; actions: readonly RowAction[] }) {
  const say = useText(texts)
  const primary = actions.filter((action) => action.primary)
  const safe = actions.filter((action) => !action.primary && !action.danger)
  const dangerous = actions.filter((action) => !action.primary && action.danger)

  return (
    <div className={styles.actions}>
      {primary.map(({ label, icon, onClick, danger, disabled, busy }) => (
        <Tooltip key={label} label={label}>
          <ActionIcon
            color={danger ? 'red' : 'gray'}
            aria-label={`${label}: ${name}`}
            disabled={disabled}
            loading={busy}
            onClick={onClick}
          >
            {icon}
          </ActionIcon>
        </Tooltip>
      ))}
      {safe.length + dangerous.length > 0 && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon aria-label={`${say('more')}: ${name}`}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {safe.map((action) => (
              <Item key={action.label} {...action} />
            ))}
            {safe.length > 0 && dangerous.length > 0 && <Menu.Divider />}
            {dangerous.map((action) => (
              <Item key={action.label} {...action} />
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </div>
  )
}

function Item({ label, icon, onClick, danger, disabled }: RowAction) {
  return (
    <Menu.Item leftSection={icon} className={danger ? styles.danger : undefined} disabled={disabled} onClick={onClick}>
      {label}
    </Menu.Item>
  )
}
