import { ActionIcon, Tooltip } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { perform, type RowAction } from './row-action.ts'
import styles from './row-actions.module.css'

/** The actions of one row: frequent ones as icons, the rest in a menu, dangerous ones last and red. */
export function RowActions({ name, actions }: { name: string; actions: readonly RowAction[] }) {
  const say = useText(texts)
  const primary = actions.filter((action) => action.primary)
  const safe = actions.filter((action) => !action.primary && !action.danger)
  const dangerous = actions.filter((action) => !action.primary && action.danger)

  return (
    <div className={styles.actions}>
      {primary.map((action) => (
        <Tooltip key={action.label} label={action.label}>
          <ActionIcon
            color={action.danger ? 'red' : 'gray'}
            aria-label={`${action.label}: ${name}`}
            disabled={action.disabled}
            loading={action.busy}
            onClick={() => void perform(action)}
          >
            {action.icon}
          </ActionIcon>
        </Tooltip>
      ))}
      {safe.length + dangerous.length > 0 && <MenuOnDemand label={`${say('more')}: ${name}`} safe={safe} dangerous={dangerous} />}
    </div>
  )
}

const loadMenu = () => import('./row-menu.tsx')
const RowMenu = lazy(async () => ({ default: (await loadMenu()).RowMenu }))

/** A list has many rows and seldom an open menu: until it is pressed, the menu is only its button. */
function MenuOnDemand(menu: { label: string; safe: readonly RowAction[]; dangerous: readonly RowAction[] }) {
  const [wanted, setWanted] = useState(false)
  const button = (
    <ActionIcon
      aria-label={menu.label}
      aria-haspopup="menu"
      onPointerEnter={() => void loadMenu()}
      onClick={() => setWanted(true)}
    >
      <IconDots size={16} />
    </ActionIcon>
  )
  if (!wanted) return button
  return (
    <Suspense fallback={button}>
      <RowMenu {...menu} />
    </Suspense>
  )
}
