import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { tint } from '../view/tag.tsx'
import styles from './notice.module.css'

const colors = { info: 'sluice', warn: 'yellow', danger: 'red' } as const

interface NoticeProps {
  readonly kind?: keyof typeof colors
  readonly title?: string
  readonly children: ReactNode
  /** At the right, such as a button. */
  readonly action?: ReactNode
}

/** An inline notice of something to know before going on. */
export function Notice({ kind = 'info', title, children, action }: NoticeProps) {
  const Icon = kind === 'info' ? IconInfoCircle : IconAlertTriangle
  return (
    <div className={styles.notice} style={tint(colors[kind])} role="status">
      <Icon size={18} stroke={1.8} className={styles.icon} aria-hidden="true" />
      <div className={styles.words}>
        {title && <strong>{title}</strong>}
        <div>{children}</div>
      </div>
      {action}
    </div>
  )
}
