import { ActionIcon, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { OpeningMenu } from '../dialog/opening-menu.tsx'
import { perform, type RowAction } from './row-action.ts'
import styles from './row-actions.module.css'

/** The menu of a row, opened as it appears. Its code is loaded when the first one is wanted. */
export function RowMenu({
  label,
  safe,
  dangerous,
}: {
  label: string
  safe: readonly RowAction[]
  dangerous: readonly RowAction[]
}) {
  return (
    <OpeningMenu>
      <Menu.Target>
        <ActionIcon aria-label={label} autoFocus>
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
    </OpeningMenu>
  )
}

function Item(action: RowAction) {
  const { label, icon, danger, disabled } = action
  return (
    <Menu.Item
      leftSection={icon}
      className={danger ? styles.danger : undefined}
      disabled={disabled}
      onClick={() => void perform(action)}
    >
      {label}
    </Menu.Item>
  )
}
