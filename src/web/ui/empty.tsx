import { IconInbox } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './empty.module.css'

export interface EmptyProps {
  readonly title: string
  /** What to do next, in one sentence. */
  readonly hint?: string
  readonly icon?: ReactNode
  readonly action?: ReactNode
}

/** Nothing to show, and the next step. */
export function Empty({ title, hint, icon = <IconInbox />, action }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <div className={styles.icon} aria-hidden="true">
        {icon}
      </div>
      <p className={styles.title}>{title}</p>
      {hint && <p className={styles.hint}>{hint}</p>}
      {action && <div className={styles.action}>{action}</div>}
    </div>
  )
}
