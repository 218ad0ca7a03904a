import { IconInbox } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './empty.module.css'

export interface EmptyProps {
  readonly title: string
  /** The suggested next step, in one sentence. */
  readonly hint?: string
  readonly icon?: ReactNode
  readonly action?: ReactNode
  /** It is the only content of the page, so it is its heading. */
  readonly isPage?: boolean
}

/** Nothing to show, and the next step. */
export function Empty({ title, hint, icon = <IconInbox />, action, isPage = false }: EmptyProps) {
  const Title = isPage ? 'h1' : 'p'
  return (
    <div className={styles.empty}>
      <div className={styles.icon} aria-hidden="true">
        {icon}
      </div>
      <Title className={styles.title}>{title}</Title>
      {hint && <p className={styles.hint}>{hint}</p>}
      {action && <div className={styles.action}>{action}</div>}
    </div>
  )
}
